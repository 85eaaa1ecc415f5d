"""The short trial of both ways to read: real files, real stores, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import psutil
import pytest

from engine.machine import page_cache
from engine.store.auto import GUESSED
from engine.store.store import LANES
from engine.store.trial import CacheSample, time_both
from tests.helpers.expert_files import ExpertFiles, write_experts

KEYS = 2 * 16


@pytest.fixture
def files(tmp_path: Path) -> ExpertFiles:
    found = write_experts(tmp_path, 2, 16, hidden=128, width=64)
    with open(found.files[0], "rb") as file:
        os.fsync(file.fileno())
    return found


def everything() -> np.ndarray:
    return np.arange(KEYS, dtype=np.int32)


def test_both_ways_are_timed_and_closed(files: ExpertFiles) -> None:
    handles = len(psutil.Process().open_files())
    speeds = time_both(files, everything())  # type: ignore[arg-type]
    assert speeds.measured and speeds.mapped_s > 0 and speeds.direct_s > 0
    assert len(psutil.Process().open_files()) == handles


def test_it_ends_when_its_time_is_over(files: ExpertFiles) -> None:
    """On a clock where a batch takes ten seconds, each way reads one batch."""
    ticks = iter(range(0, 1000, 10))
    speeds = time_both(files, everything(), lambda: next(ticks))  # type: ignore[arg-type]
    assert speeds.direct_s == speeds.mapped_s == pytest.approx(10 / LANES)
    assert next(ticks) == 60


def test_too_little_that_is_cold_or_a_read_that_fails_is_a_guess(files: ExpertFiles) -> None:
    assert time_both(files, everything()[: 2 * LANES - 1]) == GUESSED  # type: ignore[arg-type]
    os.truncate(files.files[0], 8192)
    assert time_both(files, everything()) == GUESSED  # type: ignore[arg-type]
    files.files[0].unlink()
    assert time_both(files, everything()) == GUESSED  # type: ignore[arg-type]


def test_the_sample_tells_cold_from_cached(files: ExpertFiles) -> None:
    data = files.files[0].read_bytes()
    warm = CacheSample(files)  # type: ignore[arg-type]
    if warm.share is None or warm.share < 1:
        pytest.skip("this system does not tell, or keeps no page cache")
    assert len(warm.cold) == 0
    if page_cache.forget(files.files):
        cold = CacheSample(files)  # type: ignore[arg-type]
        assert cold.share == 0 and sorted(cold.cold) == list(range(KEYS))
    assert files.files[0].read_bytes() == data
