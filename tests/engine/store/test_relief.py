"""Giving slots back: when memory is short and only then, in steps, never below what runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.machine.pressure import Pressure
from engine.store.needs import GB, MemoryNeeds
from engine.store.relief import Held, free_bytes, reserve_bytes, slots_to_keep
from tests.helpers.needs import QWEN, any_needs

RECORD = QWEN.record_bytes
TOTAL = 16 * GB
FULL = Held(slots=800, resident=800, counted=False)
MAPPED = Held(slots=800, resident=800, counted=True)


def keeps(held: Held, now: Pressure, before: int | None = None) -> int:
    return slots_to_keep(QWEN, held, now, before or now.total)


def test_with_enough_left_nothing_goes() -> None:
    assert keeps(FULL, Pressure(2 * GB, TOTAL)) == 800
    assert keeps(FULL, Pressure(2 * GB, TOTAL, stall=0.5, low=True)) == 800


def test_below_the_reserve_as_much_goes_as_brings_twice_the_reserve_back() -> None:
    reserve = reserve_bytes(TOTAL)
    assert reserve == GB // 2
    kept = keeps(FULL, Pressure(reserve - 1, TOTAL))
    assert (800 - kept) * RECORD >= reserve > (800 - kept - 2) * RECORD


def test_a_small_lack_costs_a_sixteenth() -> None:
    assert keeps(FULL, Pressure(reserve_bytes(GB) - 1, GB)) == 800 - 50


def test_what_is_mapped_is_page_cache_and_not_free() -> None:
    """The system counts our own window as available; taking it from us helps nobody."""
    now = Pressure(800 * RECORD + 100_000_000, TOTAL)
    assert keeps(FULL, now) == 800
    assert keeps(MAPPED, now) < 800


def test_a_system_that_complains_is_believed_earlier() -> None:
    almost = int(1.5 * reserve_bytes(TOTAL))
    assert keeps(FULL, Pressure(almost, TOTAL)) == 800
    assert keeps(FULL, Pressure(almost, TOTAL, stall=0.2)) < 800
    assert keeps(FULL, Pressure(almost, TOTAL, low=True)) < 800


def test_slots_that_are_not_filled_yet_go_first_but_not_all_at_once() -> None:
    """A squeeze while the model is still cold halves what it may hold, once a look."""
    cold = Held(slots=800, resident=10, counted=False)
    assert keeps(cold, Pressure(0, TOTAL)) == 400


def test_a_limit_lowered_while_running_is_kept_at_once() -> None:
    lowered = 3 * GB
    kept = keeps(FULL, Pressure(2 * GB, lowered), before=4 * GB)
    assert QWEN.fixed_bytes + kept * RECORD <= lowered - reserve_bytes(lowered)
    assert QWEN.fixed_bytes + (kept + 1) * RECORD > lowered - reserve_bytes(lowered)


held = st.builds(Held, st.integers(1, 5000), st.integers(0, 5000), st.booleans())
sizes = st.integers(0, 100 * GB)


@given(any_needs(), held, st.builds(Pressure, sizes, sizes, st.floats(0, 1), st.booleans()), sizes)
def test_never_more_slots_than_before_and_never_below_what_runs(
    needs: MemoryNeeds, held: Held, now: Pressure, before: int
) -> None:
    kept = slots_to_keep(needs, held, now, before)
    assert min(held.slots, needs.floor_slots) <= kept <= held.slots


@given(any_needs(), st.integers(0, 10 * GB), st.integers(1, 100 * GB))
def test_shrinking_ends_with_the_reserve_free_or_at_the_floor(
    needs: MemoryNeeds, available: int, total: int
) -> None:
    now, slots = Pressure(available, total), needs.experts_total
    for _ in range(200):
        kept = slots_to_keep(needs, Held(slots, slots, False), now, total)
        if kept == slots:
            break
        now = Pressure(now.available + (slots - kept) * needs.record_bytes, total)
        slots = kept
    enough = free_bytes(needs, Held(slots, slots, False), now) >= reserve_bytes(total)
    assert enough or slots <= needs.floor_slots
