"""Counters, rates and peaks: what the live panel and the bench would show wrongly."""

from __future__ import annotations

import mmap
import subprocess
import sys
import threading

import pytest

from engine import telemetry
from engine.machine.samples import DiskCounters, MemorySample, ProcessIO
from engine.telemetry import Counters, PeakMemory, Rates, Snapshot

MB = 1_000_000


def snapshot(
    time_s: float,
    memory: MemorySample | None = None,
    io: ProcessIO | None = None,
    disk: DiskCounters | None = None,
    counters: Counters | None = None,
) -> Snapshot:
    return Snapshot(
        time_s, memory or MemorySample(), io or ProcessIO(), disk, counters or Counters()
    )


def test_counters_difference_and_hit_rate() -> None:
    before = Counters(expert_hits=10, expert_misses=10, expert_bytes_read=5, attention_s=1.0)
    after = Counters(expert_hits=19, expert_misses=11, expert_bytes_read=8, attention_s=1.5)
    used = after.since(before)
    assert used == Counters(9, 1, 3, 0.5)
    assert used.hit_rate == 0.9
    assert Counters().hit_rate == 1.0


def test_rates_between_two_snapshots() -> None:
    before = snapshot(
        10.0, MemorySample(minor_faults=100, major_faults=7), ProcessIO(5 * MB, 1 * MB),
        DiskCounters(8 * MB, 0, 20), Counters(50, 50, MB),
    )  # fmt: skip
    after = snapshot(
        12.0, MemorySample(minor_faults=300, major_faults=8), ProcessIO(9 * MB, 2 * MB),
        DiskCounters(18 * MB, 0, 60), Counters(80, 60, 3 * MB),
    )  # fmt: skip
    assert Rates.between(before, after) == Rates(
        seconds=2.0,
        read_mb_s=2.0,
        write_mb_s=0.5,
        disk_read_mb_s=5.0,
        disk_reads_s=20.0,
        expert_read_mb_s=1.0,
        expert_reads_s=5.0,
        hit_rate=0.75,
        minor_faults_s=100.0,
        major_faults_s=0.5,
    )


def test_a_counter_that_restarts_is_not_a_negative_rate() -> None:
    before = snapshot(1.0, io=ProcessIO(0, 9 * MB), disk=DiskCounters(9 * MB, 0, 9))
    after = snapshot(2.0, io=ProcessIO(0, 5 * MB), disk=DiskCounters(MB, 0, 1))
    rates = Rates.between(before, after)
    assert (rates.write_mb_s, rates.disk_read_mb_s, rates.disk_reads_s) == (0, 0, 0)


def test_no_time_and_no_disk_counters() -> None:
    rates = Rates.between(snapshot(1.0), snapshot(1.0, io=ProcessIO(MB, MB)))
    assert (rates.read_mb_s, rates.seconds, rates.disk_read_mb_s) == (0, 0, None)


def test_a_snapshot_reads_the_machine_when_made() -> None:
    first = Snapshot(kv_bytes=5, io_mode="mapped", plan=("budget: 3 GB",))
    block = mmap.mmap(-1, 32 << 20)
    block.write(b"\1" * (32 << 20))
    second = Snapshot()
    block.close()
    assert second.memory.working_set - first.memory.working_set > 24 << 20
    assert second.time_s >= first.time_s
    assert (first.kv_bytes, first.io_mode, first.counters) == (5, "mapped", Counters())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux restarts the kernel's own peak")
def test_peak_sees_a_spike_between_two_samples() -> None:
    """In a process of its own: a long test run's idle memory may leave while the spike comes."""
    code = """
from engine import telemetry
with telemetry.PeakMemory(interval_s=60.0) as peak:
    before = telemetry.machine_memory.resident_and_committed()[0]
    block = bytearray(b"\\1") * (96 << 20)
    del block
print(peak.working_set - before if peak._exact else 96 << 20)
"""
    command = [sys.executable, "-c", code]
    grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(grown) > 90 << 20


def test_peak_sampling_sees_commit_and_joins_its_thread() -> None:
    peak = PeakMemory(interval_s=0.001)
    threads = set(threading.enumerate())
    with peak:
        before = telemetry.machine_memory.resident_and_committed()[1]
        samples = iter(lambda: peak.committed - before > 60 << 20, True)
        block = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE)
        for _ in samples:
            pass
        block.close()
    assert set(threading.enumerate()) == threads
    peak.stop()  # a second stop is harmless
    with peak:
        pass
    assert peak.committed - before < 60 << 20  # started again, forgotten the earlier peak
