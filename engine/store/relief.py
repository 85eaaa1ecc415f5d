"""How many expert slots an open model may keep when memory gets short. Pure.

Slots go for good, a sixteenth to a half at a time: what is given back cannot be had again before
the model is opened anew, and one short squeeze must not cost everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.machine.pressure import Pressure
from engine.store.needs import GB, MemoryNeeds

RESERVE_SHARE, RESERVE_MIN, RESERVE_MAX = 1 / 32, GB // 16, GB // 2
STALL = 0.10  # tasks wait for memory a tenth of the time
STEPS = 16


@dataclass(frozen=True)
class Held:
    """slots: records there is room for; resident: records there are.

    counted: they are mapped, and the system counts them as available.
    """

    slots: int
    resident: int
    counted: bool


def reserve_bytes(total: int) -> int:
    """What must stay free for everybody else."""
    return int(min(max(total * RESERVE_SHARE, RESERVE_MIN), RESERVE_MAX))


def slots_to_keep(needs: MemoryNeeds, held: Held, now: Pressure, total_before: int) -> int:
    """Slots from now on: `held.slots` while there is enough, never below what runs at all.

    total_before: the machine's memory, or the limit on us, when the slots were planned.
    """
    keep = held.slots
    if now.total < total_before:
        fits = now.total - reserve_bytes(now.total) - needs.fixed_bytes
        keep = min(keep, fits // needs.record_bytes)
    if is_short(needs, held, now):
        step = -(-held.slots // STEPS)
        missing = 2 * reserve_bytes(now.total) - free_bytes(needs, held, now)
        too_many = max(0, -(-missing // needs.record_bytes))
        wanted = min(held.slots - step, held.resident - too_many)
        keep = min(keep, max(wanted, held.slots // 2))
    return min(held.slots, max(keep, needs.floor_slots))


def is_short(needs: MemoryNeeds, held: Held, now: Pressure) -> bool:
    """Whether the reserve is touched; a system that says memory is low is believed earlier."""
    reserve, free = reserve_bytes(now.total), free_bytes(needs, held, now)
    complains = now.low or now.stall >= STALL
    return free < (2 * reserve if complains else reserve)


def free_bytes(needs: MemoryNeeds, held: Held, now: Pressure) -> int:
    """What is available without what our own replies use all the time."""
    return now.available - (held.resident * needs.record_bytes if held.counted else 0)
