"""How fast this drive serves expert records: random unbuffered reads at several depths, 3 s in all.

Runs `depth` threads of its own, each with one aligned buffer of a record; files are opened for
reading only. What a drive calls itself is often wrong, so the wizard and the doctor measure.
"""

from __future__ import annotations

import mmap
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import StorageError
from engine.formats import RECORD_ALIGN, aligned
from engine.machine.unbuffered import RawReader, open_unbuffered
from engine.stop import StopFlag
from engine.text import Text

DEPTHS = (1, 2, 4, 8)


@dataclass(frozen=True)
class ProbePoint:
    """What `depth` reads in flight gave."""

    depth: int
    mb_s: float
    reads: int


@dataclass(frozen=True)
class ProbeResult:
    """A measured drive. `unbuffered` False: the page cache may have helped, the truth is slower."""

    record_bytes: int
    unbuffered: bool
    points: tuple[ProbePoint, ...]

    @property
    def best(self) -> ProbePoint:
        """The smallest depth within 5 % of the fastest."""
        fastest = max(point.mb_s for point in self.points)
        return next(point for point in self.points if point.mb_s >= 0.95 * fastest)


@dataclass
class _Lane:
    """One thread's share of a measurement."""

    readers: list[RawReader]
    places: Callable[[], tuple[int, int, int]]  # → (file, offset, length)
    buffer: mmap.mmap
    reads: int = 0
    bytes: int = 0
    failures: list[OSError] = field(default_factory=list)

    def run(self, until: float, clock: Callable[[], float], stop: StopFlag) -> None:
        try:
            while clock() < until and not stop.is_set():
                file, offset, length = self.places()
                self.bytes += self.readers[file].read_into(self.buffer, length, offset)
                self.reads += 1
        except OSError as error:
            self.failures.append(error)

    def close(self) -> None:
        for reader in self.readers:
            reader.close()
        self.buffer.close()


def probe_reads(
    files: Sequence[Path],
    record_bytes: int,
    seconds: float = 3.0,
    depths: Sequence[int] = DEPTHS,
    stop: StopFlag | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> ProbeResult:
    """Measure random record reads over `files` for `seconds`, shared evenly by the depths.

    Raises StorageError when a file cannot be read, Stopped when `stop` is set.
    """
    stop = stop or StopFlag()
    length = aligned(max(1, record_bytes))
    points, unbuffered = [], True
    try:
        sizes = [path.stat().st_size // RECORD_ALIGN * RECORD_ALIGN for path in files]
        if not sum(sizes):
            raise StorageError(
                Text("There is nothing to measure."), Text("Give files of at least 4 KiB.")
            )
        for depth in depths:
            lanes = [_open_lane(files, sizes, length, seed) for seed in range(depth)]
            unbuffered = unbuffered and all(r.unbuffered for lane in lanes for r in lane.readers)
            points.append(_measure(lanes, seconds / len(depths), stop, clock))
            stop.check()
    except OSError as error:
        step = Text("Check that the drive is connected and the files may be read.")
        text = Text("The drive could not be measured: {0}.", error.strerror or error)
        raise StorageError(text, step) from error
    return ProbeResult(length, unbuffered, tuple(points))


def _measure(
    lanes: list[_Lane], seconds: float, stop: StopFlag, clock: Callable[[], float]
) -> ProbePoint:
    begin = clock()
    threads = [
        threading.Thread(target=lane.run, args=(begin + seconds, clock, stop), name="edge0-probe")
        for lane in lanes
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = max(clock() - begin, 1e-9)
    finally:
        for lane in lanes:
            lane.close()
    for lane in lanes:
        if lane.failures:
            raise lane.failures[0]
    total, reads = sum(lane.bytes for lane in lanes), sum(lane.reads for lane in lanes)
    return ProbePoint(len(lanes), total / took / 1e6, reads)


def _open_lane(files: Sequence[Path], sizes: Sequence[int], length: int, seed: int) -> _Lane:
    readers: list[RawReader] = []
    try:
        for path in files:
            readers.append(open_unbuffered(path))
    except OSError:
        for reader in readers:
            reader.close()
        raise
    return _Lane(readers, _random_places(sizes, length, seed), mmap.mmap(-1, length))


def _random_places(
    sizes: Sequence[int], length: int, seed: int
) -> Callable[[], tuple[int, int, int]]:
    """Aligned random places, files weighted by size; a file shorter than a record is read whole."""
    rng = random.Random(seed)
    choices = [index for index, size in enumerate(sizes) if size]
    weights = [sizes[index] for index in choices]

    def place() -> tuple[int, int, int]:
        index = rng.choices(choices, weights)[0]
        size = min(length, sizes[index])
        slots = (sizes[index] - size) // RECORD_ALIGN + 1
        return index, rng.randrange(slots) * RECORD_ALIGN, size

    return place
