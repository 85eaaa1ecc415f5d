"""How many compute threads fit this machine and the limits set on us. Any thread; holds nothing."""

from __future__ import annotations

import math
import os
import platform
import sys
from pathlib import Path

from engine.machine import cgroup
from engine.machine.samples import CpuInfo

if sys.platform == "win32":
    from engine.machine import windows as system
elif sys.platform == "darwin":
    from engine.machine import macos as system
else:
    from engine.machine import linux as system

__all__ = ["CpuInfo", "compute_threads", "cpu_info", "largest_cache"]

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def compute_threads() -> int:
    """One thread per physical performance core we may run on, within the CPU quota; at least 1."""
    quota = cgroup.cpu_quota()
    cores = system.performance_cores()
    return max(1, min(cores, math.floor(quota) if quota else cores))


def cpu_info() -> CpuInfo:
    """The processor, for showing."""
    name = system.cpu_name() or platform.processor() or platform.machine()
    return CpuInfo(name, os.cpu_count() or 1, compute_threads(), system.cpu_flags())


def largest_cache(caches: Path = CACHES) -> int:
    """Bytes of the largest processor cache; 0 where the system does not say so in a file."""
    texts = [file.read_text().strip() for file in caches.glob("index*/size")]
    return max((int(text[:-1]) << 10 for text in texts if text[:-1].isdigit()), default=0)
