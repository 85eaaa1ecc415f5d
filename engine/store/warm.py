"""Reads a model's files into the system's page cache ahead of the first reply.

When not all fits, every layer gets the same share of its experts, the hottest first (that is their
order in the file). Runs on the calling thread with one small buffer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.container.files import open_checked, read_range
from engine.container.manifest import RecordEntry
from engine.container.reader import Container
from engine.events import Progress
from engine.stop import StopFlag

MARGIN_BYTES = 1 << 30  # left free for everything else
_CHUNK = 4 << 20


@dataclass(frozen=True)
class Warmed:
    """What was read."""

    bytes: int
    records: int
    records_total: int


def warm(
    container: Container,
    available_bytes: int,
    progress: Callable[[Progress], None] = lambda _: None,
    stop: StopFlag | None = None,
) -> Warmed:
    """Read the dense weights, then as many records as fit. Raises StorageError, Stopped."""
    stop, manifest = stop or StopFlag(), container.manifest
    room = available_bytes - MARGIN_BYTES - manifest.dense_bytes
    records = chosen_records(manifest.records, room)
    parts = [(container.dense_path, 0, manifest.dense_bytes)]
    parts += [(container.files[r.file], r.offset, r.bytes) for r in records]
    total, done = sum(size for _, _, size in parts), 0
    buffer = memoryview(bytearray(_CHUNK))
    for path, offset, size in _joined(parts):
        for start in range(offset, offset + size, _CHUNK):
            stop.check()
            count = min(_CHUNK, offset + size - start)
            with open_checked(path) as file:
                read_range(file, path, start, buffer[:count])
            done += count
            progress(Progress(done, total, "reading the model's files"))
    return Warmed(done, len(records), len(manifest.records))


def chosen_records(records: Sequence[RecordEntry], room: int) -> list[RecordEntry]:
    """The records to read within `room` bytes, in file order; `records` are in file order."""
    seen: Counter[int] = Counter()
    ranked = []
    for place, record in enumerate(records):
        ranked.append((seen[record.layer], place))
        seen[record.layer] += 1
    chosen = []
    for _, place in sorted(ranked):
        room -= records[place].bytes
        if room < 0:
            break
        chosen.append(place)
    return [records[place] for place in sorted(chosen)]


def _joined(parts: Iterable[tuple[Path, int, int]]) -> list[tuple[Path, int, int]]:
    """Neighbouring ranges of a file as one."""
    joined: list[tuple[Path, int, int]] = []
    for path, offset, size in parts:
        if joined and joined[-1][0] == path and joined[-1][1] + joined[-1][2] == offset:
            joined[-1] = (path, joined[-1][1], joined[-1][2] + size)
        else:
            joined.append((path, offset, size))
    return joined
