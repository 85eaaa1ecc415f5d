"""What Windows says about this process and its processor, through documented calls. Any thread.

Every function takes the libraries it calls as an argument, so tests hand in fakes that record the
exact calls. Sources: learn.microsoft.com psapi (PROCESS_MEMORY_COUNTERS_EX), sysinfoapi
(GlobalMemoryStatusEx, GetLogicalProcessorInformationEx), winbase (GetProcessIoCounters), winternl.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from ctypes import c_size_t, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

from engine.machine.samples import MemorySample, ProcessIO

CURRENT_PROCESS = c_void_p(-1)  # what GetCurrentProcess() always returns
_RELATION_PROCESSOR_CORE = 0
_SYSTEM_PROCESS_INFORMATION = 5
_LENGTH_MISMATCH = 0xC0000004  # NTSTATUS STATUS_INFO_LENGTH_MISMATCH


class MemoryCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS_EX."""

    _fields_ = (
        ("cb", c_uint32),
        ("PageFaultCount", c_uint32),
        ("PeakWorkingSetSize", c_size_t),
        ("WorkingSetSize", c_size_t),
        ("QuotaPeakPagedPoolUsage", c_size_t),
        ("QuotaPagedPoolUsage", c_size_t),
        ("QuotaPeakNonPagedPoolUsage", c_size_t),
        ("QuotaNonPagedPoolUsage", c_size_t),
        ("PagefileUsage", c_size_t),
        ("PeakPagefileUsage", c_size_t),
        ("PrivateUsage", c_size_t),
    )


class MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (
        ("dwLength", c_uint32),
        ("dwMemoryLoad", c_uint32),
        ("ullTotalPhys", c_uint64),
        ("ullAvailPhys", c_uint64),
        ("ullTotalPageFile", c_uint64),
        ("ullAvailPageFile", c_uint64),
        ("ullTotalVirtual", c_uint64),
        ("ullAvailVirtual", c_uint64),
        ("ullAvailExtendedVirtual", c_uint64),
    )


class IoCounters(ctypes.Structure):
    """IO_COUNTERS."""

    _fields_ = (
        ("ReadOperationCount", c_uint64),
        ("WriteOperationCount", c_uint64),
        ("OtherOperationCount", c_uint64),
        ("ReadTransferCount", c_uint64),
        ("WriteTransferCount", c_uint64),
        ("OtherTransferCount", c_uint64),
    )


class ProcessEntry(ctypes.Structure):
    """Head of SYSTEM_PROCESS_INFORMATION (64-bit), as far as we read it."""

    _fields_ = (
        ("NextEntryOffset", c_uint32),
        ("NumberOfThreads", c_uint32),
        ("WorkingSetPrivateSize", c_uint64),
        ("HardFaultCount", c_uint32),
        ("NumberOfThreadsHighWatermark", c_uint32),
        ("Times", c_uint64 * 4),
        ("ImageNameLengths", c_uint16 * 4),
        ("ImageNameBuffer", c_uint64),
        ("BasePriority", c_uint64),
        ("UniqueProcessId", c_uint64),
    )


def kernel32() -> Any:
    """kernel32.dll with GetLastError kept for us."""
    return _library("kernel32")


def ntdll() -> Any:
    """ntdll.dll."""
    return _library("ntdll")


def _library(name: str) -> Any:
    if sys.platform == "win32":
        return ctypes.WinDLL(name, use_last_error=True)
    raise OSError(f"{name} exists on Windows only")


def process_memory(kernel: Any = None, nt: Any = None) -> MemorySample:
    """This process's memory. Walks the process list: fine twice a second, not twenty times."""
    kernel = kernel or kernel32()
    counters, entry = _memory_counters(kernel), _process_entry(nt or ntdll())
    resident = int(counters.WorkingSetSize)
    private = min(resident, int(entry.WorkingSetPrivateSize)) if entry else 0
    hard = int(entry.HardFaultCount) if entry else 0
    status = _memory_status(kernel)
    return MemorySample(
        working_set=resident,
        committed=int(counters.PrivateUsage),
        virtual=int(status.ullTotalVirtual - status.ullAvailVirtual),
        anon=private,
        file_resident=resident - private if entry else 0,
        minor_faults=max(0, int(counters.PageFaultCount) - hard),
        major_faults=hard,
    )


def resident_and_committed(kernel: Any = None) -> tuple[int, int]:
    """Working set and private commit only: one cheap call."""
    counters = _memory_counters(kernel or kernel32())
    return int(counters.WorkingSetSize), int(counters.PrivateUsage)


def restart_peak() -> bool:
    """Windows cannot restart its own peak counter."""
    return False


def peak_working_set() -> int:
    """Not used: see `restart_peak`."""
    return 0


def process_io(kernel: Any = None) -> ProcessIO:
    """Bytes in read and write calls. Page-ins of mapped files are not in it, cache hits are."""
    counters = IoCounters()
    call = (kernel or kernel32()).GetProcessIoCounters
    if not call(CURRENT_PROCESS, ctypes.byref(counters)):
        return ProcessIO()
    read, written = int(counters.ReadTransferCount), int(counters.WriteTransferCount)
    return ProcessIO(read, written, "calls")


def mapping_unit() -> int:
    """Bytes of a mapped file that one touch may bring into the working set: a fault cluster."""
    return 64 << 10


def page_file_bytes(kernel: Any = None) -> int | None:
    """Commit limit beyond physical memory: the page files' size, 0 when they were switched off."""
    status = _memory_status(kernel or kernel32())
    return max(0, int(status.ullTotalPageFile) - int(status.ullTotalPhys))


def performance_cores(kernel: Any = None) -> int:
    """Cores of the fastest efficiency class we may run on."""
    kernel = kernel or kernel32()
    allowed = _affinity(kernel)
    cores = [(c, mask) for c, mask in _cores(kernel) if allowed == 0 or mask & allowed]
    fastest = max((efficiency for efficiency, _ in cores), default=0)
    count = sum(efficiency == fastest for efficiency, _ in cores)
    return count or max(1, (os.cpu_count() or 2) // 2)


def cpu_name() -> str:
    """The processor's name from the registry."""
    if sys.platform == "win32":
        import winreg

        key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as handle:
            return str(winreg.QueryValueEx(handle, "ProcessorNameString")[0]).strip()
    return ""


def cpu_flags() -> frozenset[str]:
    """Windows has no list to read; the native library asks the processor itself."""
    return frozenset()


def _memory_counters(kernel: Any) -> MemoryCounters:
    counters = MemoryCounters(cb=ctypes.sizeof(MemoryCounters))
    kernel.K32GetProcessMemoryInfo(CURRENT_PROCESS, ctypes.byref(counters), counters.cb)
    return counters


def _memory_status(kernel: Any) -> MemoryStatus:
    status = MemoryStatus(dwLength=ctypes.sizeof(MemoryStatus))
    kernel.GlobalMemoryStatusEx(ctypes.byref(status))
    return status


def _process_entry(nt: Any) -> ProcessEntry | None:
    """Our entry of the process list: the only documented place of hard faults before psutil 8."""
    size, needed = 1 << 19, c_uint32()
    for _ in range(4):
        buffer = ctypes.create_string_buffer(size)
        query = nt.NtQuerySystemInformation
        status = query(_SYSTEM_PROCESS_INFORMATION, buffer, c_uint32(size), ctypes.byref(needed))
        if status & 0xFFFFFFFF != _LENGTH_MISMATCH:
            return _find_process(buffer, os.getpid()) if status >= 0 else None
        size = max(2 * size, int(needed.value) + (1 << 16))
    return None


def _find_process(buffer: ctypes.Array[ctypes.c_char], pid: int) -> ProcessEntry | None:
    offset, head = 0, ctypes.sizeof(ProcessEntry)
    while offset + head <= len(buffer):
        entry = ProcessEntry.from_buffer_copy(buffer, offset)
        if entry.UniqueProcessId == pid:
            return entry
        if not entry.NextEntryOffset:
            return None
        offset += int(entry.NextEntryOffset)
    return None


def _affinity(kernel: Any) -> int:
    process, system = c_size_t(), c_size_t()
    call = kernel.GetProcessAffinityMask
    ok = call(CURRENT_PROCESS, ctypes.byref(process), ctypes.byref(system))
    return int(process.value) if ok else 0


def _cores(kernel: Any) -> Iterator[tuple[int, int]]:
    """(efficiency class, mask of logical processors) of each core; higher classes are faster."""
    length, call = c_uint32(), kernel.GetLogicalProcessorInformationEx
    call(_RELATION_PROCESSOR_CORE, None, ctypes.byref(length))
    buffer = ctypes.create_string_buffer(length.value)
    if not length.value or not call(_RELATION_PROCESSOR_CORE, buffer, ctypes.byref(length)):
        return
    offset = 0
    while offset + 48 <= length.value:
        _, size, _, efficiency, mask = struct.unpack_from("<IIBB22xQ", buffer, offset)
        yield efficiency, mask
        offset += size
