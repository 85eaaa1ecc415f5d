"""Reads a model ahead of its first reply: `warm` into the system's page cache, `warm_start` the
experts used most into a store's free slots.

When nothing is known of their use, every layer gets the same share of its experts, in the order of
the file. Runs on the calling thread with one small buffer.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.container.files import open_checked, read_range
from engine.container.manifest import RecordEntry
from engine.container.reader import Container
from engine.events import Progress
from engine.stop import StopFlag
from engine.store.policy import Keys
from engine.store.store import ExpertStore
from engine.text import Text

MARGIN_BYTES = 1 << 30  # left free for everything else
_CHUNK = 4 << 20
_BATCH = 8  # records read between two looks at the clock: 20 MB of a 30B model


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
    order: Keys | None = None,
) -> Warmed:
    """Read the dense weights, then as many records as fit, those first in `order` rather.

    Raises StorageError, Stopped.
    """
    stop, manifest = stop or StopFlag(), container.manifest
    room = available_bytes - MARGIN_BYTES - manifest.dense_bytes
    records = chosen_records(manifest.records, room, _ranks(container, order))
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
            progress(Progress(done, total, Text("reading the model's files")))
    return Warmed(done, len(records), len(manifest.records))


def warm_start(
    store: ExpertStore,
    keys: Keys,
    stop: StopFlag,
    seconds: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Read experts into free slots in the order of `keys`; how many were read.

    Ends when the slots are full, time is over or the flag is set. A read that fails is left to the
    reply that needs it.
    """
    end, before = clock() + seconds, len(store.resident())
    missing = keys[~np.isin(keys, store.resident())]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        if stop.is_set() or clock() >= end or store.load(batch) < len(batch):
            break
    store.after_chunk(1)  # a token that used nothing: there is more to replace now
    return len(store.resident()) - before


def chosen_records(
    records: Sequence[RecordEntry],
    room: int,
    ranks: Mapping[tuple[int, int], int] | None = None,
) -> list[RecordEntry]:
    """The records to read within `room` bytes, in file order; `records` are in file order.

    ranks: by layer and expert; those without one come last, each layer's first ones before.
    """
    seen: Counter[int] = Counter()
    ranked = []
    for place, record in enumerate(records):
        rank = (ranks or {}).get((record.layer, record.expert), len(records))
        ranked.append((rank, seen[record.layer], place))
        seen[record.layer] += 1
    chosen = []
    for _, _, place in sorted(ranked):
        room -= records[place].bytes
        if room < 0:
            break
        chosen.append(place)
    return [records[place] for place in sorted(chosen)]


def _ranks(container: Container, order: Keys | None) -> dict[tuple[int, int], int]:
    experts = container.shape.experts
    keys = [] if order is None else order.tolist()
    return {divmod(key, experts): rank for rank, key in enumerate(keys)}


def _joined(parts: Iterable[tuple[Path, int, int]]) -> list[tuple[Path, int, int]]:
    """Neighbouring ranges of a file as one."""
    joined: list[tuple[Path, int, int]] = []
    for path, offset, size in parts:
        if joined and joined[-1][0] == path and joined[-1][1] + joined[-1][2] == offset:
            joined[-1] = (path, joined[-1][1], joined[-1][2] + size)
        else:
            joined.append((path, offset, size))
    return joined
