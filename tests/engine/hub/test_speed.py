"""The forecast of speed follows from bytes and rates, and bends the right way."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from engine.hub.speed import (
    MachineSpeed,
    ModelCost,
    expected_speed,
    records_of_prompt,
    token_bytes,
)
from engine.store.hits import HITS_HIGH, HITS_LOW, hit_rate
from engine.store.needs import GB, MemoryNeeds

# Qwen3-30B-A3B in nf4, as the forecast finds it.
QWEN = MemoryNeeds(
    base_bytes=350_000_000,
    dense_bytes=950_000_000,
    kv_bytes_per_token=98_304,
    context_tokens=4096,
    workspace_bytes=60_000_000,
    record_bytes=2_654_208,
    experts_total=48 * 128,
    top_k=8,
    layers=48,
)
COST = ModelCost(QWEN, 3_000_000_000)
FAST = MachineSpeed(weights_gb_s=40, batch_gops=600, drive_mb_s=3000, available_bytes=28 * GB)
DENSE = replace(QWEN, experts_total=48 * 8, record_bytes=20_000_000)


def test_resident_speed_is_bytes_over_bandwidth() -> None:
    told = expected_speed(FAST, COST, QWEN.whole_bytes)
    ideal = 40e9 / token_bytes(QWEN, 250)
    assert told.hit_rate.low == told.hit_rate.high == 1
    assert told.bound == "memory"
    assert told.decode_tok_s.low < ideal
    assert told.decode_tok_s.high == pytest.approx(ideal * 0.95)
    assert 11 < told.decode_tok_s.low < 20.2 < told.decode_tok_s.high * 1.1  # peers: 19–20


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


def test_free_memory_beside_the_budget_helps_as_page_cache() -> None:
    budget = QWEN.minimum_bytes + GB
    low, high = (replace(FAST, available_bytes=size) for size in (budget, 30 * GB))
    assert (
        expected_speed(high, COST, budget).decode_tok_s.high
        > 2 * expected_speed(low, COST, budget).decode_tok_s.high
    )
    assert (
        expected_speed(high, COST, budget).decode_tok_s.low
        == expected_speed(low, COST, budget).decode_tok_s.low
    )


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
    more = expected_speed(machine, COST, budget + 2 * GB, prompt)
    assert more.decode_tok_s.low >= told.decode_tok_s.low


def test_the_curves_rise_and_hits_never_exceed_what_is_held() -> None:
    for curve in (HITS_LOW, HITS_HIGH):
        assert list(curve) == sorted(curve) and [y for _, y in curve] == sorted(y for _, y in curve)
    assert all(low[1] <= high[1] for low, high in zip(HITS_LOW, HITS_HIGH, strict=True))
    assert hit_rate(QWEN, 0.01, HITS_HIGH) <= 0.01 * 128 / 8
