"""What the benchmarks make of numbers: parsing, medians, bounds and ratios."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.bench import peers, quality
from tests.bench.limits_report import Row, report
from tests.bench.running import BenchError, ratio, say_result, summary

MIB = 1 << 20
Case = dict[str, Any]


def test_llama_bench_gives_a_test_for_each_length() -> None:
    entries = [
        {"n_prompt": 512, "n_gen": 0, "samples_ns": [10**9, 2 * 10**9], "avg_ts": 1.0},
        {"n_prompt": 0, "n_gen": 64, "samples_ns": [32 * 10**8]},
    ]
    tests = peers.parse(json.dumps(entries))
    assert tests["pp512"].tok_s == (512.0, 256.0)
    assert tests["tg64"].tok_s == (20.0,)


@pytest.mark.parametrize("text", ["", "error: no model", "[{}]", '[{"n_prompt": 1, "n_gen": 0}]'])
def test_anything_else_it_prints_is_told(text: str) -> None:
    with pytest.raises(BenchError, match="unknown"):
        peers.parse(text)


def test_a_ratio_is_of_the_medians() -> None:
    ours, other = summary([3.0, 30.0, 2.0]), summary([2.0, 1.0, 1.9])
    assert ours == {"median": 3.0, "min": 2.0, "max": 30.0}
    assert ratio(ours, other) == pytest.approx(3.0 / 1.9, abs=1e-3)
    assert ratio(ours, summary([0.0])) == 0.0


def test_a_summary_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say_result({"a": {"b": summary([1.0]), "c": [1]}})
    text = capsys.readouterr().out
    assert '"b": { "median": 1.0, "min": 1.0, "max": 1.0 }' in text
    assert json.loads(text) == {"a": {"b": summary([1.0]), "c": [1]}}


def ours(decode: float, first: float, token_mib: float = 0.0, prefill_mib: float = 0.0) -> Case:
    return {
        "decode_tok_s": decode,
        "first_token_s": first,
        "decode_missed_mib": token_mib,
        "prefill_missed_mib": prefill_mib,
    }


def cases() -> dict[tuple[str, str, str], Case]:
    limited, resident = Row("8 GiB", "edge0 direct"), Row("resident", "edge0")
    peer = Row("resident", "llama.cpp")
    rows = [resident.measured("warm", ours(20, 5)), resident.measured("warm", ours(20, 5))]
    rows += [limited.measured("warm", ours(8, 7, 100, 1000) | {"io_mode": "direct"})]
    rows += [limited.measured("warm", ours(10, 9, 100, 1000) | {"io_mode": "direct"})]
    rows += [peer.measured("warm", {"decode_tok_s": 18.0, "first_token_s": 16.0})]
    rows += [Row("4 GiB", "edge0 direct").failed("cold", "ended with -9", 1)]
    found = report(rows, drive_bytes_s=1000 * MIB)["cases"]
    return {(case["limit"], case["engine"], case["phase"]): case for case in found}


def test_a_token_is_bound_by_the_slower_of_computing_and_reading() -> None:
    case = cases()["8 GiB", "edge0 direct", "warm"]
    assert case["decode_tok_s"] == {"median": 9.0, "min": 8.0, "max": 10.0}
    assert (case["token_compute_ms"], case["token_read_ms"]) == (50.0, 100.0)
    assert case["token_over_bound"] == pytest.approx(1000 / 9 / 100, abs=1e-3)


def test_the_first_token_is_bound_by_reading_and_computing_together() -> None:
    case = cases()["8 GiB", "edge0 direct", "warm"]
    assert case["first_token_read_s"] == 1.0
    assert case["first_token_over_bound"] == pytest.approx(8 / (1 + 5), abs=1e-3)


def test_cases_are_compared_with_both_engines_fully_resident() -> None:
    case = cases()["8 GiB", "edge0 direct", "warm"]
    assert case["of_resident_llama.cpp"] == {"decode_tok_s": 0.5, "first_token_s": 0.5}
    assert case["of_resident_edge0"] == {"decode_tok_s": 0.45, "first_token_s": 1.6}
    assert case["io_mode"] == "direct"


def test_a_killed_case_stays_in_the_report() -> None:
    case = cases()["4 GiB", "edge0 direct", "cold"]
    assert case["errors"] == ["ended with -9"]
    assert case["oom_kills"]["max"] == 1
    assert "token_over_bound" not in case


def test_equal_logits_cost_nothing_and_a_flat_model_guesses() -> None:
    rng, ids = np.random.default_rng(0), [3, 1, 4, 1, 5]
    truth = rng.standard_normal((5, 8)).astype(np.float32)
    same = quality.report(quality.compared(truth, truth, ids))
    assert (same["kl"], same["same_top"], same["perplexity_over_float"]) == (0.0, 1.0, 1.0)
    flat = quality.compared(np.zeros((5, 8), np.float32), truth, ids)
    assert quality.report(flat)["perplexity"] == pytest.approx(8.0)
    assert flat.kl > 0 and flat.plus(flat).tokens == 8
