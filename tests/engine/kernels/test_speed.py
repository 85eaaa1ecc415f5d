"""The kernels' speed on this machine is measured with the real kernel, briefly."""

from __future__ import annotations

import itertools

import pytest

from engine.kernels import speed
from engine.kernels.speed import COLS, FEWEST, measure_kernels


def test_speeds_are_bytes_and_sums_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "largest_cache", lambda: 0)
    ticks = itertools.count()
    told = measure_kernels(0.0, threads=1, rows=64, clock=lambda: float(next(ticks)))
    assert told.threads == 1
    assert told.batch_gops * 1e9 == 2 * 64 * COLS * 64  # one tick for each run
    matrix = 4 * (COLS // 32) * (256 + 32)
    assert told.small_weights_gb_s * 1e9 == matrix
    assert told.weights_gb_s * 1e9 == FEWEST * matrix


def test_a_real_measurement_is_plausible() -> None:
    told = measure_kernels(0.02, rows=1024)
    assert 0.01 < told.weights_gb_s < 5000
    assert 0.01 < told.batch_gops < 1e6


def test_what_is_measured_outgrows_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = 4 * (COLS // 32) * (256 + 32)
    monkeypatch.setattr(speed, "largest_cache", lambda: 3 * matrix)
    ticks = itertools.count()
    told = measure_kernels(0.0, threads=1, rows=64, clock=lambda: float(next(ticks)))
    assert told.weights_gb_s * 1e9 == 6 * matrix
