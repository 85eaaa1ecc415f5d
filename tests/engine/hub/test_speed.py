"""The forecast of speed follows from bytes and rates, and bends the right way."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from engine.events import HoldMode
from engine.hub.speed import (
    LAYER_S,
    MachineSpeed,
    ModelCost,
    drive_s,
    expected_speed,
    records_of_prompt,
    token_bytes,
)
from engine.store.hits import HITS_HIGH, HITS_LOW, hit_rate
from engine.store.needs import GB
from tests.helpers import needs

# As the forecast finds it.
QWEN = replace(
    needs.QWEN, base_bytes=350_000_000, dense_bytes=950_000_000, workspace_bytes=60_000_000
)
COST = ModelCost(QWEN, 3_000_000_000)
FAST = MachineSpeed(weights_gb_s=40, batch_gops=600, drive_mb_s=3000, available_bytes=28 * GB)
MODES: tuple[HoldMode, ...] = ("mapped", "direct")
DENSE = replace(QWEN, experts_total=48 * 8, record_bytes=20_000_000)


def test_resident_speed_is_bytes_over_bandwidth_and_what_each_layer_costs() -> None:
    told = expected_speed(FAST, COST, QWEN.whole_bytes)
    token_s = token_bytes(QWEN, 250) / 40e9 + 48 * LAYER_S
    assert told.hit_rate.low == told.hit_rate.high == 1
    assert told.bound == "memory"
    assert told.expected_tok_s == pytest.approx(1 / token_s)
    assert told.decode_tok_s.low == pytest.approx(told.expected_tok_s / 1.3)
    assert told.decode_tok_s.high == pytest.approx(told.expected_tok_s * 1.3)


def test_a_small_model_profits_from_processor_caches() -> None:
    small = replace(
        QWEN, dense_bytes=40_000_000, experts_total=240, top_k=8, layers=30, record_bytes=442_368
    )
    cost = ModelCost(small, 135_000_000)
    slow, fast = FAST, replace(FAST, small_weights_gb_s=80)
    speeds = [expected_speed(m, cost, small.whole_bytes).expected_tok_s for m in (slow, fast)]
    assert speeds[0] * 1.2 < speeds[1] < speeds[0] * 2
    assert expected_speed(fast, COST, QWEN.whole_bytes) == expected_speed(
        slow, COST, QWEN.whole_bytes
    )


def test_a_model_that_uses_all_its_weights_in_turn_reads_them_all_until_they_all_fit() -> None:
    cost = ModelCost(DENSE, 8_000_000_000)
    read_s = drive_s(FAST, DENSE, 1.0)
    for part in (0.5, 0.9):
        budget = DENSE.fixed_bytes + int(part * DENSE.experts_total) * DENSE.record_bytes
        told = expected_speed(FAST, cost, budget, mode="direct")
        assert read_s < 1 / told.expected_tok_s < 1.5 * read_s
    assert expected_speed(FAST, cost, DENSE.whole_bytes).expected_tok_s > 5 / read_s


def test_the_longer_of_compute_and_waiting_hides_half_of_the_other() -> None:
    budget = QWEN.fixed_bytes + QWEN.experts_total // 4 * QWEN.record_bytes
    compute = token_bytes(QWEN, 250) / 40e9 + 48 * LAYER_S
    hits = (hit_rate(QWEN, 0.25, HITS_LOW) + hit_rate(QWEN, 0.25, HITS_HIGH)) / 2
    for drive in (100.0, 10_000.0):
        machine = replace(FAST, drive_mb_s=drive)
        told = expected_speed(machine, COST, budget, mode="direct")
        waiting = drive_s(machine, QWEN, 1 - hits)
        expected = max(compute, waiting) + min(compute, waiting) / 2
        assert 1 / told.expected_tok_s == pytest.approx(expected, rel=1e-3)
        assert told.bound == ("drive" if drive == 100 else "memory")


def test_a_tenth_of_the_model_in_memory_waits_for_the_drive() -> None:
    budget = QWEN.fixed_bytes + QWEN.experts_total // 10 * QWEN.record_bytes
    cold = replace(FAST, available_bytes=budget)
    told = expected_speed(cold, COST, budget)
    assert told.bound == "drive"
    missed = (1 - told.hit_rate.low) * 48 * 8 * QWEN.record_bytes
    assert told.decode_tok_s.low < 3e9 / missed
    slow_drive = expected_speed(replace(cold, drive_mb_s=300), COST, budget)
    assert slow_drive.decode_tok_s.high < told.decode_tok_s.high / 5


def test_a_dense_model_finds_only_what_it_holds() -> None:
    budget = DENSE.fixed_bytes + DENSE.experts_total // 4 * DENSE.record_bytes
    full = replace(FAST, available_bytes=budget - DENSE.base_bytes)
    told = expected_speed(full, ModelCost(DENSE, 10**9), budget)
    assert told.hit_rate.high == told.hit_rate.low == 0.25


def test_free_memory_beside_the_budget_helps_as_page_cache_when_experts_are_mapped() -> None:
    budget = QWEN.minimum_bytes + GB
    low, high = (replace(FAST, available_bytes=size) for size in (budget, 30 * GB))

    def speed(machine: MachineSpeed, mode: HoldMode | None) -> float:
        return expected_speed(machine, COST, budget, mode=mode).expected_tok_s

    assert speed(high, "mapped") > 2 * speed(low, "mapped")
    assert speed(high, "direct") == speed(low, "direct")
    assert speed(high, None) == speed(high, "mapped")
    assert speed(low, None) == speed(low, "direct")


def test_the_first_token_costs_sums_and_a_cold_start_reads_nearly_everything() -> None:
    told = expected_speed(FAST, COST, QWEN.whole_bytes, prompt_tokens=250)
    sums = 2 * 3e9 * 250 / 600e9
    assert told.first_token_s.low == pytest.approx(sums / 0.9)
    assert told.first_token_s.high > QWEN.experts_total * QWEN.record_bytes * 0.99 / 3e9
    assert records_of_prompt(QWEN, 1) == pytest.approx(48 * 8)


@given(
    share=st.floats(0.002, 1),
    available=st.integers(0, 64),
    drive=st.floats(50, 10_000),
    bandwidth=st.floats(2, 400),
    prompt=st.integers(1, 8000),
)
def test_ranges_are_in_order_and_more_memory_never_hurts(
    share: float, available: int, drive: float, bandwidth: float, prompt: int
) -> None:
    machine = MachineSpeed(bandwidth, 10 * bandwidth, drive, available * GB)
    budget = QWEN.fixed_bytes + int(share * QWEN.experts_total) * QWEN.record_bytes
    told = expected_speed(machine, COST, budget, prompt)
    for part in (told.decode_tok_s, told.first_token_s, told.hit_rate):
        assert 0 <= part.low <= part.high
    assert told.hit_rate.high <= 1
    for mode in MODES:
        less, more = (
            expected_speed(machine, COST, size, prompt, mode) for size in (budget, budget + 2 * GB)
        )
        assert more.expected_tok_s >= less.expected_tok_s * (1 - 1e-9)


def test_the_curves_rise_and_hits_never_exceed_what_is_held() -> None:
    for curve in (HITS_LOW, HITS_HIGH):
        assert list(curve) == sorted(curve) and [y for _, y in curve] == sorted(y for _, y in curve)
    assert all(low[1] <= high[1] for low, high in zip(HITS_LOW, HITS_HIGH, strict=True))
    assert hit_rate(QWEN, 0.01, HITS_HIGH) <= 0.01 * 128 / 8
