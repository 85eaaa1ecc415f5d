"""Times both ways to read an expert on this drive, with the store itself: 0.3 s, cold records only.

Opens a small store of each kind and closes them again. Memory: at most twice TRIAL_BYTES of
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
TRIAL_S = 0.3
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
    """Measured seconds a record; a guess where too little is cold or a read fails.

    Both ways take turns, so that whatever else the drive does slows both.
    """
    largest = max(layout.bytes for layout in container.manifest.layouts)
    count = min(len(cold) // 2, TRIAL_BYTES // largest)
    if count < LANES:
        return GUESSED
    try:
        with (
            closing(_store(container, "direct", count)) as direct,
            closing(_store(container, "mapped", count * MAPPED_ROOM)) as mapped,
        ):
            return _take_turns(direct, mapped, cold[: 2 * count], clock)
    except StorageError:  # told by the store that really opens
        return GUESSED


def _store(container: Container, mode: HoldMode, slots: int) -> ExpertStore:
    policy = LeastRecentlyUsed(container.shape.layers * container.shape.experts)
    return ExpertStore(container, mode, slots, policy)


def _take_turns(
    direct: ExpertStore, mapped: ExpertStore, keys: Keys, clock: Callable[[], float]
) -> RecordSpeeds:
    """Batches of one record a lane, until the time or the keys are used up."""
    direct_s = mapped_s = 0.0
    done, start = 0, clock()
    while done + 2 * LANES <= len(keys) and (not done or clock() - start < TRIAL_S):
        direct_s += _timed(direct, keys[done : done + LANES], clock)
        mapped_s += _timed(mapped, keys[done + LANES : done + 2 * LANES], clock)
        done += 2 * LANES
    return RecordSpeeds(mapped_s / (done / 2), direct_s / (done / 2))


def _timed(store: ExpertStore, keys: Keys, clock: Callable[[], float]) -> float:
    """Seconds to load these keys. Raises StorageError."""
    start = clock()
    if store.load(keys) < len(keys):
        raise store.read_error()
    return clock() - start
