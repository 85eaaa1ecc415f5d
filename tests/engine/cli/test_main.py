"""The command as a user meets it: exit codes, plain errors, odd locales, closed pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from engine import cli
from engine.cli import main, output
from engine.errors import ContainerError, Stopped
from engine.events import Progress

ROOT = Path(__file__).parents[3]


def edge0(*arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    command = [sys.executable, "-m", "engine.cli", *arguments]
    return subprocess.run(command, capture_output=True, env=env, timeout=60)


def command(monkeypatch: pytest.MonkeyPatch, run: object) -> None:
    """Replace the subcommand `models` by one that does `run`."""
    module = types.ModuleType("models")
    module.add = lambda parser: None  # type: ignore[attr-defined]
    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setattr(cli, "_command", lambda name: module)


def test_an_error_is_its_message_and_next_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise ContainerError("The model is damaged.", "Convert it again.")

    command(monkeypatch, run)
    assert main(["models"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "The model is damaged.\nConvert it again.\n"


@pytest.mark.parametrize("error", [Stopped(), KeyboardInterrupt()])
def test_stopping_is_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    def run(_: object) -> int:
        raise error

    command(monkeypatch, run)
    assert main(["models"]) == 130
    assert capsys.readouterr().err == "Stopped.\n"


def test_our_own_mistakes_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    command(monkeypatch, lambda _: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        main(["models"])


def test_no_models_yet_is_no_error(tmp_path: Path) -> None:
    folder = tmp_path / "测试 用户　é'&#%"
    done = edge0("models", "--models-dir", str(folder))
    assert done.returncode == 0 and done.stdout == b""
    assert str(folder) in done.stderr.decode("utf-8") and b"edge0 starter" in done.stderr


def test_an_unknown_model_names_the_way_out(tmp_path: Path) -> None:
    done = edge0("warm", "qwen", "--models-dir", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.decode("utf-8").splitlines() == [
        "There is no model named qwen.",
        "No model is installed yet: run edge0 starter, or edge0 prepare to convert one.",
    ]


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "cp1252"}])
def test_names_are_utf8_in_any_locale(tmp_path: Path, locale: dict[str, str]) -> None:
    (tmp_path / "模型 é.partial").mkdir()
    done = edge0("models", "--json", "--models-dir", str(tmp_path), **locale)
    assert done.returncode == 0, done.stderr
    (model,) = json.loads(done.stdout.decode("utf-8"))
    assert model["name"] == "模型 é"
    assert model["path"] == str(tmp_path / "模型 é.partial")
    assert "not finished" in model["problem"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently there")
def test_a_reader_who_leaves_causes_no_traceback(tmp_path: Path) -> None:
    for number in range(2000):
        (tmp_path / f"{number} {'x' * 60}.partial").mkdir()
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "engine.cli", "models", "--models-dir", str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full")
@pytest.mark.parametrize(
    "line",
    ["--version", "models", "models --json", "get --help", "starter --progress json", "move there"],
)
def test_an_output_that_cannot_be_written_is_said_in_a_line(line: str, tmp_path: Path) -> None:
    folder = tmp_path / "模型.partial"
    folder.mkdir()
    (tmp_path / "file").touch()
    extra = {
        "models": ["--models-dir", str(tmp_path)],
        "starter": ["--models-dir", str(tmp_path / "file")],
    }
    words = ["move", str(folder), str(tmp_path), "--progress", "json"]
    arguments = words if line == "move there" else [*line.split(), *extra.get(line.split()[0], [])]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("PYTHONUNBUFFERED", None)  # argparse forgives a --help that fails at once
    command = [sys.executable, "-m", "engine.cli", *arguments]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env, timeout=60)
    (said,) = done.stderr.decode("utf-8").splitlines()
    assert said.startswith("The output cannot be written: ") and "somewhere else" in said
    assert done.returncode == 1


def test_help_and_version_need_nothing_heavy() -> None:
    script = (
        "import sys\nfrom engine.cli import main\n"
        "try: main(['--version'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'PySide6', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"edge0 ")
    every = edge0("--help").stdout.decode("utf-8")
    assert all(name in every for name in (*cli.COMMANDS, "prepare"))


def test_prepare_hands_all_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def prepare_main(argv: list[str]) -> int:
        seen.append(argv)
        return 7

    monkeypatch.setattr("engine.cli.prepare.main", prepare_main)
    assert main(["prepare", "--model", "m", "--out", "o", "--help"]) == 7
    assert seen == [["--model", "m", "--out", "o", "--help"]]


def test_without_a_command_the_app_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    app = types.ModuleType("app.__main__")
    app.main = lambda: 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "app.__main__", app)
    assert main([]) == 3


def test_a_missing_app_points_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "app.__main__", None)
    assert main([]) == 1
    assert "edge0 chat" in capsys.readouterr().err


class Terminal:
    """A stream that says it is a terminal, or not."""

    def __init__(self, terminal: bool) -> None:
        self.text = ""
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None: ...


def test_progress_on_a_terminal_is_one_line_now_and_then() -> None:
    stream, now = Terminal(True), [0.0]
    progress = output.TextProgress(stream, lambda: now[0])  # type: ignore[arg-type]
    for now[0], done in ((0.0, 0), (0.1, 1), (0.25, 2), (0.26, 4)):  # the second comes too soon
        progress(Progress(done, 4, "layer"))
    progress.end()
    assert stream.text.split("\r\x1b[K") == ["", "  0 %  layer", " 50 %  layer", "100 %  layer", ""]


def test_progress_in_a_file_is_a_line_now_and_then() -> None:
    stream, now = Terminal(False), [0.0]
    progress = output.TextProgress(stream, lambda: now[0])  # type: ignore[arg-type]
    for now[0], done in ((0.1, 1), (1.9, 2), (2.1, 3), (3.0, 4), (4.2, 6), (4.3, 8)):
        progress(Progress(done, 8, f"record {done}"))
    progress.end()
    assert stream.text == " 37 %  record 3\n 75 %  record 6\n"
