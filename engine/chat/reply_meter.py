"""What one reply costs: times by the clock, the rest as differences of the model's counters."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.events import FinishReason, ReplyStats, TimeSplit
from engine.model.language_model import LanguageModel
from engine.telemetry import Counters

Step = int | FinishReason  # a token, or why there are no more


def is_token(step: Step) -> bool:
    """Whether the model made a token in this step. The one that ends a reply is one too."""
    return isinstance(step, int) or step == "stop"


@dataclass
class ReplyMeter:
    """Filled in while a reply runs. Only time inside the engine counts as prefill or decode: what
    the reader of the events does between two tokens is not our speed."""

    model: LanguageModel
    started: float
    prompt_tokens: int
    reused_tokens: int
    prefill_s: float = 0.0
    first_token_s: float = 0.0
    decode_s: float = 0.0
    generated: int = 0
    before: Counters = field(init=False)
    prefilled: Counters = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.prefilled = self.model.counters()

    def timed_prefill(self, work: Callable[[], Step]) -> Step:
        """Runs the prefill, which ends with the first token."""
        began = time.perf_counter()
        step = work()
        now = time.perf_counter()
        self.prefill_s, self.first_token_s = now - began, now - self.started
        self.prefilled = self.model.counters()
        self.generated = int(is_token(step))
        return step

    def timed_step(self, work: Callable[[], Step]) -> Step:
        """Runs one step of the decode loop. A stopped one made nothing and does not count."""
        began = time.perf_counter()
        step = work()
        if is_token(step):
            self.decode_s += time.perf_counter() - began
            self.generated += 1
        return step

    def stats(self) -> ReplyStats:
        """The numbers so far."""
        after = self.model.counters()
        whole = after.since(self.before)
        return ReplyStats(
            prompt_tokens=self.prompt_tokens,
            reused_tokens=self.reused_tokens,
            generated_tokens=self.generated,
            prefill_s=self.prefill_s,
            first_token_s=self.first_token_s,
            decode_s=self.decode_s,
            expert_hits=whole.expert_hits,
            expert_misses=whole.expert_misses,
            expert_bytes_read=whole.expert_bytes_read,
            kv_bytes=self.model.kv_bytes,
            decode_split=self._split(after.since(self.prefilled)),
        )

    def _split(self, decode: Counters) -> TimeSplit:
        """The decode time by what it was spent on; what the model did not name is `other_s`."""
        named = decode.attention_s + decode.expert_compute_s + decode.expert_wait_s
        return TimeSplit(
            attention_s=decode.attention_s,
            expert_compute_s=decode.expert_compute_s,
            expert_wait_s=decode.expert_wait_s,
            other_s=max(0.0, self.decode_s - named),
        )
