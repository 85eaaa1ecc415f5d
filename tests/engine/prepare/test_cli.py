"""The command edge0-prepare: exit codes, and output people and the app can read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.container.reader import Container
from engine.prepare.cli import main
from tests.helpers.tiny_models import make_tiny_checkpoint

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return make_tiny_checkpoint("qwen3_moe", tmp_path_factory.mktemp("source") / "model")


def test_success_in_text(source, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["--model", str(source), "--out", str(out), "--quant", "int8"]) == 0
    text = capsys.readouterr().out
    assert "100 %" in text and "24 experts" in text and "F32 → int8" in text
    assert Container.open(out).manifest.quant == "int8"
    assert main(["--model", str(source), "--out", str(out), "--quant", "int8"]) == 0
    assert "was ready already" in capsys.readouterr().out


def test_progress_in_json(source, tmp_path, capsys):
    arguments = ["--model", str(source), "--out", str(tmp_path / "out"), "--progress", "json"]
    assert main([*arguments, "--expert-block", "16k"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(set(line) == {"done", "total", "what"} for line in lines[:-1])
    assert lines[-1]["finished"] == str(tmp_path / "out")
    assert Container.open(tmp_path / "out").manifest.record_align == 16384


def test_an_error_says_what_to_do(tmp_path, capsys):
    missing = str(tmp_path / "missing")
    assert main(["--model", missing, "--out", str(tmp_path / "out")]) == 1
    message, next_step = capsys.readouterr().err.splitlines()
    assert missing in message and next_step
    assert main(["--model", missing, "--out", str(tmp_path / "out"), "--progress", "json"]) == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert missing in last["error"] and last["next_step"] and not last["stopped"]


@pytest.mark.parametrize(
    "wrong", [[], ["--model", "m"], ["--model", "m", "--out", "o", "--quant", "q9"]]
)
def test_wrong_use_exits_with_2(wrong, capsys):
    with pytest.raises(SystemExit) as caught:
        main(wrong)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child alone")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_control_c_stops_and_the_same_command_goes_on(source, tmp_path, number, capsys):
    out = tmp_path / "out"
    arguments = ["--model", str(source), "--out", str(out)]
    # The child stops itself in the middle of its own progress report: no waiting, no luck.
    program = (
        "import os, sys; from engine.prepare import cli; text = cli._TextReport.__call__\n"
        "def report(self, p):\n"
        "    text(self, p)\n"
        f"    if 'layer 2' in p.what: os.kill(os.getpid(), {int(number)})\n"
        "cli._TextReport.__call__ = report\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    assert result.returncode == 130 and not out.exists()
    assert "same command" in result.stderr
    assert main(arguments) == 0
    first_share = int(capsys.readouterr().out.splitlines()[1].split("%")[0])
    assert first_share >= 40


def test_signal_handlers_are_put_back(source, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    assert main(["--model", str(source), "--out", str(tmp_path / "out")]) == 0
    assert signal.getsignal(signal.SIGINT) is before
