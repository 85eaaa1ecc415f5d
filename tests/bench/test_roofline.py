"""Measuring memory: a plausible speed."""

from __future__ import annotations

from tests.bench.roofline import PlainRead


def test_memory_reads_at_a_plausible_speed() -> None:
    assert 1e8 < PlainRead(16 << 20).bytes_s(threads=2) < 1e13
