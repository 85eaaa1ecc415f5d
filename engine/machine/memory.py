"""Memory of this process and of the machine, the same on every system. Any thread."""

from __future__ import annotations

import sys

import psutil

from engine.machine import cgroup
from engine.machine.samples import MemorySample, SystemMemory

if sys.platform == "win32":
    from engine.machine import windows as system
elif sys.platform == "darwin":
    from engine.machine import macos as system
else:
    from engine.machine import linux as system

__all__ = [
    "COUNTS_MAPPED",
    "MemorySample",
    "SystemMemory",
    "mapping_unit",
    "memory_now",
    "occupied",
    "page_file_bytes",
    "peak_working_set",
    "resident_and_committed",
    "restart_peak",
    "system_memory",
]

mapping_unit = system.mapping_unit
page_file_bytes = system.page_file_bytes
peak_working_set = system.peak_working_set
resident_and_committed = system.resident_and_committed
restart_peak = system.restart_peak


# Whether "available" counts the mapped pages in our working set: Linux takes all page cache for
# available; elsewhere pages in use are not.
COUNTS_MAPPED = sys.platform == "linux"


def occupied(sample: MemorySample, counts_mapped: bool = COUNTS_MAPPED) -> int:
    """Memory of ours that `system_memory().available` does not count."""
    return sample.anon if counts_mapped else sample.anon + sample.file_resident


def memory_now() -> MemorySample:
    """This process's memory now."""
    return system.process_memory()


def system_memory() -> SystemMemory:
    """The machine's memory, or the control group's share of it where that is smaller."""
    machine, limit = psutil.virtual_memory(), cgroup.memory_limit()
    total, available = int(machine.total), int(machine.available)
    swap = int(psutil.swap_memory().total)
    if limit is None or limit.limit >= total:
        return SystemMemory(total, available, total, None, swap)
    return SystemMemory(limit.limit, min(available, limit.available), total, limit.limit, swap)
