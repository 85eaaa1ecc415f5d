"""Measuring memory: a plausible speed, and a refusal instead of a crash."""

from __future__ import annotations

import pytest

from engine.kernels import native


def test_memory_reads_at_a_plausible_speed() -> None:
    assert 1e8 < native.read_bandwidth(2, 16 << 20) < 1e13


@pytest.mark.parametrize("size", [0, 1 << 50, -5])
def test_what_cannot_be_measured_is_refused(size: int) -> None:
    with pytest.raises(native.NativeError, match="too short"):
        native.read_bandwidth(2, size)
