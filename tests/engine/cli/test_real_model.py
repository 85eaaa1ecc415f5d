"""The commands that open a model, on a tiny real one with the real runtime."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main
from tests.helpers.tiny_containers import make_tiny_container

EXPECTED = {
    "model", "open_s", "prompt", "generate", "seed", "prefill_tok_s", "first_token_s",
    "decode_tok_s", "expert_hit_rate", "expert_bytes_read", "decode_bytes_per_token",
    "prefill_expert_bytes", "prefill_ssd_bytes", "decode_ssd_bytes_per_token",
    "ssd_bytes_read", "ssd_bytes_counted", "minor_faults", "major_faults", "kv_bytes",
    "expert_slots", "budget_bytes", "io_mode", "io_reason", "memory_change", "isa", "threads",
    "ms_per_token", "working_set_peak_mb", "committed_peak_mb", "budget_gb",
}  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("测试 用户　é'&#%")
    make_tiny_container(folder / "Tiny MoE")
    return folder


@pytest.mark.parametrize("io_mode", ["mapped", "direct"])
def test_bench_is_one_json_object(
    models: Path, io_mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--prompt", "20", "--generate", "6", "--io", io_mode, "--threads", "1", "--json"]
    assert main(["bench", "tiny", "--models-dir", str(models), *arguments]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    result = json.loads(line)
    assert result.keys() == EXPECTED
    assert (result["model"], result["io_mode"], result["threads"]) == ("Tiny MoE", io_mode, 1)
    assert result["prefill_tok_s"] > 0 and result["decode_tok_s"] > 0
    assert result["first_token_s"] > 0 and result["working_set_peak_mb"] > 10
    split = result["ms_per_token"]
    assert sum(split.values()) == pytest.approx(1000 / result["decode_tok_s"], rel=0.01)
    assert result["expert_slots"] == 24 and 0 < result["expert_bytes_read"] <= 24 * 20480
    tokens, layers, kv_width = 25, 3, 64
    assert result["kv_bytes"] == 2 * 2 * tokens * layers * kv_width


def test_a_budget_too_small_names_one_that_works(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["bench", "tiny", "--models-dir", str(models), "--prompt", "8", "--generate", "2"]
    assert main([*arguments, "--budget", "0.01"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "Set the memory budget to" in captured.err
    working = captured.err.rsplit("budget to ", 1)[1].split(" GB")[0]
    assert main([*arguments, "--budget", working]) == 0


def test_chat_once(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--models-dir", str(models), "--max-tokens", "5", "--temperature", "0"]
    texts = set()
    for _ in range(2):
        assert main(["chat", "tiny", "--once", "你好", *arguments]) == 0
        captured = capsys.readouterr()
        assert "first token" in captured.err and captured.out.endswith("\n")
        texts.add(captured.out)
    assert len(texts) == 1


def test_warm(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm", "Tiny MoE", "--models-dir", str(models)]) == 0
    assert "24 of 24 experts" in capsys.readouterr().out
