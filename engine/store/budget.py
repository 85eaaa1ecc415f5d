"""Splits the memory budget: a pure function of what the model needs and what the machine has.

The budget bounds the process's whole working set: interpreter and libraries as measured, dense
weights, KV cache, workspace, and expert records (slots or mapped window). GB are 10^9 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import BudgetError
from engine.store.knee import TYPICAL, TokenSpeeds, choose_budget
from engine.store.needs import GB, MemoryNeeds
from engine.text import Text

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
        share = Text(" ({0} of {1})", self.expert_slots, self.experts_total)
        why = Text(" ({0})", self.budget_reason) if self.budget_reason else ""
        parts = (
            (Text("budget"), self.budget, why),
            (Text("program and libraries"), self.base, ""),
            (Text("dense weights"), self.dense, ""),
            (Text("KV cache"), self.kv, ""),
            (Text("workspace"), self.workspace, ""),
            (Text("experts in memory"), self.expert_bytes, share),
            (Text("spare"), self.spare, ""),
        )
        return tuple(Text("{0}: {1} GB{2}", n, f"{size / GB:.2f}", note) for n, size, note in parts)


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
    has = Text("the budget is") if given else Text("on this machine it can have")
    sizes = (f"{minimum:.1f}", has, f"{size / GB:.2f}")
    message = Text("This model needs at least {0} GB, {1} {2} GB.", *sizes)
    context = fitting_context(needs, size)
    steps = []
    if context >= _CONTEXT_STEP:
        shorter = Text("Shorten the context from {0} to {1} tokens.", needs.context_tokens, context)
        steps.append(shorter)
    if budget_bytes(minimum) <= total:
        steps.append(Text("Set the memory budget to {0} GB.", f"{minimum:.1f}"))
        if not given:
            steps.append(Text("Close other programs."))
    if not steps:
        steps.append(
            Text("Choose a smaller model: this machine has too little memory for this one.")
        )
    return BudgetError(message, _either(steps), minimum)


def _either(steps: list[Text]) -> Text:
    """One of these will do."""
    together = steps[0]
    for step in steps[1:]:
        together = Text("{0} Or: {1}", together, step)
    return together


def _warnings(
    needs: MemoryNeeds, slots: int, size: int, asked: int | None, available: int, total: int
) -> tuple[str, ...]:
    found = []
    if slots < needs.token_cycle_records:
        cycle = minimum_gb(needs.fixed_bytes + needs.token_cycle_records * needs.record_bytes)
        found.append(
            Text(
                "One token uses {0} experts and only {1} fit: nearly all are read from the SSD"
                " every time. From {2} GB on it gets faster.",
                needs.token_cycle_records,
                slots,
                f"{cycle:.1f}",
            )
        )
    if asked is not None and asked > total:
        has = f"{total / GB:.1f}"
        found.append(Text("The budget was cut to the {0} GB this machine has.", has))
    elif asked is not None and size > available + needs.base_bytes:
        free = (available + needs.base_bytes) / GB
        found.append(
            Text(
                "Only {0} GB are free now: with a budget of {1} GB the system may start to swap.",
                f"{free:.1f}",
                f"{size / GB:.1f}",
            )
        )
    return tuple(found)
