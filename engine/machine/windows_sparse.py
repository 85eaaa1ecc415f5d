"""Marks a file as sparse on Windows. Any thread.

Sources: learn.microsoft.com fileapi CreateFileW; winioctl FSCTL_SET_SPARSE (no input means yes; FAT
and exFAT refuse it, which does no harm).
"""

from __future__ import annotations

from ctypes import byref, c_uint32, c_void_p
from pathlib import Path
from typing import Any

from engine.machine.windows import kernel32

_GENERIC_WRITE = 0x40000000
_SHARE_ALL = 7  # FILE_SHARE_READ | WRITE | DELETE
_OPEN_EXISTING = 3
_SET_SPARSE = 0x900C4  # FSCTL_SET_SPARSE
_INVALID_HANDLE = c_void_p(-1).value


def make_sparse(path: Path, kernel: Any = None) -> None:
    """Let a file have holes, where the file system can."""
    kernel = kernel or kernel32()
    create = kernel.CreateFileW
    create.restype = c_void_p
    access, share = c_uint32(_GENERIC_WRITE), c_uint32(_SHARE_ALL)
    handle = create(str(path), access, share, None, _OPEN_EXISTING, 0, None)
    if handle in (None, _INVALID_HANDLE):
        return
    none, returned, file = c_uint32(0), c_uint32(), c_void_p(handle)
    try:
        kernel.DeviceIoControl(
            file, c_uint32(_SET_SPARSE), None, none, None, none, byref(returned), None
        )
    finally:
        kernel.CloseHandle(file)
