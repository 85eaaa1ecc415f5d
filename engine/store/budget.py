"""Splits the memory budget: a pure function of what the model needs and what the machine has.

The budget bounds the process's whole working set: interpreter and libraries as measured, dense
weights, KV cache, workspace, and expert records (slots or mapped window). GB are 10^9 bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.errors import BudgetError

GB = 10**9
MIN_CONTEXT = 16
_CONTEXT_STEP = 64  # a suggested context is a multiple of this
_OS_SHARE = 0.20  # of memory, left to the system and its page cache when we choose the budget
_OS_MIN = 2 * GB
_AVAILABLE_MARGIN = 1 * GB


@dataclass(frozen=True)
class MemoryNeeds:
    """What a model needs. Bytes, except counts.

    base_bytes: working set of interpreter, torch and Qt, measured before anything is loaded.
    record_bytes: the largest expert record. experts_total: records of all layers together.
    """

    base_bytes: int
    dense_bytes: int
    kv_bytes_per_token: int
    context_tokens: int
    workspace_bytes: int
    record_bytes: int
    experts_total: int
    top_k: int
    layers: int

    @property
    def token_cycle_records(self) -> int:
        """Records one token uses: with fewer slots, plain LRU would find none of them again."""
        return min(self.layers * self.top_k, self.experts_total)

    @property
    def floor_slots(self) -> int:
        """Slots without which nothing runs: a layer's experts in use, the next one's arriving."""
        return min(2 * self.top_k, self.experts_total)

    @property
    def kv_bytes(self) -> int:
        """KV cache of the whole context."""
        return self.kv_bytes_per_token * self.context_tokens

    @property
    def fixed_bytes(self) -> int:
        """Everything but expert records."""
        return self.base_bytes + self.dense_bytes + self.kv_bytes + self.workspace_bytes

    @property
    def minimum_bytes(self) -> int:
        """The smallest budget that runs."""
        return self.fixed_bytes + self.floor_slots * self.record_bytes

    @property
    def whole_bytes(self) -> int:
        """The budget that holds the whole model; more is of no use."""
        return self.fixed_bytes + self.experts_total * self.record_bytes


@dataclass(frozen=True)
class MemoryPlan:
    """How the budget is split; the parts and `spare` add up to `budget`."""

    budget: int
    base: int
    dense: int
    kv: int
    workspace: int
    expert_slots: int
    expert_bytes: int
    spare: int
    experts_total: int
    token_cycle_records: int
    warnings: tuple[str, ...] = ()

    @property
    def whole_model(self) -> bool:
        """Whether every expert has a slot."""
        return self.expert_slots >= self.experts_total

    @property
    def below_token_cycle(self) -> bool:
        """Whether the slots cannot hold one token's experts: nearly every use reads the SSD."""
        return self.expert_slots < self.token_cycle_records

    @property
    def lines(self) -> tuple[str, ...]:
        """The split for a person, one part a line."""
        share = f"({self.expert_slots} of {self.experts_total})"
        parts = (
            ("budget", self.budget, ""),
            ("program and libraries", self.base, ""),
            ("dense weights", self.dense, ""),
            ("KV cache", self.kv, ""),
            ("workspace", self.workspace, ""),
            ("experts in memory", self.expert_bytes, share),
            ("spare", self.spare, ""),
        )
        return tuple(f"{name}: {size / GB:.2f} GB {note}".rstrip() for name, size, note in parts)


def budget_bytes(gigabytes: float) -> int:
    """A budget given in GB as bytes."""
    return round(gigabytes * GB)


def plan_memory(
    needs: MemoryNeeds, budget: int | None, available_bytes: int, total_bytes: int
) -> MemoryPlan:
    """Split `budget` bytes, or choose a budget when it is None.

    available_bytes: memory free for us beyond `needs.base_bytes`, which is in use already.
    Raises BudgetError with the smallest budget that works, or the context that would fit.
    """
    given = budget is not None
    limit = total_bytes if given else _automatic(needs, available_bytes, total_bytes)
    size = min(budget, limit) if budget is not None else limit
    if size < needs.minimum_bytes:
        raise _refusal(needs, size, total_bytes, given)
    free = size - needs.fixed_bytes
    slots = min(needs.experts_total, free // needs.record_bytes)
    held = slots * needs.record_bytes
    return MemoryPlan(
        budget=size,
        base=needs.base_bytes,
        dense=needs.dense_bytes,
        kv=needs.kv_bytes,
        workspace=needs.workspace_bytes,
        expert_slots=slots,
        expert_bytes=held,
        spare=free - held,
        experts_total=needs.experts_total,
        token_cycle_records=needs.token_cycle_records,
        warnings=_warnings(needs, slots, size, budget, available_bytes, total_bytes),
    )


def _automatic(needs: MemoryNeeds, available: int, total: int) -> int:
    """Leave the system room; never more than the whole model needs."""
    for_system = min(max(_OS_MIN, math.ceil(total * _OS_SHARE)), total // 2)
    reachable = available + needs.base_bytes - _AVAILABLE_MARGIN
    return max(0, min(total - for_system, reachable, needs.whole_bytes))


def minimum_gb(size: int) -> float:
    """`size` in GB rounded up to 0.1, so that `budget_bytes` of it is never below `size`."""
    tenths = -(-size * 10 // GB)
    return tenths / 10


def fitting_context(needs: MemoryNeeds, size: int) -> int:
    """The longest context, in steps of 64, that runs in `size` bytes; 0 when none does."""
    left = size - (needs.minimum_bytes - needs.kv_bytes)
    if left < 0 or not needs.kv_bytes_per_token:
        return 0
    tokens = left // needs.kv_bytes_per_token // _CONTEXT_STEP * _CONTEXT_STEP
    return min(tokens, needs.context_tokens)


def _refusal(needs: MemoryNeeds, size: int, total: int, given: bool) -> BudgetError:
    minimum = minimum_gb(needs.minimum_bytes)
    has = "the budget is" if given else "on this machine it can have"
    message = f"This model needs at least {minimum:.1f} GB, {has} {size / GB:.2f} GB."
    context = fitting_context(needs, size)
    steps = []
    if context >= _CONTEXT_STEP:
        steps.append(f"shorten the context from {needs.context_tokens} to {context} tokens")
    if budget_bytes(minimum) <= total:
        steps.append(f"set the memory budget to {minimum:.1f} GB")
        if not given:
            steps.append("close other programs")
    if not steps:
        steps.append("choose a smaller model: this machine has too little memory for this one")
    step = ", or ".join(steps)
    return BudgetError(message, f"{step[0].upper()}{step[1:]}.", minimum)


def _warnings(
    needs: MemoryNeeds, slots: int, size: int, asked: int | None, available: int, total: int
) -> tuple[str, ...]:
    found = []
    if slots < needs.token_cycle_records:
        cycle = minimum_gb(needs.fixed_bytes + needs.token_cycle_records * needs.record_bytes)
        found.append(
            f"One token uses {needs.token_cycle_records} experts and only {slots} fit: nearly all"
            f" are read from the SSD every time. From {cycle:.1f} GB on it gets faster."
        )
    if asked is not None and asked > total:
        found.append(f"The budget was cut to the {total / GB:.1f} GB this machine has.")
    elif asked is not None and size > available + needs.base_bytes:
        free = (available + needs.base_bytes) / GB
        found.append(
            f"Only {free:.1f} GB are free now: with a budget of {size / GB:.1f} GB the system may"
            " start to swap."
        )
    return tuple(found)
