"""The memory plan: parts never exceed the budget, refusals name a budget or context that works."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BudgetError
from engine.store.budget import (
    MemoryPlan,
    budget_bytes,
    fitting_context,
    minimum_gb,
    plan_memory,
)
from engine.store.knee import spare_bytes
from engine.store.needs import GB, MemoryNeeds
from tests.helpers.needs import QWEN, any_needs

sizes = st.integers(0, 200 * GB)


def planned(
    need: MemoryNeeds, budget: int | None, free: int, total: int, limited: bool = False
) -> MemoryPlan | None:
    try:
        return plan_memory(need, budget, free, total, limited)
    except BudgetError:
        return None


@given(any_needs(), st.none() | sizes, sizes, sizes, st.booleans())
def test_the_parts_add_up_and_never_pass_any_limit(
    need: MemoryNeeds, budget: int | None, free: int, total: int, limited: bool
) -> None:
    plan = planned(need, budget, free, total, limited)
    if plan is None:
        return
    parts = plan.base + plan.dense + plan.kv + plan.workspace + plan.expert_bytes
    assert parts + plan.spare == plan.budget
    assert plan.spare >= 0
    assert plan.expert_bytes == plan.expert_slots * need.record_bytes
    assert need.floor_slots <= plan.expert_slots <= need.experts_total
    assert plan.budget <= total
    assert bool(plan.budget_reason) == (budget is None)
    assert plan.below_token_cycle == any("One token uses" in text for text in plan.warnings)
    if budget is not None:
        assert plan.budget <= budget
    else:
        assert plan.budget <= spare_bytes(need.base_bytes, free, total, limited)
        assert plan.budget <= need.whole_bytes


@given(any_needs(), sizes, sizes)
def test_more_budget_never_gives_fewer_experts(need: MemoryNeeds, one: int, two: int) -> None:
    small, large = sorted((one, two))
    total = 200 * GB
    less, more = planned(need, small, total, total), planned(need, large, total, total)
    if less is not None:
        assert more is not None
        assert more.expert_slots >= less.expert_slots
        assert more.spare >= less.spare or more.expert_slots > less.expert_slots


@given(any_needs(), sizes)
def test_the_named_minimum_works_and_is_not_lavish(need: MemoryNeeds, budget: int) -> None:
    total = 500 * GB
    try:
        plan_memory(need, budget, total, total)
    except BudgetError as error:
        named = budget_bytes(error.minimum_gb)
        assert plan_memory(need, named, total, total).expert_slots >= need.floor_slots
        assert planned(need, named - GB // 10 - 1, total, total) is None


@given(st.integers(0, 1 << 53))
def test_rounding_to_a_tenth_never_loses_a_byte(size: int) -> None:
    assert budget_bytes(minimum_gb(size)) >= size


@given(any_needs(), sizes)
def test_the_suggested_context_works(need: MemoryNeeds, budget: int) -> None:
    total = 500 * GB
    context = fitting_context(need, budget)
    if context:
        assert planned(replace(need, context_tokens=context), budget, total, total) is not None


def test_three_gb_for_a_30b_model() -> None:
    plan = plan_memory(QWEN, 3 * GB, 12 * GB, 16 * GB)
    assert plan.expert_slots == 469
    assert not plan.below_token_cycle and not plan.whole_model
    assert plan.warnings == ()
    assert plan.lines == (
        "budget: 3.00 GB",
        "program and libraries: 0.30 GB",
        "dense weights: 0.90 GB",
        "KV cache: 0.40 GB",
        "workspace: 0.15 GB",
        "experts in memory: 1.24 GB (469 of 6144)",
        "spare: 0.00 GB",
    )


def test_below_one_token_cycle_is_a_warning_with_the_way_out() -> None:
    plan = plan_memory(QWEN, budget_bytes(2.2), 12 * GB, 16 * GB)
    assert plan.below_token_cycle
    (warning,) = plan.warnings
    assert "384 experts" in warning and "2.8 GB" in warning
    assert not plan_memory(QWEN, budget_bytes(2.8), 12 * GB, 16 * GB).below_token_cycle


def test_too_small_a_budget_names_the_smallest() -> None:
    with pytest.raises(BudgetError) as refusal:
        plan_memory(QWEN, GB, 12 * GB, 16 * GB)
    assert refusal.value.minimum_gb == 1.8
    assert "1.8 GB" in refusal.value.message
    assert refusal.value.next_step == "Set the memory budget to 1.8 GB."


def test_too_long_a_context_names_the_longest_that_fits() -> None:
    with pytest.raises(BudgetError) as refusal:
        plan_memory(replace(QWEN, context_tokens=131_072), 3 * GB, 12 * GB, 16 * GB)
    assert "from 131072 to 16320 tokens" in refusal.value.next_step
    assert "Set the memory budget to 14.3 GB" in refusal.value.next_step


def test_too_little_free_memory_says_so() -> None:
    with pytest.raises(BudgetError) as refusal:
        plan_memory(QWEN, None, GB, 16 * GB)
    assert "can have 0.30 GB" in refusal.value.message
    assert "Close other programs" in refusal.value.next_step


def test_a_machine_too_small_is_told_plainly() -> None:
    with pytest.raises(BudgetError, match="too little memory"):
        plan_memory(QWEN, None, GB, budget_bytes(1.5))


def test_a_budget_beyond_the_machine_or_the_free_memory_warns() -> None:
    plan = plan_memory(QWEN, 64 * GB, 12 * GB, 16 * GB)
    assert plan.budget == 16 * GB and "cut to the 16.0 GB" in plan.warnings[0]
    plan = plan_memory(QWEN, 8 * GB, 4 * GB, 16 * GB)
    assert plan.budget == 8 * GB and "Only 4.3 GB are free" in plan.warnings[0]


def test_a_dense_model_of_eight_blocks_a_layer() -> None:
    starter = replace(
        QWEN,
        experts_total=240,
        layers=30,
        dense_bytes=40_000_000,
        record_bytes=450_560,
        kv_bytes_per_token=23_040,
    )
    assert starter.token_cycle_records == 240
    plan = plan_memory(starter, GB, 12 * GB, 16 * GB)
    assert plan.whole_model and plan.expert_slots == 240 and plan.spare > 0
