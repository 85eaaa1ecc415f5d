"""Makes this process yield to all others, at the processor and at the drive: for long conversions.

Call it first, on the main thread: on Linux threads inherit both from the one that starts them. What
a system refuses is left as it is. Windows' own background mode is not used: it also cuts the
working set to 32 MB. Sources: man ioprio_set, setiopolicy_np; SetPriorityClass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from ctypes import c_int
from typing import Any

import psutil

NICE = 10
_IDLE_CLASS = 3  # Linux: the drive is ours while nobody else wants it
_BELOW_NORMAL, _VERY_LOW = 0x4000, 0  # Windows: priority class, I/O priority
_DISK, _WHOLE_PROCESS, _THROTTLE = 0, 0, 3  # macOS: <sys/resource.h> IOPOL_…


def yield_to_others(
    platform: str = sys.platform, process: Any = None, libc: Callable[[], Any] | None = None
) -> None:
    """Lower this process's priorities, for good."""
    process = psutil.Process() if process is None else process
    if platform == "win32":
        _try(process.nice, _BELOW_NORMAL)
        _try(process.ionice, _VERY_LOW)
        return
    _try(process.nice, max(NICE, process.nice()))
    if platform == "linux":
        _try(process.ionice, _IDLE_CLASS)
    elif platform == "darwin":
        from engine.machine import macos

        library = (libc or macos.libc)()
        _try(library.setiopolicy_np, c_int(_DISK), c_int(_WHOLE_PROCESS), c_int(_THROTTLE))


def _try(step: Callable[..., object], *values: Any) -> None:
    with suppress(psutil.Error, OSError, ValueError):
        step(*values)
