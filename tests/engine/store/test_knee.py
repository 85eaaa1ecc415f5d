"""The budget we choose: enough, not more than is of use, and the system keeps its room."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store.budget import plan_memory
from engine.store.knee import (
    KNEE,
    TYPICAL,
    BudgetChoice,
    TokenSpeeds,
    choose_budget,
    knee_bytes,
    spare_bytes,
    token_s,
)
from engine.store.needs import GB, MemoryNeeds
from tests.helpers.needs import QWEN, any_needs

SMALL = replace(QWEN, experts_total=16 * 64, layers=16, dense_bytes=300_000_000)  # OLMoE's size
STARTER = replace(
    QWEN, experts_total=240, layers=30, dense_bytes=40_000_000, record_bytes=450_560
)  # dense in 8 blocks a layer, all of them used


def chosen(needs: MemoryNeeds, free: float, total: float, limited: bool = False) -> BudgetChoice:
    return choose_budget(needs, round(free * GB), round(total * GB), limited, TYPICAL)


def test_an_8_gb_laptop_with_a_30b_model_gets_what_can_be_spared() -> None:
    assert chosen(QWEN, 5, 8) == BudgetChoice(round(4.3 * GB), "as much as can be spared")
    assert chosen(QWEN, 7, 8).bytes == 6 * GB  # nothing else runs: the system keeps 2 GB


def test_a_64_gb_machine_holds_a_small_model_whole() -> None:
    assert chosen(SMALL, 58, 64) == BudgetChoice(SMALL.whole_bytes, "holds the whole model")
    assert chosen(QWEN, 58, 64).bytes == QWEN.whole_bytes
    assert chosen(STARTER, 6, 8).bytes == STARTER.whole_bytes


def test_a_4_gib_group_is_not_asked_to_leave_room_for_a_system_that_lives_outside() -> None:
    limit = (4 << 30) / GB
    inside, machine = chosen(QWEN, limit - 0.3, limit, limited=True), chosen(QWEN, limit, limit)
    assert 0.85 * limit * GB < inside.bytes < 0.95 * limit * GB
    assert machine.bytes < 0.6 * limit * GB
    plan = plan_memory(QWEN, None, round((limit - 0.3) * GB), 4 << 30, True)
    assert plan.lines[0] == "budget: 3.87 GB (as much as can be spared)"


def test_a_16_gb_laptop_stops_at_the_knee() -> None:
    knee = chosen(QWEN, 14, 16)
    assert knee.reason == "with more it would be less than 3 % faster"
    assert 8 * GB < knee.bytes < 11 * GB


def test_a_slow_drive_moves_the_knee_up_and_a_fast_one_down() -> None:
    most = 13 * GB
    slow, fast = (knee_bytes(QWEN, most, TokenSpeeds(20e9, speed)) for speed in (1e8, 10e9))
    assert slow == most and fast < 0.7 * most


def test_a_dense_model_has_no_knee_but_its_whole_size() -> None:
    dense = replace(STARTER, record_bytes=100 << 20)
    assert chosen(dense, 14, 16).reason == "as much as can be spared"


@given(any_needs(), st.integers(0, 200), st.integers(1, 200), st.booleans())
def test_it_is_never_more_than_can_be_spared_nor_than_the_model(
    needs: MemoryNeeds, free: int, total: int, limited: bool
) -> None:
    found = chosen(needs, free, total, limited)
    assert found.bytes <= spare_bytes(needs.base_bytes, free * GB, total * GB, limited)
    assert found.bytes <= needs.whole_bytes
    assert found.reason


@given(any_needs(), st.floats(0, 1), st.floats(1e8, 1e11), st.floats(1e7, 1e10))
def test_the_knee_costs_at_most_what_it_says(
    needs: MemoryNeeds, part: float, compute: float, drive: float
) -> None:
    speeds = TokenSpeeds(compute, drive)
    most = needs.minimum_bytes + int(part * (needs.whole_bytes - needs.minimum_bytes))
    knee = knee_bytes(needs, most, speeds)
    assert needs.minimum_bytes <= knee <= most
    assert token_s(needs, knee, speeds) <= KNEE * token_s(needs, most, speeds) * (1 + 1e-9)


def test_what_does_not_fit_is_left_to_the_planner_to_refuse() -> None:
    assert chosen(QWEN, 0.5, 8).bytes == pytest.approx(0, abs=1)
