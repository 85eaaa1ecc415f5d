"""The budget we choose when the user sets none. Pure.

More cache is not always faster: it must leave the system its room, or everything swaps, and beyond
a knee it holds experts that are hardly ever used. A token's time is estimated as

    what it reads from memory / the kernels' speed + the records it misses / the drive's speed
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.machine.samples import DriveKind
from engine.store.hits import HITS_LOW, hit_rate, slots_share
from engine.store.needs import GB, MemoryNeeds
from engine.text import Text

OS_SHARE = 0.20  # of memory, left to the system and its page cache
OS_MIN = 2 * GB
AVAILABLE_MARGIN = 1 * GB
LIMITED_SHARE, LIMITED_MIN = 0.10, GB // 4  # room inside a limit: the system itself lives outside
KNEE = 1.03  # a budget is enough when a token takes no longer than so much of the best
PLENTY = 2 / 3  # a model that takes less than so much of the free memory is held whole
WORTH_SAVING = 0.9  # a knee this close to the most is taken for the most

DRIVE_BYTES_S: dict[DriveKind, float] = {
    "nvme": 2e9,
    "sata_ssd": 0.5e9,
    "virtual": 1e9,
    "unknown": 1e9,
    "usb": 0.3e9,
    "network": 0.1e9,
    "hdd": 0.1e9,
}


@dataclass(frozen=True)
class TokenSpeeds:
    """Bytes a second: weights the kernels get through, and records the drive gives."""

    compute_bytes_s: float = 20e9
    drive_bytes_s: float = 1e9


TYPICAL = TokenSpeeds()


@dataclass(frozen=True)
class BudgetChoice:
    """A budget and, in a few words, why it is neither more nor less."""

    bytes: int
    reason: str


def choose_budget(
    needs: MemoryNeeds, available: int, total: int, limited: bool, speeds: TokenSpeeds
) -> BudgetChoice:
    """The smallest budget from which on more memory is of no real use, within what can be spared.

    available: free beyond `needs.base_bytes`. limited: `total` is a limit set on us alone. May be
    below what the model needs; whoever plans with it finds out.
    """
    ceiling = spare_bytes(needs.base_bytes, available, total, limited)
    if needs.whole_bytes <= min(ceiling, PLENTY * (available + needs.base_bytes)):
        return BudgetChoice(needs.whole_bytes, Text("holds the whole model"))
    most = min(ceiling, needs.whole_bytes)
    knee = knee_bytes(needs, most, speeds)
    if knee < most:
        gain = round(100 * (KNEE - 1))
        return BudgetChoice(knee, Text("with more it would be less than {0} % faster", gain))
    if most == needs.whole_bytes:
        return BudgetChoice(most, Text("holds the whole model"))
    return BudgetChoice(most, Text("as much as can be spared"))


def spare_bytes(base: int, available: int, total: int, limited: bool) -> int:
    """The most we may have: the system keeps its room, and so does what runs beside us."""
    share, least = (LIMITED_SHARE, LIMITED_MIN) if limited else (OS_SHARE, OS_MIN)
    room = min(max(least, math.ceil(total * share)), total // 2)
    margin = room if limited else AVAILABLE_MARGIN
    return max(0, min(total - room, available + base - margin))


def knee_bytes(needs: MemoryNeeds, most: int, speeds: TokenSpeeds) -> int:
    """The smallest budget whose tokens take hardly longer than with `most`, or that."""
    if most < needs.minimum_bytes:
        return most
    enough = KNEE * token_s(needs, most, speeds)
    low, high = needs.floor_slots, (most - needs.fixed_bytes) // needs.record_bytes
    while low < high:
        middle = (low + high) // 2
        if token_s(needs, _budget_of(needs, middle), speeds) <= enough:
            high = middle
        else:
            low = middle + 1
    found = _budget_of(needs, low)
    return found if found < WORTH_SAVING * most else most


def token_s(needs: MemoryNeeds, budget: int, speeds: TokenSpeeds) -> float:
    """Estimated seconds of a token with this budget; reads and sums one after the other."""
    experts = needs.token_cycle_records * needs.record_bytes
    missed = 1 - hit_rate(needs, slots_share(needs, budget), HITS_LOW)
    compute = needs.dense_bytes + experts + needs.kv_bytes / 2
    return compute / speeds.compute_bytes_s + missed * experts / speeds.drive_bytes_s


def _budget_of(needs: MemoryNeeds, slots: int) -> int:
    return needs.fixed_bytes + slots * needs.record_bytes
