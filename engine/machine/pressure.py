"""Whether memory is getting short now: what is left, and what the system itself says of it.

Sampled by whoever wants to know, about once a second; a read takes a millisecond or two. One
thread. Sources: kernel docs accounting/psi.rst and cgroup-v2.rst, Win32
CreateMemoryResourceNotification, xnu kern.memorystatus_vm_pressure_level.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import c_int, c_size_t
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.machine import cgroup
from engine.machine.memory import system_memory
from engine.machine.samples import SystemMemory

PSI = Path("/proc/pressure/memory")
MACOS_LEVEL = b"kern.memorystatus_vm_pressure_level"
MACOS_WARN = 2  # 1 normal, 2 warn, 4 critical
_LOW_MEMORY = 0  # LowMemoryResourceNotification


@dataclass(frozen=True)
class Pressure:
    """available, total: bytes; a limit set on us counts as the total, its page cache as available.

    stall: share of the last 10 s in which some task waited for memory; 0.0 where not counted.
    low: the system says memory is low (Windows, macOS).
    """

    available: int
    total: int
    stall: float = 0.0
    low: bool = False


class PressureGauge:
    """Reads the pressure; keeps open what the system wants kept open."""

    def __init__(
        self,
        memory: Callable[[], SystemMemory] = system_memory,
        stall: Callable[[], float] | None = None,
        low: Callable[[], bool] | None = None,
    ) -> None:
        self._memory = memory
        self._stall = stall or stalled
        self._notification = LowMemory() if low is None and sys.platform == "win32" else None
        self._low = low or (self._notification or macos_low)

    def read(self) -> Pressure:
        """The pressure now. Never raises."""
        memory = self._memory()
        return Pressure(memory.available, memory.total, self._stall(), self._low())

    def close(self) -> None:
        """Close the system's handle."""
        if self._notification is not None:
            self._notification.close()


def stalled(proc: Path = cgroup.PROC_SELF, machine: Path = PSI) -> float:
    """The stall share of our own control group, or of the machine; 0.0 where not counted."""
    groups = (group / "memory.pressure" for group in cgroup.groups("memory", proc))
    for file in (*groups, machine):
        try:
            return some_avg10(file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
    return 0.0


def some_avg10(text: str) -> float:
    """ "some avg10=1.53 …" as 0.0153. Raises ValueError for anything else."""
    fields = dict(part.partition("=")[::2] for part in text.partition("\n")[0].split()[1:])
    if not text.startswith("some ") or "avg10" not in fields:
        raise ValueError("not pressure stall information")
    return float(fields["avg10"]) / 100


def macos_low(library: Any = None) -> bool:
    """macOS: whether the pressure level is above normal; False on other systems."""
    if library is None:
        if sys.platform != "darwin":
            return False
        library = ctypes.CDLL("/usr/lib/libSystem.dylib", use_errno=True)
    level, size = c_int(0), c_size_t(ctypes.sizeof(c_int))
    call = library.sysctlbyname
    failed = call(MACOS_LEVEL, ctypes.byref(level), ctypes.byref(size), None, 0)
    return not failed and level.value >= MACOS_WARN


class LowMemory:
    """Windows' own low-memory notification; False for ever where it cannot be made."""

    def __init__(self, kernel: Any = None) -> None:
        self._kernel = kernel or _kernel32()
        create = self._kernel.CreateMemoryResourceNotification
        create.restype = ctypes.c_void_p
        self._handle = create(_LOW_MEMORY)

    def __call__(self) -> bool:
        state = c_int(0)
        if not self._handle:
            return False
        query = self._kernel.QueryMemoryResourceNotification
        return bool(query(ctypes.c_void_p(self._handle), ctypes.byref(state)) and state.value)

    def close(self) -> None:
        """Close the handle."""
        if self._handle:
            self._kernel.CloseHandle(ctypes.c_void_p(self._handle))
            self._handle = None


def _kernel32() -> Any:
    from engine.machine.windows import kernel32

    return kernel32()
