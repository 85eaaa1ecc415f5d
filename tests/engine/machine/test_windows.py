"""Windows calls against fakes that record them; layouts against offsets in Microsoft's headers."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any

import pytest

from engine.machine import windows
from engine.machine.samples import MemorySample, ProcessIO
from tests.helpers.fake_dll import FakeDll, fill

GB = 1 << 30


def process_list(entries: list[tuple[int, int, int]]) -> bytes:
    """SYSTEM_PROCESS_INFORMATION entries of (pid, private working set, hard faults)."""
    parts = []
    for index, (pid, private, hard) in enumerate(entries):
        entry = bytearray(256)
        offset = 0 if index == len(entries) - 1 else 256
        struct.pack_into("<IIQI", entry, 0, offset, 3, private, hard)
        struct.pack_into("<Q", entry, 80, pid)
        parts.append(bytes(entry))
    return b"".join(parts)


def nt_with(data: bytes, needs: int = 0) -> FakeDll:
    def query(_: int, buffer: Any, size: Any, needed: Any) -> int:
        if size.value < needs:
            needed._obj.value = needs
            return ctypes.c_int32(0xC0000004).value
        ctypes.memmove(buffer, data, len(data))
        return 0

    return FakeDll(NtQuerySystemInformation=query)


def kernel(**more: Any) -> FakeDll:
    return FakeDll(
        K32GetProcessMemoryInfo=fill(
            WorkingSetSize=3 * GB, PrivateUsage=2 * GB, PageFaultCount=1000
        ),
        GlobalMemoryStatusEx=fill(
            ullTotalVirtual=128 * GB,
            ullAvailVirtual=108 * GB,
            ullTotalPhys=16 * GB,
            ullTotalPageFile=20 * GB,
        ),
        GetProcessIoCounters=fill(ReadTransferCount=700, WriteTransferCount=30),
        **more,
    )


def test_process_memory_and_the_exact_calls() -> None:
    fake = kernel()
    nt = nt_with(process_list([(4, 1, 1), (os.getpid(), GB, 40), (8, 2, 2)]))
    assert windows.process_memory(fake, nt) == MemorySample(
        working_set=3 * GB,
        committed=2 * GB,
        virtual=20 * GB,
        anon=GB,
        file_resident=2 * GB,
        minor_faults=960,
        major_faults=40,
    )
    this = ctypes.c_void_p(-1).value
    assert fake.calls == [
        ("K32GetProcessMemoryInfo", (this, "&", 80)),
        ("GlobalMemoryStatusEx", ("&",)),
    ]
    assert nt.calls == [("NtQuerySystemInformation", (5, "&", 1 << 19, "&"))]


def test_a_long_process_list_is_asked_for_again() -> None:
    nt = nt_with(process_list([(os.getpid(), 5, 6)]), needs=1_000_000)
    assert windows.process_memory(kernel(), nt).major_faults == 6
    assert [call[1][2] for call in nt.calls] == [1 << 19, 1_065_536]


@pytest.mark.parametrize("answer", [-1073741816, 0])
def test_without_the_process_list_the_rest_still_counts(answer: int) -> None:
    """Refused, or answered with a list we are not on."""
    found = windows.process_memory(kernel(), FakeDll(NtQuerySystemInformation=answer))
    assert (found.working_set, found.anon, found.major_faults) == (3 * GB, 0, 0)
    assert found.minor_faults == 1000


def test_io_and_page_file() -> None:
    assert windows.process_io(kernel()) == ProcessIO(700, 30, "calls")
    assert windows.process_io(FakeDll(GetProcessIoCounters=0)) == ProcessIO()
    assert windows.page_file_bytes(kernel()) == 4 * GB
    none = FakeDll(GlobalMemoryStatusEx=fill(ullTotalPhys=16 * GB, ullTotalPageFile=16 * GB))
    assert windows.page_file_bytes(none) == 0


def cores(*entries: tuple[int, int]) -> Any:
    data = b"".join(
        struct.pack("<IIBB20xHQH6x", 0, 48, 1, efficiency, 1, mask, 0)
        for efficiency, mask in entries
    )

    def answer(relation: int, buffer: Any, length: Any) -> int:
        assert relation == 0
        if buffer is None:
            length._obj.value = len(data)
            return 0
        ctypes.memmove(buffer, data, len(data))
        return 1

    return answer


def affinity(mask: int) -> Any:
    def answer(_: Any, process: Any, system: Any) -> int:
        process._obj.value, system._obj.value = mask, 0xFF
        return 1

    return answer


@pytest.mark.parametrize(("mask", "count"), [(0xFF, 2), (0x0F, 2), (0x03, 1), (0xF0, 4), (0, 2)])
def test_performance_cores_by_efficiency_class_and_affinity(mask: int, count: int) -> None:
    """Two fast cores with two threads each, four slow ones; pinned to the slow, those count."""
    layout = cores((1, 0x03), (1, 0x0C), (0, 0x10), (0, 0x20), (0, 0x40), (0, 0x80))
    fake = kernel(GetLogicalProcessorInformationEx=layout, GetProcessAffinityMask=affinity(mask))
    assert windows.performance_cores(fake) == count


def test_offsets_are_those_of_the_windows_headers() -> None:
    offsets = {
        (windows.MemoryCounters, "PrivateUsage"): 72,
        (windows.MemoryStatus, "ullAvailVirtual"): 48,
        (windows.IoCounters, "WriteTransferCount"): 32,
        (windows.ProcessEntry, "WorkingSetPrivateSize"): 8,
        (windows.ProcessEntry, "HardFaultCount"): 16,
        (windows.ProcessEntry, "UniqueProcessId"): 80,
    }
    for (kind, name), offset in offsets.items():
        assert getattr(kind, name).offset == offset, name
    assert ctypes.sizeof(windows.MemoryCounters) == 80
    assert ctypes.sizeof(windows.MemoryStatus) == 64
