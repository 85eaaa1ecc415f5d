"""Mapped or direct: the choice, and that its reason carries the facts it was made by."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BudgetError
from engine.events import IoChoice
from engine.store.auto import (
    GUESSED,
    IoFacts,
    RecordSpeeds,
    asked,
    by_speed,
    io_facts,
    obvious,
    served,
)
from engine.store.budget import plan_memory
from engine.store.needs import GB, MemoryNeeds
from tests.helpers.needs import QWEN, any_needs

GIB = 1 << 30
DENSE = replace(QWEN, experts_total=48 * 8)
shares = st.floats(0, 1)


def facts_for(needs: MemoryNeeds, budget: int, free: int, total: int, **more: float) -> IoFacts:
    plan = plan_memory(needs, budget, free, total)
    return io_facts(needs, plan, free, needs.base_bytes, **more)  # type: ignore[arg-type]


def test_what_is_asked_for_is_done() -> None:
    assert asked("auto") is None
    assert asked("direct") == IoChoice("direct", "asked", "Direct: set in the options.")


def test_a_machine_with_free_memory_maps() -> None:
    choice = obvious(QWEN, facts_for(QWEN, 3 * GB, 22 * GB, 24 * GB))
    assert choice is not None and (choice.mode, choice.rule) == ("mapped", "room")
    assert choice.reason == "Mapped: free memory can keep 100% of what the budget misses."


def test_a_budget_that_fills_its_control_group_reads_directly() -> None:
    """Inside a group page cache counts: with 0.9 of the limit for us there is none to speak of."""
    for limit in (4 * GIB, 8 * GIB):
        choice = obvious(QWEN, facts_for(QWEN, int(0.9 * limit), limit - QWEN.base_bytes, limit))
        assert choice is not None and (choice.mode, choice.rule) == ("direct", "short")
        assert choice.reason.endswith(" of the other experts.")


def test_a_small_budget_in_a_large_group_is_measured() -> None:
    facts = facts_for(QWEN, 3 * GB, 6 * GB, 6 * GB)
    assert obvious(QWEN, facts) is None
    part = served(QWEN, facts)
    assert 0.4 < part < 0.9
    quick = by_speed(QWEN, facts, RecordSpeeds(1.3e-3, 1e-3))
    slow = by_speed(QWEN, facts, RecordSpeeds(9e-3, 1e-3))
    assert (quick.mode, quick.rule) == ("mapped", "measured")
    assert slow.mode == "direct" and "and 1.00 ms read unbuffered" in slow.reason
    assert by_speed(QWEN, facts, GUESSED).rule == "guessed"


def test_pages_others_have_read_count_although_our_limit_is_small() -> None:
    short = facts_for(QWEN, 3 * GB, 3 * GB, 4 * GB)
    assert obvious(QWEN, replace(short, cached=0.95)) != obvious(QWEN, short)
    assert obvious(QWEN, replace(short, cached=0.95)).mode == "mapped"  # type: ignore[union-attr]


def test_a_drive_that_can_be_unplugged_is_never_mapped() -> None:
    """A mapped page that cannot be read ends the program; a failed read ends a reply."""
    choice = obvious(QWEN, IoFacts(1.0, 1.0, 1.0, fleeting=True))
    assert choice is not None and (choice.mode, choice.rule) == ("direct", "fleeting")


def test_a_model_that_fits_whole_is_mapped() -> None:
    choice = obvious(QWEN, facts_for(QWEN, QWEN.whole_bytes, 30 * GB, 32 * GB))
    assert choice is not None and (choice.mode, choice.rule) == ("mapped", "whole")


def test_a_dense_model_needs_room_for_all_of_it() -> None:
    """All blocks are used by every token: half of the rest cached is half of the misses."""
    part = served(DENSE, IoFacts(0.2, 0.6))
    assert part == pytest.approx(0.5)


@given(any_needs(), st.integers(1, 200), st.integers(0, 200), st.integers(1, 200))
def test_more_free_memory_never_turns_mapped_into_direct(
    needs: MemoryNeeds, budget: int, free: int, total: int
) -> None:
    try:
        plan = plan_memory(needs, budget * GB, free * GB, total * GB)
    except BudgetError:
        return
    picks = []
    for available in (free * GB, 2 * free * GB):
        facts = io_facts(needs, plan, available, needs.base_bytes)
        assert 0 <= facts.window <= facts.reach <= 1 and 0 <= served(needs, facts) <= 1
        picks.append((obvious(needs, facts) or by_speed(needs, facts, GUESSED)).mode)
    assert picks != ["mapped", "direct"]


@given(shares, shares, st.none() | shares, st.booleans())
def test_every_choice_says_its_mode_first(
    window: float, reach: float, cached: float | None, fleeting: bool
) -> None:
    facts = IoFacts(window, max(window, reach), cached, fleeting)
    choice = obvious(QWEN, facts) or by_speed(QWEN, facts, GUESSED)
    assert choice.reason.startswith(f"{choice.mode.capitalize()}: ")
