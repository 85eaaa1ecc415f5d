"""`edge0 bench --repeat` and `--table` on a tiny real model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from engine.cli.bench_table import aligned, offload_gb
from engine.container.reader import Container
from tests.helpers.tiny_containers import make_tiny_container


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("models") / "tiny 测试")


def bench(capsys: pytest.CaptureFixture[str], model: Path, *options: str) -> dict[str, Any]:
    assert main(["bench", str(model), "--prompt", "40", *options, "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_repetitions_are_told_and_the_first_is_only_a_warm_up(
    capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    result = bench(capsys, model, "--generate", "3", "--repeat", "3", "--isa", "scalar")
    first, *later = result["repetitions"]
    assert result["isa"] == "scalar"
    assert [r["seed"] for r in result["repetitions"]] == [0, 1, 2]
    speeds = [r["decode_tok_s"] for r in later]
    assert result["decode_tok_s"] == pytest.approx(sum(speeds) / 2, rel=1e-3)
    assert first["prefill_expert_bytes"] > 0


def test_preloading_leaves_no_miss(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    result = bench(capsys, model, "--generate", "3", "--preload")
    assert (result["expert_hit_rate"], result["expert_bytes_read"]) == (1.0, 0)


def test_the_table_compares_resident_with_both_ways_of_offload(
    capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    rows = bench(capsys, model, "--generate", "4", "--table")["rows"]
    resident = rows[0]
    assert [row["warm"]["io_mode"] for row in rows] == ["mapped", "mapped", "direct"]
    assert resident["warm"]["expert_hit_rate"] == 1.0
    assert resident["cold"]["prefill_expert_bytes"] > 0
    assert {row["warm"]["generate"] for row in rows} == {4}
    assert all(row["warm"]["working_set_peak_mb"] > 0 for row in rows)


def test_a_small_model_leaves_half_of_its_experts_on_the_drive(model: Path) -> None:
    container = Container.open(model)
    experts = sum(file.bytes for file in container.manifest.files)
    assert offload_gb(400_000_000, container) == (400_000_000 - experts / 2) / 1e9
    assert offload_gb(17_000_000_000, container) == 3.2


def test_the_table_for_people(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    assert main(["bench", str(model), "--prompt", "20", "--generate", "2", "--table"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("tiny 测试: 20 tokens in, 2 out")
    assert [line.split("  ")[0] for line in lines[4:7]] == [
        "fully resident",
        "SSD offload, mapped",
        "SSD offload, direct",
    ]
    assert all("→" in line and "tok/s" in line for line in lines[4:7])


def test_a_budget_that_is_too_small_takes_its_row_only(
    capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    rows = bench(capsys, model, "--generate", "2", "--table", "--budget", "0.01")["rows"]
    assert "warm" in rows[0]
    assert "needs at least" in rows[1]["error"]


def test_columns_are_straight_and_a_message_may_run_on() -> None:
    rows = [("", "one", "two"), ("name", "1", "22"), ("longer name", "a long message")]
    assert aligned(rows) == [
        "             one  two",
        "name         1    22",
        "longer name  a long message",
    ]
