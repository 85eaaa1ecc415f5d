"""Linux numbers: fake /proc and /sys trees for the parsing, this very process for the truth."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path

import pytest

from engine.machine import linux
from engine.machine.samples import MemorySample, ProcessIO

real = pytest.mark.skipif(sys.platform != "linux", reason="reads this process's /proc")
MB = 1 << 20

STATUS = """Name:\tedge0 (x)
VmPeak:\t  9000 kB
VmSize:\t  8000 kB
VmHWM:\t  700 kB
VmRSS:\t  600 kB
RssAnon:\t  400 kB
RssFile:\t  150 kB
RssShmem:\t  50 kB
VmData:\t  1000 kB
VmStk:\t  132 kB
Threads:\t4
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_memory_keeps_the_three_sizes_apart(tmp_path: Path) -> None:
    write(tmp_path / "status", STATUS)
    write(tmp_path / "stat", "7 (a) b (c) S 1 7 7 0 -1 4194304 111 0 22 0 5 6 0 0 20 0 4\n")
    assert linux.process_memory(tmp_path) == MemorySample(
        working_set=600 << 10,
        committed=1132 << 10,
        virtual=8000 << 10,
        anon=400 << 10,
        file_resident=200 << 10,
        minor_faults=111,
        major_faults=22,
    )
    assert linux.resident_and_committed(tmp_path) == (600 << 10, 1132 << 10)
    assert linux.peak_working_set(tmp_path) == 700 << 10


def test_block_layer_io_leaves_out_cancelled_writes(tmp_path: Path) -> None:
    write(
        tmp_path / "io",
        "rchar: 9\nread_bytes: 4096\nwrite_bytes: 300\ncancelled_write_bytes: 100\n",
    )
    assert linux.process_io(tmp_path) == ProcessIO(4096, 200, "block")
    assert linux.process_io(tmp_path / "hardened") == ProcessIO(source="none")


def cpu(devices: Path, number: int, siblings: str, capacity: int | None = None) -> None:
    folder = devices / f"system/cpu/cpu{number}"
    write(folder / "topology/core_cpus_list", siblings + "\n")
    if capacity is not None:
        write(folder / "cpu_capacity", f"{capacity}\n")


def test_hyper_threads_of_a_core_count_once(tmp_path: Path) -> None:
    for number in range(4):
        cpu(tmp_path, number, f"{number % 2},{number % 2 + 2}")
    assert linux.performance_cores(lambda: range(4), tmp_path) == 2
    assert linux.performance_cores(lambda: {0, 2}, tmp_path) == 1


def test_intel_hybrid_leaves_out_efficiency_cores(tmp_path: Path) -> None:
    write(tmp_path / "cpu_core/cpus", "0-3\n")
    for number in range(8):
        cpu(
            tmp_path,
            number,
            f"{number // 2 * 2}-{number // 2 * 2 + 1}" if number < 4 else str(number),
        )
    assert linux.performance_cores(lambda: range(8), tmp_path) == 2
    assert linux.performance_cores(lambda: {4, 5, 6}, tmp_path) == 3  # pinned to the slow ones


def test_arm_big_little_leaves_out_little_cores(tmp_path: Path) -> None:
    for number, capacity in enumerate([400, 400, 900, 1024]):
        cpu(tmp_path, number, str(number), capacity)
    assert linux.performance_cores(lambda: range(4), tmp_path) == 2


def test_no_topology_counts_every_cpu(tmp_path: Path) -> None:
    assert linux.performance_cores(lambda: range(3), tmp_path) == 3


def test_cpuinfo_name_and_flags(tmp_path: Path) -> None:
    text = "processor\t: 0\nmodel name\t: Ryzen 7\nflags\t\t: fpu avx2 avx512_vnni\n"
    write(tmp_path / "cpuinfo", text)
    assert linux.cpu_name(tmp_path / "cpuinfo") == "Ryzen 7"
    assert linux.cpu_flags(tmp_path / "cpuinfo") == {"fpu", "avx2", "avx512_vnni"}
    assert linux.cpu_name(tmp_path / "none") == ""


@real
def test_touched_private_memory_moves_every_size_and_a_map_only_some(tmp_path: Path) -> None:
    before = linux.process_memory()
    block = mmap.mmap(-1, 64 * MB, flags=mmap.MAP_PRIVATE)
    reserved = linux.process_memory()
    block.write(b"\1" * (64 * MB))
    touched = linux.process_memory()
    block.close()
    assert reserved.committed - before.committed >= 60 * MB
    assert reserved.working_set - before.working_set < 32 * MB
    assert touched.anon - before.anon >= 60 * MB
    assert touched.minor_faults > before.minor_faults

    file = tmp_path / "weights"
    file.write_bytes(b"\1" * (64 * MB))
    before = linux.process_memory()
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, prot=mmap.PROT_READ) as view:
        sum(view[:: mmap.PAGESIZE])
        mapped = linux.process_memory()
    assert mapped.file_resident - before.file_resident >= 60 * MB
    assert mapped.virtual - before.virtual >= 60 * MB
    assert mapped.committed - before.committed < 32 * MB


@real
def test_the_kernel_peak_survives_a_short_spike() -> None:
    if not linux.restart_peak():
        pytest.skip("the kernel does not let us restart its peak")
    before = linux.process_memory().working_set
    block = bytearray(b"\1") * (96 * MB)
    del block
    assert linux.peak_working_set() - before >= 90 * MB


@real
def test_written_bytes_are_counted(tmp_path: Path) -> None:
    before = linux.process_io()
    if before.source == "none":
        pytest.skip("this kernel keeps no I/O account")
    with (tmp_path / "file").open("wb") as file:
        file.write(b"\1" * (8 * MB))
        file.flush()
        os.fsync(file.fileno())
    after = linux.process_io()
    if _on_disk(tmp_path):
        assert after.write_bytes - before.write_bytes >= 8 * MB


def _on_disk(folder: Path) -> bool:
    from engine.machine.linux_drive import drive_info

    return drive_info(folder).filesystem != "tmpfs"
