"""Plain, picklable records that leave the engine: progress, text, the end of a reply and its
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FinishReason = Literal["stop", "length", "stopped", "context"]
HoldMode = Literal["mapped", "direct"]
ChangeKind = Literal["shrunk", "mapped", "direct"]
IoRule = Literal["asked", "whole", "fleeting", "room", "short", "measured", "guessed"]


@dataclass(frozen=True)
class Progress:
    """`done` of `total` units; `what` names the step for a person ("layer 3: experts")."""

    done: int
    total: int
    what: str


@dataclass(frozen=True)
class IoChoice:
    """How experts are held, and why in a sentence; `rule` names the reason for a program.

    asked: the options say so. whole: everything fits into the budget. fleeting: the drive can be
    unplugged. room, short: free memory beside the budget can, or cannot, hold what is missed.
    """

    mode: HoldMode
    rule: IoRule
    reason: str


@dataclass(frozen=True)
class MemoryChange:
    """What was done while the model was open because memory changed, and why in a sentence.

    before, after: bytes of the budget.
    """

    kind: ChangeKind
    before: int
    after: int
    reason: str


@dataclass(frozen=True)
class TimeSplit:
    """Seconds of one reply's decode by what they were spent on; they add up to the decode time."""

    attention_s: float = 0.0
    expert_compute_s: float = 0.0
    expert_wait_s: float = 0.0
    other_s: float = 0.0


@dataclass(frozen=True)
class ReplyStats:
    """What one reply cost. Every number comes from a counter."""

    prompt_tokens: int = 0
    reused_tokens: int = 0
    generated_tokens: int = 0
    prefill_s: float = 0.0
    first_token_s: float = 0.0
    decode_s: float = 0.0
    expert_hits: int = 0
    expert_misses: int = 0
    expert_bytes_read: int = 0
    kv_bytes: int = 0
    decode_split: TimeSplit = field(default_factory=TimeSplit)

    @property
    def decode_tok_s(self) -> float:
        """Decode speed without the first token, which prefill made; 0 when there was only one."""
        return (self.generated_tokens - 1) / self.decode_s if self.decode_s > 0 else 0.0

    @property
    def prefill_tok_s(self) -> float:
        """Tokens computed in prefill a second (reused ones do not count)."""
        computed = self.prompt_tokens - self.reused_tokens
        return computed / self.prefill_s if self.prefill_s > 0 else 0.0

    @property
    def hit_rate(self) -> float:
        """Share of expert uses found in memory; 1.0 when no expert was used."""
        uses = self.expert_hits + self.expert_misses
        return self.expert_hits / uses if uses else 1.0


@dataclass(frozen=True)
class PrefillProgress:
    """`done` of `total` prompt tokens are computed (reused ones count as done)."""

    done: int
    total: int


@dataclass(frozen=True)
class TextDelta:
    """A piece of the reply; pieces joined are the reply. Never splits a character."""

    text: str


@dataclass(frozen=True)
class Finished:
    """The reply ended; `reason` says why."""

    reason: FinishReason
    stats: ReplyStats


ReplyEvent = PrefillProgress | TextDelta | Finished
