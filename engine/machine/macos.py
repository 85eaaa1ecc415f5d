"""What macOS says about this process, its processor and its drives. Any thread.

Every function takes the library it calls as an argument, so tests hand in fakes that record the
exact calls. Sources: <libproc.h> proc_pid_rusage, <sys/resource.h> rusage_info_v2, man sysctl,
man diskutil.
"""

from __future__ import annotations

import ctypes
import os
import plistlib
import subprocess
import sys
from collections.abc import Callable
from ctypes import c_int, c_size_t, c_uint8, c_uint64
from pathlib import Path
from typing import Any

import psutil

from engine.machine.samples import DriveInfo, DriveKind, MemorySample, ProcessIO

_RUSAGE_INFO_V2 = 2
_NETWORK = ("smbfs", "nfs", "afpfs", "webdav", "macfuse", "osxfuse")
_DISKUTIL_SECONDS = 10


class RusageInfo(ctypes.Structure):
    """struct rusage_info_v2."""

    _fields_ = (
        ("ri_uuid", c_uint8 * 16),
        ("ri_user_time", c_uint64),
        ("ri_system_time", c_uint64),
        ("ri_pkg_idle_wkups", c_uint64),
        ("ri_interrupt_wkups", c_uint64),
        ("ri_pageins", c_uint64),
        ("ri_wired_size", c_uint64),
        ("ri_resident_size", c_uint64),
        ("ri_phys_footprint", c_uint64),
        ("ri_proc_start_abstime", c_uint64),
        ("ri_proc_exit_abstime", c_uint64),
        ("ri_child_times", c_uint64 * 6),
        ("ri_diskio_bytesread", c_uint64),
        ("ri_diskio_byteswritten", c_uint64),
    )


def libc() -> Any:
    """libSystem, which holds proc_pid_rusage and sysctlbyname."""
    if sys.platform == "darwin":
        return ctypes.CDLL("/usr/lib/libSystem.dylib", use_errno=True)
    raise OSError("libSystem exists on macOS only")


def process_memory(library: Any = None) -> MemorySample:
    """This process's memory. The footprint is what Activity Monitor calls Memory."""
    usage = _rusage(library or libc())
    footprint, resident = int(usage.ri_phys_footprint), int(usage.ri_resident_size)
    minor, major = _faults()
    return MemorySample(
        working_set=footprint,
        committed=footprint,
        virtual=int(psutil.Process().memory_info().vms),
        anon=footprint,
        file_resident=max(0, resident - footprint),
        minor_faults=minor,
        major_faults=major,
    )


def resident_and_committed(library: Any = None) -> tuple[int, int]:
    """The footprint twice: macOS has no commit charge of a process."""
    footprint = int(_rusage(library or libc()).ri_phys_footprint)
    return footprint, footprint


def restart_peak() -> bool:
    """macOS cannot restart its own peak counter."""
    return False


def peak_working_set() -> int:
    """Not used: see `restart_peak`."""
    return 0


def process_io(library: Any = None) -> ProcessIO:
    """Bytes this process moved to and from drives."""
    usage = _rusage(library or libc())
    return ProcessIO(int(usage.ri_diskio_bytesread), int(usage.ri_diskio_byteswritten), "block")


def mapping_unit() -> int:
    """Bytes of a mapped file that one touch may bring into the working set: a fault cluster."""
    return 64 << 10


def page_file_bytes() -> int | None:
    """Only Windows backs commit with a page file."""
    return None


def performance_cores(library: Any = None) -> int:
    """Cores of the fastest level (Apple silicon), or all physical cores (Intel)."""
    library = library or libc()
    for name in (b"hw.perflevel0.physicalcpu", b"hw.physicalcpu"):
        value, size = c_int(0), c_size_t(ctypes.sizeof(c_int))
        if not library.sysctlbyname(name, ctypes.byref(value), ctypes.byref(size), None, 0):
            return max(1, int(value.value))
    return os.cpu_count() or 1


def cpu_name(library: Any = None) -> str:
    """The processor's name ("Apple M3")."""
    value = ctypes.create_string_buffer(256)
    size = c_size_t(len(value))
    call = (library or libc()).sysctlbyname
    failed = call(b"machdep.cpu.brand_string", value, ctypes.byref(size), None, 0)
    return "" if failed else value.value.decode("utf-8", "replace")


def cpu_flags() -> frozenset[str]:
    """Not listed; the native library asks the processor itself."""
    return frozenset()


def _diskutil(folder: Path) -> bytes:
    command = ["/usr/sbin/diskutil", "info", "-plist", str(folder)]
    return subprocess.run(command, capture_output=True, timeout=_DISKUTIL_SECONDS).stdout


def _mount_point(folder: Path) -> Path:
    return next((p for p in (folder, *folder.parents) if os.path.ismount(p)), folder)


def drive_info(folder: Path, ask: Callable[[Path], bytes] = _diskutil) -> DriveInfo:
    """The drive under `folder`, without its free space; unknown when diskutil does not answer."""
    try:
        found = plistlib.loads(ask(_mount_point(folder)))
    except (OSError, subprocess.SubprocessError, plistlib.InvalidFileException, ValueError):
        return DriveInfo()
    filesystem = str(found.get("FilesystemType", ""))
    kind = _kind(filesystem, str(found.get("BusProtocol", "")), found.get("SolidState"))
    loose = bool(found.get("RemovableMedia") or found.get("Ejectable")) or kind == "usb"
    return DriveInfo(kind, filesystem, str(found.get("DeviceIdentifier", "")), removable=loose)


def _kind(filesystem: str, bus: str, solid: bool | None) -> DriveKind:
    if filesystem.startswith(_NETWORK):
        return "network"
    fixed: dict[str, DriveKind] = {
        "PCI-Express": "nvme", "Apple Fabric": "nvme", "USB": "usb", "Secure Digital": "usb",
        "Disk Image": "virtual", "Virtual Interface": "virtual",
    }  # fmt: skip
    if bus in fixed:
        return fixed[bus]
    if bus in ("SATA", "ATA", "SAS"):
        return "sata_ssd" if solid else "hdd"
    return "unknown"


def _rusage(library: Any) -> RusageInfo:
    usage = RusageInfo()
    library.proc_pid_rusage(os.getpid(), _RUSAGE_INFO_V2, ctypes.byref(usage))
    return usage


def _faults() -> tuple[int, int]:
    if sys.platform == "win32":  # never runs there; the module is read by its type checker
        return 0, 0
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt, usage.ru_majflt
