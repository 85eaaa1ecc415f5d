"""Times both ways to read an expert on this drive, with the store itself: 0.3 s, cold records only.

Opens a small store of each kind in turn and closes it again. Memory: at most TRIAL_BYTES of
records, before the model's own are loaded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import numpy as np

from engine.container.reader import Container
from engine.errors import StorageError
from engine.events import HoldMode
from engine.machine.page_cache import cached_shares
from engine.store.auto import GUESSED, RecordSpeeds
from engine.store.policy import Keys, LeastRecentlyUsed
from engine.store.store import LANES, ExpertStore

TRIAL_BYTES = 64 << 20
TRIAL_S = 0.15  # each way
SAMPLE = 256  # records asked about
MAPPED_ROOM = 8  # neighbours share what the system maps at once: leave room for whole units
COLD = 0.3  # at most this much of it in the page cache


class CacheSample:
    """Which of some records, drawn by chance, are in the page cache.

    share: of the model; None where the system does not tell. cold: keys of records that are not.
    """

    def __init__(self, container: Container, seed: int | None = None) -> None:
        records = container.manifest.records
        drawn = np.random.default_rng(seed).permutation(len(records))[:SAMPLE]
        ranges = [(records[i].file, records[i].offset, records[i].bytes) for i in drawn]
        shares = cached_shares(container.files, ranges)
        self.share = None if shares is None else sum(shares) / len(shares)
        cold = sorted((part, i) for i, part in zip(drawn, shares or [], strict=False))
        chosen = [records[i] for part, i in cold if part <= COLD]
        self.cold = np.array([r.layer * container.shape.experts + r.expert for r in chosen], "i4")


def time_both(
    container: Container, cold: Keys, clock: Callable[[], float] = time.perf_counter
) -> RecordSpeeds:
    """Measured seconds a record; a guess where too little is cold or a read fails."""
    largest = max(layout.bytes for layout in container.manifest.layouts)
    count = min(len(cold) // 2, TRIAL_BYTES // largest)
    if count < LANES:
        return GUESSED
    direct_s = _seconds(container, "direct", cold[:count], clock)
    mapped_s = _seconds(container, "mapped", cold[count : 2 * count], clock)
    if direct_s is None or mapped_s is None:
        return GUESSED
    return RecordSpeeds(mapped_s, direct_s)


def _seconds(
    container: Container, mode: HoldMode, keys: Keys, clock: Callable[[], float]
) -> float | None:
    """Seconds a record of `keys` takes; None when one cannot be read."""
    policy = LeastRecentlyUsed(container.shape.layers * container.shape.experts)
    slots = len(keys) * (MAPPED_ROOM if mode == "mapped" else 1)
    try:
        with closing(ExpertStore(container, mode, slots, policy)) as store:
            return _timed_loads(store, keys, clock)
    except StorageError:  # told by the store that really opens
        return None


def _timed_loads(store: ExpertStore, keys: Keys, clock: Callable[[], float]) -> float | None:
    start, done = clock(), 0
    while done < len(keys) and (not done or clock() - start < TRIAL_S):
        batch = keys[done : done + LANES]
        if store.load(batch) < len(batch):
            return None
        done += len(batch)
    return (clock() - start) / done
