"""Plain records of what the machine says about itself: memory, disk, processor.

Nothing is read here. Three sizes, three words: working set = pages resident now, committed =
private memory promised by the system, virtual = address space. Sizes are bytes, counts totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DriveKind = Literal["nvme", "sata_ssd", "hdd", "usb", "network", "virtual", "unknown"]


@dataclass(frozen=True)
class MemorySample:
    """This process's memory at one moment.

    working_set: resident pages (Windows WorkingSetSize, Linux VmRSS, macOS phys_footprint).
    committed: private commit on Windows, private writable total on Linux, phys_footprint on macOS.
    virtual: size of the address space in use.
    anon: resident pages that no file backs. file_resident: those a file backs.
    major_faults: page faults that had to read the disk; minor_faults: the others.
    """

    working_set: int = 0
    committed: int = 0
    virtual: int = 0
    anon: int = 0
    file_resident: int = 0
    minor_faults: int = 0
    major_faults: int = 0


@dataclass(frozen=True)
class SystemMemory:
    """Memory this process could use: a cgroup limit below the physical size counts as the total.

    swap: room for pages outside memory (Windows: the page files).
    """

    total: int
    available: int
    physical: int
    cgroup_limit: int | None = None
    swap: int = 0


@dataclass(frozen=True)
class ProcessIO:
    """Bytes this process read and wrote so far.

    source "block": counted below the page cache (a cache hit is not a read). "calls": counted at
    read and write calls, cache hits included, mapped pages not. "none": the system would not say.
    """

    read_bytes: int = 0
    write_bytes: int = 0
    source: Literal["block", "calls", "none"] = "none"


@dataclass(frozen=True)
class DiskCounters:
    """Traffic of all drives of the machine, whoever caused it."""

    read_bytes: int = 0
    write_bytes: int = 0
    reads: int = 0


@dataclass(frozen=True)
class DriveInfo:
    """The drive under a folder. `kind` is what it calls itself: labels lie, a probe measures.

    cloud_service: name of the service that syncs the folder, "" when none was recognised.
    temperature_c: as the drive reports it without special rights; None when it does not.
    """

    kind: DriveKind = "unknown"
    filesystem: str = ""
    device: str = ""
    free_bytes: int = 0
    total_bytes: int = 0
    removable: bool = False
    cloud_service: str = ""
    temperature_c: float | None = None

    @property
    def cloud_synced(self) -> bool:
        """Whether a sync service watches the folder."""
        return bool(self.cloud_service)


@dataclass(frozen=True)
class CpuInfo:
    """The processor. `threads` is how many compute threads fit it and the limits set on us."""

    name: str
    logical: int
    threads: int
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GpuInfo:
    """A graphics processor. memory: bytes of its own, 0 where it shares the machine's."""

    name: str
    memory: int
