"""The only caller of the engine: a worker on one QThread, and the GUI-side client that feeds it.

Requests go in through a queued signal, one at a time, in order. Events come out through the
EventBuffer, drained by a 30 Hz timer that runs only while there is work. Stop does not queue: it
sets the job's flag and the session's at once; the engine checks it per layer. Errors arrive as
Failed; nothing is raised over threads.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QThread, QTimer, Signal, Slot

from app.door import Door, EngineRuntime, EngineSession
from app.event_buffer import EventBuffer
from app.sampling import Sampling
from engine import Edge0Config, Edge0Error, Progress, StopFlag, Stopped, StorageError

DRAIN_MS = 33
SNAPSHOT_S = 0.5
WARM_S = 0.15  # idle time is used in slices: a reply asked for meanwhile waits no longer than one
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LoadJob:
    """Close what is open and open the model of `config`; None only closes."""

    id: int
    config: Edge0Config | None
    stop: StopFlag = field(default_factory=StopFlag)


@dataclass(frozen=True)
class ReplyJob:
    """Answer `messages`, (role, text) pairs, once `saved` says the prompt is saved, or owed."""

    id: int
    messages: tuple[tuple[str, str], ...]
    sampling: Sampling
    saved: Future[Any] | None = None
    stop: StopFlag = field(default_factory=StopFlag)


Job = LoadJob | ReplyJob


@dataclass(frozen=True)
class Loaded:
    """A model is open (or, with None, none is)."""

    model: Path | None


@dataclass(frozen=True)
class FirstText:
    """Seconds from the start of the work to the first text."""

    seconds: float


@dataclass(frozen=True)
class Failed:
    """A job ended with an error; `next_step` may be empty."""

    message: str
    next_step: str
    kind: str


@dataclass(frozen=True)
class JobDone:
    """The last event of every job."""


@dataclass(frozen=True)
class SnapshotTaken:
    """The engine's counters at one moment."""

    snapshot: Any


class EngineWorker(QObject):
    """Lives on the engine's thread."""

    def __init__(self, door: Door, buffer: EventBuffer) -> None:
        super().__init__()
        self._door = door
        self._buffer = buffer
        self._runtime: EngineRuntime | None = None
        self.session: EngineSession | None = None  # read by the GUI's thread, only to stop it
        self._next_snapshot = 0.0

    @Slot(object)
    def run(self, job: Job) -> None:
        """Do one job; every end, good or bad, is told through the buffer."""
        try:
            job.stop.check()
            self._load(job) if isinstance(job, LoadJob) else self._reply(job)
        except Stopped:
            log.info("job %d stopped", job.id)
        except Edge0Error as error:
            log.warning("job %d: %s", job.id, error)
            self._tell(job, Failed(error.message, error.next_step, type(error).__name__))
        except Exception as error:
            log.exception("job %d failed", job.id)
            self._tell(job, Failed(f"{type(error).__name__}: {error}", "", "Fault"))
        finally:
            self._tell(job, JobDone())

    @Slot()
    def shut_down(self) -> None:
        """Close the model and end this thread."""
        try:
            self._close()
        except Exception:
            log.exception("closing the model failed")
        self.thread().quit()

    def _load(self, job: LoadJob) -> None:
        self._close()
        self._tell(job, Loaded(None))
        if job.config is None:
            return

        def progress(step: Progress) -> None:
            job.stop.check()
            self._tell(job, step)

        self._runtime = self._door.Edge0Runtime.from_config(job.config, progress)
        self.session = self._runtime.session()
        self._tell(job, Loaded(Path(job.config.model_path)))
        self._snapshot(job)
        QTimer.singleShot(0, self._warm_up)

    @Slot()
    def _warm_up(self) -> None:
        """While the first message is being typed: read what it will probably need."""
        try:
            if self._runtime is not None and self._runtime.warm_up(WARM_S):
                QTimer.singleShot(0, self._warm_up)
        except Exception:
            log.exception("warming up failed")

    def _reply(self, job: ReplyJob) -> None:
        if self.session is None or self._runtime is None:
            raise Edge0Error(
                QCoreApplication.translate("EngineWorker", "No model is open."),
                QCoreApplication.translate("EngineWorker", "Choose a model above the chat."),
            )
        if job.saved is not None:
            with suppress(StorageError):  # a full disk: told already, and saved when there is room
                job.saved.result()
        messages = [self._door.Message(role, text) for role, text in job.messages]
        options = job.sampling.over(self._runtime.default_options)
        started = time.perf_counter()
        waiting = True
        for event in self.session.reply(messages, options):
            if job.stop.is_set():
                self.session.stop()
            if waiting and hasattr(event, "text"):
                self._tell(job, FirstText(time.perf_counter() - started))
                waiting = False
            self._tell(job, event)
            self._snapshot_now_and_then(job)
        self._snapshot(job)

    def _snapshot_now_and_then(self, job: Job) -> None:
        if time.monotonic() >= self._next_snapshot:
            self._snapshot(job)

    def _snapshot(self, job: Job) -> None:
        self._next_snapshot = time.monotonic() + SNAPSHOT_S
        if self._runtime is not None:
            self._tell(job, SnapshotTaken(self._runtime.snapshot()))

    def _close(self) -> None:
        runtime, self._runtime, self.session = self._runtime, None, None
        if runtime is not None:
            runtime.close()

    def _tell(self, job: Job, event: Any) -> None:
        self._buffer.put(job.id, event)


class EngineClient(QObject):
    """The GUI's side: hands out jobs and deals out their events, on the GUI's thread."""

    _send = Signal(object)
    _end = Signal()
    arrived = Signal(int, object)  # job id, event
    busy_changed = Signal(bool)

    def __init__(self, door: Door, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._buffer = EventBuffer()
        self._worker = EngineWorker(door, self._buffer)
        self._thread = QThread()
        self._thread.setObjectName("engine")
        self._worker.moveToThread(self._thread)
        self._send.connect(self._worker.run)
        self._end.connect(self._worker.shut_down)
        self._ids = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._timer = QTimer(self, interval=DRAIN_MS)
        self._timer.timeout.connect(self.drain)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether any job is waiting or running."""
        return bool(self._jobs)

    def load(self, config: Edge0Config | None) -> int:
        """Open a model in place of the open one; returns the job's id."""
        return self._start(lambda number: LoadJob(number, config))

    def reply(
        self,
        messages: tuple[tuple[str, str], ...],
        sampling: Sampling,
        saved: Future[Any] | None = None,
    ) -> int:
        """Answer a conversation; returns the job's id."""
        return self._start(lambda number: ReplyJob(number, messages, sampling, saved))

    def stop(self, job: int) -> None:
        """Stop a job now, whether it runs or waits."""
        if job in self._jobs:
            self._jobs[job].stop.set()
            session = self._worker.session
            if session is not None and next(iter(self._jobs)) == job:
                session.stop()

    def drain(self) -> None:
        """Deal out what has arrived."""
        for entry in self._buffer.drain():
            self.arrived.emit(entry.job, entry.event)
            if isinstance(entry.event, JobDone):
                self._finish(entry.job)

    def close(self, wait_ms: int = 10_000) -> bool:
        """Stop everything, close the model, end the thread, deal out the last events.

        False when the thread did not end in time.
        """
        for job in list(self._jobs):
            self.stop(job)
        self._timer.stop()
        self._end.emit()
        ended = self._thread.wait(wait_ms)
        self.drain()
        return ended

    def _start(self, make: Callable[[int], Job]) -> int:
        job = make(next(self._ids))
        was_busy = self.busy
        self._jobs[job.id] = job
        self._timer.start()
        self._send.emit(job)
        if not was_busy:
            self.busy_changed.emit(True)
        return job.id

    def _finish(self, job: int) -> None:
        self._jobs.pop(job, None)
        if not self._jobs:
            self._timer.stop()
            self.busy_changed.emit(False)
