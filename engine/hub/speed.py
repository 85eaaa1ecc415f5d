"""How fast a model will be on a machine: pure functions of measured speeds and real sizes.

    token  = what each token must read from memory ÷ the kernels' speed      (compute)
           + the expert records it does not find there ÷ the drive's speed   (waiting)
    prompt = 2 × active weights × tokens ÷ the kernels' speed in batches, and the records it needs

Compute and waiting overlap between nothing and fully, hit rates differ between texts: so each
answer is a range. Its fast end overlaps fully and finds what this model's routing finds at best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.store.hits import HITS_HIGH, HITS_LOW, PAGE_CACHE_SHARE, hit_rate, slots_share
from engine.store.needs import MemoryNeeds

# A whole token against the kernel alone: norms, attention, routing, hand-overs between threads.
DECODE_EFFICIENCY = (0.60, 0.95)
PREFILL_EFFICIENCY = (0.40, 0.90)

Bound = Literal["memory", "drive"]


@dataclass(frozen=True)
class MachineSpeed:
    """A measured machine: `kernels.speed`, `store.probe` at record size, memory available now."""

    weights_gb_s: float
    batch_gops: float
    drive_mb_s: float
    available_bytes: int


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
    """first_token_s: warm and cold. bound: what decode waits for at its slow end."""

    decode_tok_s: Range
    first_token_s: Range
    hit_rate: Range
    bound: Bound


def expected_speed(
    machine: MachineSpeed, cost: ModelCost, budget_bytes: int, prompt_tokens: int = 250
) -> ExpectedSpeed:
    """What to expect with this budget. The budget must hold the model at all."""
    needs = cost.needs
    share = slots_share(needs, budget_bytes)
    reachable = min(1.0, share + _cached_share(machine, needs, budget_bytes))
    hits = Range(hit_rate(needs, share, HITS_LOW), hit_rate(needs, reachable, HITS_HIGH))
    token = token_bytes(needs, prompt_tokens) / (machine.weights_gb_s * 1e9)
    slow, fast = (token / efficiency for efficiency in DECODE_EFFICIENCY)
    slow_wait = drive_s(machine, needs, 1 - hits.low)
    fast_wait = drive_s(machine, needs, 1 - hits.high)
    return ExpectedSpeed(
        decode_tok_s=Range(1 / (slow + slow_wait), 1 / max(fast, fast_wait)),
        first_token_s=_first_token(machine, cost, share, reachable, prompt_tokens),
        hit_rate=hits,
        bound="drive" if slow_wait > slow else "memory",
    )


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


def _first_token(
    machine: MachineSpeed, cost: ModelCost, share: float, reachable: float, tokens: int
) -> Range:
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
