"""The engine's numbers: counters, snapshots, rates between two snapshots, peaks of memory.

Nothing leaves the machine and nothing here runs by itself: whoever wants a number asks for it. Only
`PeakMemory` has a thread, while a bench has it started. Every number comes from a counter.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, fields
from types import TracebackType

from engine.events import IoChoice, MemoryChange
from engine.machine import memory as machine_memory
from engine.machine.disk import process_io_now, system_disk_now
from engine.machine.samples import DiskCounters, MemorySample, ProcessIO


@dataclass(frozen=True)
class Counters:
    """Running totals of a model since it was opened. Times are seconds of decode and prefill."""

    expert_hits: int = 0
    expert_misses: int = 0
    expert_bytes_read: int = 0
    attention_s: float = 0.0
    expert_compute_s: float = 0.0
    expert_wait_s: float = 0.0
    other_s: float = 0.0

    def since(self, before: Counters) -> Counters:
        """What was added after `before`."""
        names = [f.name for f in fields(Counters)]
        return Counters(**{name: getattr(self, name) - getattr(before, name) for name in names})

    @property
    def hit_rate(self) -> float:
        """Share of expert uses found in memory; 1.0 when no expert was used."""
        uses = self.expert_hits + self.expert_misses
        return self.expert_hits / uses if uses else 1.0


@dataclass(frozen=True)
class Snapshot:
    """Everything the live panel and the bench show, at one moment.

    The machine's part (time, memory, process_io, disk) is read when one is made; the rest is
    what the runtime knows about itself. disk: all drives together, whoever used them. plan: the
    memory plan in lines for a person. io: how experts are held. memory_change: the last thing
    done because memory changed. Speeds are of the last reply, 0 before the first.
    """

    time_s: float = field(default_factory=time.monotonic)
    memory: MemorySample = field(default_factory=machine_memory.memory_now)
    process_io: ProcessIO = field(default_factory=process_io_now)
    disk: DiskCounters | None = field(default_factory=system_disk_now)
    counters: Counters = field(default_factory=Counters)
    kv_bytes: int = 0
    io_mode: str = ""
    isa: str = ""
    threads: int = 0
    budget_bytes: int = 0
    expert_slots: int = 0
    plan: tuple[str, ...] = ()
    io: IoChoice | None = None
    memory_change: MemoryChange | None = None
    first_token_s: float = 0.0
    prefill_tok_s: float = 0.0
    decode_tok_s: float = 0.0


@dataclass(frozen=True)
class Rates:
    """What happened a second between two snapshots. None: the system keeps no such count."""

    seconds: float
    read_mb_s: float
    write_mb_s: float
    disk_read_mb_s: float | None
    disk_reads_s: float | None
    expert_read_mb_s: float
    expert_reads_s: float
    hit_rate: float
    minor_faults_s: float
    major_faults_s: float

    @classmethod
    def between(cls, before: Snapshot, after: Snapshot) -> Rates:
        """Rates from `before` to `after`; all zero when no time passed between them."""
        seconds = after.time_s - before.time_s
        per = 1 / seconds if seconds > 0 else 0.0
        used = after.counters.since(before.counters)
        io, io_before = after.process_io, before.process_io
        disk = _disk_since(before.disk, after.disk)
        return cls(
            seconds=seconds,
            read_mb_s=_up(io.read_bytes, io_before.read_bytes) * per / 1e6,
            write_mb_s=_up(io.write_bytes, io_before.write_bytes) * per / 1e6,
            disk_read_mb_s=disk.read_bytes * per / 1e6 if disk else None,
            disk_reads_s=disk.reads * per if disk else None,
            expert_read_mb_s=used.expert_bytes_read * per / 1e6,
            expert_reads_s=used.expert_misses * per,
            hit_rate=used.hit_rate,
            minor_faults_s=_up(after.memory.minor_faults, before.memory.minor_faults) * per,
            major_faults_s=_up(after.memory.major_faults, before.memory.major_faults) * per,
        )


def _up(after: int, before: int) -> int:
    """Growth of a counter that may restart (a drive unplugged, cancelled writes)."""
    return max(0, after - before)


def _disk_since(before: DiskCounters | None, after: DiskCounters | None) -> DiskCounters | None:
    if before is None or after is None:
        return None
    return DiskCounters(
        _up(after.read_bytes, before.read_bytes),
        _up(after.write_bytes, before.write_bytes),
        _up(after.reads, before.reads),
    )


class PeakMemory:
    """Highest working set and commit between `start` and `stop`, sampled 20 times a second.

    Where the kernel keeps an exact peak that can be restarted (Linux), that one is used as well:
    sampling alone misses short peaks.
    """

    def __init__(self, interval_s: float = 0.05) -> None:
        self._interval_s = interval_s
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._exact = False
        self.working_set = 0
        self.committed = 0

    def start(self) -> None:
        """Begin sampling; forgets earlier peaks."""
        self.working_set = self.committed = 0
        self._done.clear()
        self._exact = machine_memory.restart_peak()
        self._thread = threading.Thread(target=self._run, name="edge0-peak", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take a last sample and join the thread; does nothing when not started."""
        if self._thread is None:
            return
        self._done.set()
        self._thread.join()
        self._thread = None
        self._sample()
        if self._exact:
            self.working_set = max(self.working_set, machine_memory.peak_working_set())

    def _run(self) -> None:
        self._sample()
        while not self._done.wait(self._interval_s):
            self._sample()

    def _sample(self) -> None:
        working_set, committed = machine_memory.resident_and_committed()
        self.working_set = max(self.working_set, working_set)
        self.committed = max(self.committed, committed)

    def __enter__(self) -> PeakMemory:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
