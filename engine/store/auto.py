"""Chooses how experts are held, mapped or direct, and says why. Pure: facts in, choice out.

Mapped pays where memory beside the budget keeps what the budget misses: a miss is then found in the
page cache. Where it cannot, pages that go and come cost more than unbuffered reads. Inside a memory
limit the page cache counts, so what matters is the limit without the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import IoMode
from engine.events import HoldMode, IoChoice, IoRule
from engine.store.budget import MemoryPlan
from engine.store.hits import HITS_LOW, PAGE_CACHE_SHARE, hit_rate
from engine.store.needs import MemoryNeeds
from engine.text import Text

MOST, LITTLE = 0.90, 0.15  # of the misses served by the page cache: no need to measure
TIGHT = 0.10  # of the other experts: pages in use are then taken for those that arrive
RECLAIM = 1.25  # a page cache that is full must give up pages for every record it takes
WARM_BYTES_S = 40e9  # mapping pages that are in the page cache


@dataclass(frozen=True)
class IoFacts:
    """Shares are of all expert bytes.

    window: what the budget holds. reach: what memory can hold, the page cache beside the budget
    included. cached: in the page cache now; None where the system does not tell. fleeting: the
    drive can be unplugged, or is on a network.
    """

    window: float
    reach: float
    cached: float | None = None
    fleeting: bool = False


@dataclass(frozen=True)
class RecordSpeeds:
    """Seconds a record takes that is in no memory, with all lanes at work."""

    mapped_s: float
    direct_s: float
    measured: bool = True


GUESSED = RecordSpeeds(1.3e-3, 1e-3, measured=False)


def io_facts(
    needs: MemoryNeeds,
    plan: MemoryPlan,
    available: int,
    ours: int,
    cached: float | None = None,
    fleeting: bool = False,
) -> IoFacts:
    """available: free now, page cache included. ours: memory we hold that is not counted in it."""
    whole = needs.experts_total * needs.record_bytes
    beside = max(0, available + ours - plan.budget)
    window = plan.expert_bytes / whole
    return IoFacts(window, min(1.0, window + PAGE_CACHE_SHARE * beside / whole), cached, fleeting)


def asked(mode: IoMode) -> IoChoice | None:
    """What the options ask for; None: to be chosen."""
    if mode == "auto":
        return None
    return IoChoice(mode, "asked", Text("{0}: set in the options.", _NAMES[mode]))


def obvious(needs: MemoryNeeds, facts: IoFacts) -> IoChoice | None:
    """The choice where the facts decide it; None where reading must be measured."""
    if facts.fleeting:
        why = Text(
            "this drive can go away, and then a failed read ends a reply instead of the program"
        )
        return _choice("direct", "fleeting", why)
    if facts.window >= 1:
        return _choice("mapped", "whole", Text("the whole model fits into the memory budget"))
    part = served(needs, facts)
    if part >= MOST:
        why = Text("free memory can keep {0} of what the budget misses", f"{part:.0%}")
        return _choice("mapped", "room", why)
    rest = beside(facts)
    if part <= LITTLE or rest <= TIGHT:
        share = f"{rest:.0%}"
        why = Text("memory beside the budget can hold only {0} of the other experts", share)
        return _choice("direct", "short", why)
    return None


def by_speed(needs: MemoryNeeds, facts: IoFacts, speeds: RecordSpeeds) -> IoChoice:
    """The way a record that the budget misses comes faster."""
    part, warm_s = served(needs, facts), needs.record_bytes / WARM_BYTES_S
    mapped_s = part * warm_s + (1 - part) * RECLAIM * speeds.mapped_s
    mode: HoldMode = "mapped" if mapped_s < speeds.direct_s else "direct"
    if not speeds.measured:
        why = Text("free memory can keep about {0} of what the budget misses", f"{part:.0%}")
        return _choice(mode, "guessed", why)
    why = Text(
        "measured here, an expert that is missed takes {0} ms mapped ({1} from free memory) and {2}"
        " ms read unbuffered",
        f"{1e3 * mapped_s:.2f}",
        f"{part:.0%}",
        f"{1e3 * speeds.direct_s:.2f}",
    )
    return _choice(mode, "measured", why)


def beside(facts: IoFacts) -> float:
    """Share of the experts outside the budget that other memory can hold."""
    reach = max(facts.reach, facts.cached or 0.0)
    return (reach - facts.window) / (1 - facts.window) if reach > facts.window else 0.0


def served(needs: MemoryNeeds, facts: IoFacts) -> float:
    """Share of the uses the budget misses that the page cache would serve."""
    reach = max(facts.reach, facts.cached or 0.0)
    held = hit_rate(needs, facts.window, HITS_LOW)
    if held >= 1:
        return 1.0
    return max(0.0, (hit_rate(needs, min(1.0, reach), HITS_LOW) - held) / (1 - held))


_NAMES = {"mapped": Text("Mapped"), "direct": Text("Direct")}


def _choice(mode: HoldMode, rule: IoRule, why: str) -> IoChoice:
    return IoChoice(mode, rule, Text("{0}: {1}.", _NAMES[mode], why))
