"""The live panel's numbers: the machine's are sampled here once a second while shown, the
engine's come as events.

Every value is a counter's or a difference of two; what is not known is None, never 0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine_worker import FirstText, Loaded, SnapshotTaken
from engine import Finished, IoChoice, MemoryChange, PrefillProgress

SAMPLE_MS = 1000
HISTORY = 120
ENGINE_FIELDS = (
    "counters",
    "kv_bytes",
    "io_mode",
    "isa",
    "threads",
    "budget_bytes",
    "expert_slots",
    "plan",
    "io",
    "memory_change",
)


@dataclass(frozen=True)
class Stats:
    """One moment's numbers. Bytes, bytes a second, shares of 1, seconds, tokens a second."""

    working_set: int = 0
    budget: int = 0
    committed: int = 0
    virtual: int = 0
    read_rate: float | None = None
    expert_reads: float | None = None
    major_faults: float | None = None
    minor_faults: float | None = None
    hit_rate: float | None = None
    first_token_s: float | None = None
    prefill_tok_s: float | None = None
    decode_tok_s: float | None = None
    kv_bytes: int | None = None
    io: IoChoice | None = None
    memory_change: MemoryChange | None = None


class StatsModel(QObject):
    """Samples while `watch(True)`; nothing runs otherwise."""

    changed = Signal()

    def __init__(
        self,
        sample: Callable[[], Any],
        rates_between: Callable[[Any, Any], Any],
        events: Any,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._sample = sample
        self._rates_between = rates_between
        self._last: Any = None
        self._engine: dict[str, Any] = {}
        self.now = Stats()
        self.series: dict[str, deque[float]] = {
            name: deque(maxlen=HISTORY)
            for name in ("working_set", "read_rate", "hit_rate", "decode_tok_s")
        }
        self._timer = QTimer(self, interval=SAMPLE_MS)
        self._timer.timeout.connect(self.take)
        events.connect(self._on_event)

    def watch(self, shown: bool) -> None:
        """Sample while the panel is shown."""
        if shown == self._timer.isActive():
            return
        if shown:
            self.take()
            self._timer.start()
        else:
            self._timer.stop()
            self._last = None

    def take(self) -> None:
        """Take one sample."""
        current = replace(self._sample(), **self._engine)
        memory = current.memory
        self.now = replace(
            self.now,
            working_set=memory.working_set,
            committed=memory.committed,
            virtual=memory.virtual,
            budget=current.budget_bytes,
            kv_bytes=current.kv_bytes if self._engine else None,
            io=current.io,
            memory_change=current.memory_change,
        )
        if self._last is not None:
            self._take_rates(self._last, current)
        self._last = current
        self._record()
        self.changed.emit()

    def _take_rates(self, before: Any, after: Any) -> None:
        rates = self._rates_between(before, after)
        used = after.counters.since(before.counters)
        uses = used.expert_hits + used.expert_misses
        known = after.process_io.source != "none"
        self.now = replace(
            self.now,
            read_rate=rates.read_mb_s * 1e6 if known else None,
            expert_reads=rates.expert_reads_s if self._engine else None,
            major_faults=rates.major_faults_s,
            minor_faults=rates.minor_faults_s,
            hit_rate=rates.hit_rate if uses else self.now.hit_rate,
        )

    def _record(self) -> None:
        for name, series in self.series.items():
            value = getattr(self.now, name)
            if value is not None:
                series.append(float(value))

    def _on_event(self, job: int, event: Any) -> None:
        if isinstance(event, SnapshotTaken):
            self._engine = {name: getattr(event.snapshot, name) for name in ENGINE_FIELDS}
            self._take_speeds(event.snapshot)
        elif isinstance(event, FirstText):
            self.now = replace(self.now, first_token_s=event.seconds)
        elif isinstance(event, Finished):
            self._take_reply(event)
        elif isinstance(event, Loaded):
            self._forget_model()
        elif not isinstance(event, PrefillProgress):
            return
        if self._timer.isActive():
            self.changed.emit()

    def _take_speeds(self, snapshot: Any) -> None:
        for name in ("prefill_tok_s", "decode_tok_s"):
            value = getattr(snapshot, name)
            if value > 0:
                self.now = replace(self.now, **{name: value})

    def _take_reply(self, event: Finished) -> None:
        stats = event.stats
        uses = stats.expert_hits + stats.expert_misses
        self.now = replace(
            self.now,
            first_token_s=stats.first_token_s or self.now.first_token_s,
            prefill_tok_s=stats.prefill_tok_s or self.now.prefill_tok_s,
            decode_tok_s=stats.decode_tok_s or self.now.decode_tok_s,
            hit_rate=stats.hit_rate if uses else self.now.hit_rate,
            kv_bytes=stats.kv_bytes,
        )

    def _forget_model(self) -> None:
        self._engine = {}
        self._last = None
        self.now = Stats(self.now.working_set, 0, self.now.committed, self.now.virtual)
        for name in ("hit_rate", "decode_tok_s"):
            self.series[name].clear()
