"""Splits the memory budget: a pure function of what the model needs and what the machine has.

The budget bounds the process's whole working set: interpreter and libraries as measured, dense
weights, KV cache, workspace, and expert records (slots or mapped window). GB are 10^9 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import BudgetError
from engine.store.knee import TYPICAL, TokenSpeeds, choose_budget
from engine.store.needs import GB, MemoryNeeds

_CONTEXT_STEP = 64  # a suggested context is a multiple of this


@dataclass(frozen=True)
class MemoryPlan:
    """How the budget is split; the parts and `spare` add up to `budget`.

    budget_reason: why it is so large, where we chose it.
    """

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
    budget_reason: str = ""

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
            ("budget", self.budget, f"({self.budget_reason})" if self.budget_reason else ""),
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
    needs: MemoryNeeds,
    budget: int | None,
    available_bytes: int,
    total_bytes: int,
    limited: bool = False,
    speeds: TokenSpeeds = TYPICAL,
) -> MemoryPlan:
    """Split `budget` bytes, or choose a budget when it is None.

    available_bytes: memory free for us beyond `needs.base_bytes`, which is in use already.
    limited: total_bytes is a limit set on us, outside of which the system lives.
    Raises BudgetError with the smallest budget that works, or the context that would fit.
    """
    size, reason = min(budget or 0, total_bytes), ""
    if budget is None:
        chosen = choose_budget(needs, available_bytes, total_bytes, limited, speeds)
        size, reason = chosen.bytes, chosen.reason
    if size < needs.minimum_bytes:
        raise _refusal(needs, size, total_bytes, budget is not None)
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
        budget_reason=reason,
    )


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
