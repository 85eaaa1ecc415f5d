"""How fast a model will be on a machine: pure functions of measured speeds and real sizes.

    compute = what a token reads from memory / the kernels' speed, and hand-overs in every layer
              and mapping the experts that only the page cache holds
    waiting = the experts that are in no memory / the drive's speed
    token   = the longer of both, and half of the shorter
    prompt  = 2 x active weights x tokens / the kernels' speed in batches, and the records it needs

The median of measured decode is within 30 % of that (`tests/bench/forecast.py`): the range given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.events import HoldMode
from engine.store.auto import WARM_BYTES_S, IoFacts, RecordSpeeds, by_speed, obvious
from engine.store.hits import HITS_HIGH, HITS_LOW, PAGE_CACHE_SHARE, hit_rate, slots_share
from engine.store.needs import MemoryNeeds

SPREAD = 1.3
LAYER_S = 1e-4  # norms, attention of a short text, routing, hand-overs between threads
MAPPED_HITS = 0.8  # of the usual hits: what is mapped is held and released by whole huge pages
SERIAL = 0.5  # of the shorter of compute and waiting, what the longer one does not hide
SMALL_BYTES = 200e6  # a model that processor caches may hold to a good part
MAPPED_RECORD_S = 2e-5  # hand-over and flushes for a record that only the page cache holds
MAPPED_RECLAIM = 1.3  # a cold record takes so much longer mapped than read unbuffered
PREFILL_EFFICIENCY = (0.40, 0.90)

Bound = Literal["memory", "drive"]


@dataclass(frozen=True)
class MachineSpeed:
    """A measured machine: `kernels.speed`, `store.probe` at record size, memory available now.

    small_weights_gb_s: where processor caches help; 0: not measured.
    """

    weights_gb_s: float
    batch_gops: float
    drive_mb_s: float
    available_bytes: int
    small_weights_gb_s: float = 0.0


@dataclass(frozen=True)
class ModelCost:
    """What a token costs. active_parameters: weights a token is multiplied with."""

    needs: MemoryNeeds
    active_parameters: int


@dataclass(frozen=True)
class Range:
    """From the slow or pessimistic end to the other."""

    low: float
    high: float


@dataclass(frozen=True)
class ExpectedSpeed:
    """decode_tok_s: around expected_tok_s. first_token_s: warm and cold. hit_rate: between models
    whose routing varies much and little. bound: what decode waits for most."""

    expected_tok_s: float
    decode_tok_s: Range
    first_token_s: Range
    hit_rate: Range
    bound: Bound


@dataclass(frozen=True)
class _Token:
    """Seconds of one token."""

    compute: float
    waiting: float

    @property
    def seconds(self) -> float:
        first, second = sorted((self.compute, self.waiting))
        return second + SERIAL * first


def expected_speed(
    machine: MachineSpeed,
    cost: ModelCost,
    budget_bytes: int,
    prompt_tokens: int = 250,
    mode: HoldMode | None = None,
) -> ExpectedSpeed:
    """What to expect with this budget, which must hold the model at all.

    mode: how experts are held; None: as it will be chosen.
    """
    needs = cost.needs
    share = slots_share(needs, budget_bytes)
    reach = min(1.0, share + _cached_share(machine, needs, budget_bytes))
    chosen = mode or _mode(machine, needs, share, reach)
    held, found = (_usual_hits(needs, part) for part in (share, reach))
    if chosen == "direct":
        found = held
    elif share < 1:
        held *= MAPPED_HITS
    token = _token(machine, needs, held, found, prompt_tokens)
    expected = 1 / token.seconds
    return ExpectedSpeed(
        expected_tok_s=expected,
        decode_tok_s=Range(expected / SPREAD, expected * SPREAD),
        first_token_s=_first_token(machine, cost, reach, prompt_tokens),
        hit_rate=Range(hit_rate(needs, share, HITS_LOW), hit_rate(needs, reach, HITS_HIGH)),
        bound="drive" if token.waiting > token.compute else "memory",
    )


def _mode(machine: MachineSpeed, needs: MemoryNeeds, share: float, reach: float) -> HoldMode:
    """The same rules as when a model is opened."""
    facts = IoFacts(share, reach)
    direct_s = needs.record_bytes / (machine.drive_mb_s * 1e6)
    speeds = RecordSpeeds(MAPPED_RECLAIM * direct_s, direct_s)
    return (obvious(needs, facts) or by_speed(needs, facts, speeds)).mode


def _token(
    machine: MachineSpeed, needs: MemoryNeeds, held: float, found: float, context: int
) -> _Token:
    """held: share of the uses that the budget finds; found: those and the page cache's."""
    weights_s = token_bytes(needs, context) * _weights_s(machine, needs)
    record_s = MAPPED_RECORD_S + needs.record_bytes / WARM_BYTES_S
    warm_s = (found - held) * needs.token_cycle_records * record_s
    compute = weights_s + needs.layers * LAYER_S + warm_s
    return _Token(compute, drive_s(machine, needs, 1 - found))


def _weights_s(machine: MachineSpeed, needs: MemoryNeeds) -> float:
    """Seconds a byte of weights takes."""
    whole = needs.dense_bytes + needs.experts_total * needs.record_bytes
    small = whole <= SMALL_BYTES and machine.small_weights_gb_s
    return 1 / (1e9 * (machine.small_weights_gb_s if small else machine.weights_gb_s))


def _usual_hits(needs: MemoryNeeds, share: float) -> float:
    """Between the two models whose routing was recorded; none where all are used in turn: what
    comes next is what was replaced."""
    if needs.token_cycle_records >= needs.experts_total:
        return 1.0 if share >= 1 else 0.0
    return (hit_rate(needs, share, HITS_LOW) + hit_rate(needs, share, HITS_HIGH)) / 2


def token_bytes(needs: MemoryNeeds, context: int) -> int:
    """What one token reads from memory: resident weights, its experts, the KV cache so far."""
    experts = needs.token_cycle_records * needs.record_bytes
    return needs.dense_bytes + experts + needs.kv_bytes_per_token * context


def drive_s(machine: MachineSpeed, needs: MemoryNeeds, missed: float) -> float:
    """Seconds the drive takes for the records one token misses."""
    return missed * needs.token_cycle_records * needs.record_bytes / (machine.drive_mb_s * 1e6)


def records_of_prompt(needs: MemoryNeeds, tokens: int) -> float:
    """Distinct records a prompt uses, were every expert as likely: E·(1 − (1 − k/E)^T) a layer."""
    experts = needs.experts_total / needs.layers
    chance = min(1.0, needs.token_cycle_records / needs.layers / experts)
    return float(needs.experts_total * (1 - (1 - chance) ** tokens))


def _first_token(machine: MachineSpeed, cost: ModelCost, reachable: float, tokens: int) -> Range:
    """The prompt's sums, and reading the records it uses: warm those not held, cold all of them."""
    needs = cost.needs
    compute = 2 * cost.active_parameters * tokens / (machine.batch_gops * 1e9)
    slow, fast = (compute / efficiency for efficiency in PREFILL_EFFICIENCY)
    used_bytes = records_of_prompt(needs, tokens) * needs.record_bytes
    whole = used_bytes / (machine.drive_mb_s * 1e6)
    warm = whole * (1 - reachable)
    return Range(max(fast, warm), slow + whole)


def _cached_share(machine: MachineSpeed, needs: MemoryNeeds, budget_bytes: int) -> float:
    """Share of experts that the system's page cache may hold besides the budget."""
    left = machine.available_bytes + needs.base_bytes - budget_bytes
    return max(0.0, PAGE_CACHE_SHARE * left / needs.record_bytes / needs.experts_total)
