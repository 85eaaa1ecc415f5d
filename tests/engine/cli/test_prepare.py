"""The command edge0-prepare: exit codes, and output people and the app can read."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli.prepare import main
from engine.container.manifest import weights_id
from engine.container.reader import Container
from engine.stop import StopFlag
from engine.store.cache_dir import model_cache
from engine.store.usage import Usage, no_usage, write_usage
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
    assert all(set(line) == {"done", "total", "what", "what_text"} for line in lines[:-1])
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
        "import os, sys; from engine.cli import prepare as cli; text = cli._TextReport.__call__\n"
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


# --- hot experts first ---------------------------------------------------------------------------


def orders(path: Path) -> list[list[int]]:
    records, count = Container.open(path).manifest.records, 8
    return [[r.expert for r in records[i : i + count]] for i in range(0, len(records), count)]


def by_counts(path: Path) -> list[list[int]]:
    counts = Container.open(path).manifest.counts
    return [sorted(range(8), key=lambda expert: -layer[expert]) for layer in counts]


def convert(source: Path, out: Path, *options: str) -> int:
    return main(["--model", str(source), "--out", str(out), *options])


def test_a_conversion_lays_hot_experts_first(source, tmp_path, capsys):
    out = tmp_path / "out"
    assert convert(source, out) == 0
    text = capsys.readouterr().out
    assert "counting which experts" in text and "used most come first" in text
    assert orders(out) == by_counts(out) != [list(range(8))] * 3
    assert sorted(path.name for path in out.iterdir() if path.suffix == ".moex") == [
        "experts-1-00001.moex"
    ]
    Container.open(out).verify(lambda progress: None, StopFlag())
    before = (out / "manifest.json").read_bytes()
    assert convert(source, out) == 0
    assert "counting" not in capsys.readouterr().out
    assert (out / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_mistyped_text_file_is_named_before_any_work(source, tmp_path, capsys, kind):
    text = tmp_path / "text"
    if kind == "folder":
        text.mkdir()
    assert convert(source, tmp_path / "out", "--calibrate", str(text)) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [f"There is no text file {text}.", "Give the path of a text file."]
    assert not (tmp_path / "out").exists()


def test_calibrate_none_leaves_the_order(source, tmp_path):
    assert convert(source, tmp_path / "out", "--calibrate", "none") == 0
    assert orders(tmp_path / "out") == [list(range(8))] * 3
    assert Container.open(tmp_path / "out").manifest.counts is None
    assert convert(source, tmp_path / "out", "--calibrate") == 0
    assert orders(tmp_path / "out") == by_counts(tmp_path / "out")


def test_a_text_of_ones_own(source, tmp_path, capsys):
    (tmp_path / "文.txt").write_text("一二三四五六七八九十" * 20, encoding="utf-8")
    assert convert(source, tmp_path / "own", "--calibrate", str(tmp_path / "文.txt")) == 0
    assert convert(source, tmp_path / "built-in") == 0
    own, built_in = (Container.open(tmp_path / name).manifest for name in ("own", "built-in"))
    assert own.counts != built_in.counts
    assert {sum(layer) for layer in own.counts} == {2 * 600}  # two experts a byte


@pytest.mark.parametrize("text", [None, b"\xff\xfe\x00"])
def test_a_text_that_cannot_be_read_is_told_before_the_work(source, tmp_path, capsys, text):
    if text is not None:
        (tmp_path / "text").write_bytes(text)
    assert convert(source, tmp_path / "out", "--calibrate", str(tmp_path / "text")) == 1
    assert str(tmp_path / "text") in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_model_without_a_tokenizer_is_ready_all_the_same(source, tmp_path, capsys):
    bare = Path(shutil.copytree(source, tmp_path / "bare"))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (bare / name).unlink()
    assert convert(bare, tmp_path / "out") == 0
    text = capsys.readouterr().out
    assert "not laid out by use" in text and "edge0-prepare compact" in text and "is ready" in text
    assert orders(tmp_path / "out") == [list(range(8))] * 3


def test_a_dense_model_has_nothing_to_order(tmp_path, capsys):
    dense = make_tiny_checkpoint("llama", tmp_path / "dense", num_hidden_layers=1)
    assert convert(dense, tmp_path / "out") == 0
    assert "counting" not in capsys.readouterr().out


def test_compact_goes_by_what_was_learned(source, tmp_path, capsys):
    out = tmp_path / "out"
    assert convert(source, out) == 0
    layer = by_counts(out)[1]
    usage = no_usage(3, 8)
    usage.counts[1, layer[-1]] = 5000  # the coldest of the calibration is the hottest in use
    model_id = weights_id(Container.open(out).manifest)
    write_usage(model_cache(None, model_id) / "usage.json", model_id, Usage(usage.counts, 5000))
    capsys.readouterr()
    assert main(["compact", str(out)]) == 0
    assert "laid out anew" in capsys.readouterr().out
    assert orders(out)[1] == [layer[-1], *layer[:-1]]
    assert main(["compact", str(out), "--progress", "json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["finished"] == str(out) and last["bytes"] > 0
    assert main(["compact", str(out), "--calibrate"]) == 0
    assert orders(out)[1] == layer == by_counts(out)[1]


def test_compact_counts_when_nothing_is_known(source, tmp_path, capsys):
    out = tmp_path / "out"
    assert convert(source, out, "--calibrate", "none") == 0
    assert main(["compact", str(out)]) == 0
    assert orders(out) == by_counts(out)


def test_compact_of_what_is_no_model(tmp_path, capsys):
    assert main(["compact", str(tmp_path)]) == 1
    assert "not a converted model" in capsys.readouterr().err
