"""Fetches a plan's files into a folder: ranged, journalled, hash-checked, resumable at any instant.

Owns the folder while it runs, and its threads: workers (one connection each), a verifier, a syncer.
The caller's thread watches them, reports and stops them. Memory: a few pieces a worker.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from engine.container.files import SPARE_BYTES, storage_error, storage_errors
from engine.errors import ConfigError, StorageError
from engine.hub.access import Access
from engine.hub.board import Board
from engine.hub.lane import Transport
from engine.hub.marker import is_complete, verified_files, verified_line, write_marker
from engine.hub.meter import Meter
from engine.hub.part import Part
from engine.hub.plan import DownloadPlan
from engine.hub.policy import DownloadPolicy
from engine.hub.progress import DownloadProgress, OnDownload
from engine.hub.verifier import Verifier
from engine.hub.worker import Worker
from engine.machine.disk import drive_info
from engine.stop import StopFlag
from engine.text import Text, gb

FAT_MAX_BYTES = (4 << 30) - 1
POLL_S = SYNC_POLL_S = 0.05
MAX_CONNECTIONS = 16
_FAT = ("fat", "fat32", "vfat", "msdos")


def download(
    plan: DownloadPlan,
    target: Path,
    progress: OnDownload = lambda _: None,
    stop: StopFlag | None = None,
    connections: int = 4,
    access: Access | None = None,
    policy: DownloadPolicy | None = None,
    reserve_bytes: int = 0,
) -> Path:
    """All files of the plan in `target`, verified. Run again after any interruption to go on.

    reserve_bytes: what must stay free besides, such as for the conversion.
    Raises DownloadError, StorageError, ConfigError, Stopped.
    """
    check_connections(connections)
    stop, policy = stop or StopFlag(), policy or DownloadPolicy()
    stop.check()
    with claimed(target):
        if is_complete(target, plan):
            return target
        parts = _parts(plan, target, policy)
        try:
            _check_space(target, parts, reserve_bytes)
            board = Board(parts)
            transport = Transport(access or Access(), policy.connect_timeout_s, policy.stall_s)
            threads = _Threads(board, plan.repository.id, transport, policy, connections)
            meter = Meter(plan.total, board.status().done, _now(), policy)
            with threads.running():
                _watch(board, meter, progress, stop)
            message = board.status().message
        finally:
            for part in parts:
                part.close()
        write_marker(target, plan)
    progress(DownloadProgress(plan.total, plan.total, plan.repository.id, detail=message))
    return target


def check_connections(count: int) -> None:
    """Raises ConfigError for a number of connections nobody should open."""
    if not 1 <= count <= MAX_CONNECTIONS:
        raise ConfigError(Text("{0} connections cannot be used.", count), Text("Give 1 to 16."))


class _Threads:
    """The threads of one download."""

    def __init__(
        self,
        board: Board,
        model: str,
        transport: Transport,
        policy: DownloadPolicy,
        connections: int,
    ) -> None:
        self._board, self._policy = board, policy
        self._workers = [
            Worker(number, board, model, transport, policy) for number in range(connections)
        ]
        syncer = threading.Thread(target=self._sync, name="edge0-sync", daemon=True)
        self._all = [*self._workers, Verifier(board), syncer]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Started; at the end told to leave, and waited for a moment."""
        for thread in self._all:
            thread.start()
        try:
            yield
        finally:
            self._board.close()
            for worker in self._workers:
                worker.abort()
            deadline = _now() + self._policy.close_s
            for thread in self._all:  # one may hang in a name look-up or a sync: it writes no more
                thread.join(max(0.0, deadline - _now()))

    def _sync(self) -> None:
        """Make finished ranges survive a crash of the machine: once a second, large ones at once.

        Syncing while bytes arrive also spreads the writing: the last sync has little left to do.
        """
        pause, last = min(self._policy.sync_s, SYNC_POLL_S), _now()
        try:
            while not self._board.wait_until_over(pause):
                due = _now() - last >= self._policy.sync_s
                for part in self._board.parts:
                    if part.finished or self._board.closed:
                        continue
                    if due or part.is_much_unsynced():
                        part.sync()
                last = _now() if due else last
        except BaseException as error:
            self._board.fail(error)


def _watch(board: Board, meter: Meter, progress: OnDownload, stop: StopFlag) -> None:
    """Report until all is done. Raises what failed, or Stopped."""
    next_report, over = 0.0, False
    while not over:
        if _now() >= next_report:
            progress(meter.progress(board.status(), _now()))
            next_report = _now() + meter.report_s
        over = board.wait_until_over(POLL_S)
        stop.check()
    if board.error is not None:
        raise board.error


def _now() -> float:
    return time.monotonic()


def _parts(plan: DownloadPlan, target: Path, policy: DownloadPolicy) -> list[Part]:
    """The files in the plan's order, each with what is there already."""
    boot, verified = psutil.boot_time(), verified_files(target)
    return [
        Part(
            file,
            plan.url(file),
            target,
            boot,
            policy.range_bytes,
            verified_line(file) in verified,
        )
        for file in plan.files
    ]


def _check_space(target: Path, parts: Sequence[Part], reserve_bytes: int) -> None:
    """Refuse at once what cannot end well."""
    left = sum(part.file.size - part.done for part in parts)
    needed = left + reserve_bytes + SPARE_BYTES
    with storage_errors(target):
        free = shutil.disk_usage(target).free
    if needed > free:
        sizes = (target.parent, gb(needed), gb(free))
        raise StorageError(
            Text(
                "The disk of {0} is too full: {1} are needed for the download and the conversion,"
                " {2} are free.",
                *sizes,
            )
            if reserve_bytes
            else Text("The disk of {0} is too full: {1} are needed, {2} are free.", *sizes),
            Text("Free some space or choose another drive; what was fetched is kept."),
        )
    largest = max((part.file.size for part in parts), default=0)
    if largest > FAT_MAX_BYTES and drive_info(target).filesystem.lower() in _FAT:
        raise StorageError(
            Text("{0} is on a FAT32 drive, which holds no file above 4 GiB.", target),
            Text("Choose a drive with NTFS, exFAT, APFS or ext4."),
        )


@contextmanager
def claimed(target: Path) -> Iterator[None]:
    """The folder, made if need be, for us alone."""
    lock = FileLock(target.with_name(f".{target.name}.edge0-lock"))
    try:
        target.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise StorageError(
            Text("Another download is writing {0} right now.", target),
            Text("Wait for it, or stop it first."),
        ) from None
    except OSError as error:
        raise storage_error(target, error) from error
    try:
        yield
    finally:
        lock.release()
