"""Measuring memory: a plausible speed, and a 0 instead of a crash."""

from __future__ import annotations

import pytest

from tests.bench.roofline import read_bandwidth


def test_memory_reads_at_a_plausible_speed() -> None:
    assert 1e8 < read_bandwidth(2, 16 << 20) < 1e13


@pytest.mark.parametrize("size", [0, 1 << 50, -5])
def test_what_cannot_be_measured_is_told(size: int) -> None:
    assert read_bandwidth(2, size) == 0
