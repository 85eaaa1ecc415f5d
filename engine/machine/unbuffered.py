"""Reading a file past the page cache: O_DIRECT, F_NOCACHE or FILE_FLAG_NO_BUFFERING. Never writes.

For measuring; the engine's own lanes do this in native code. Offsets, lengths and buffer addresses
must be multiples of 4096. One reader per thread: Windows serialises the reads of one handle.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from ctypes import c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Protocol

_NO_BUFFERING = 0x20000000  # FILE_FLAG_NO_BUFFERING
_GENERIC_READ = 0x80000000
_SHARE_ALL = 7  # FILE_SHARE_READ | WRITE | DELETE
_OPEN_EXISTING = 3
_INVALID_HANDLE = c_void_p(-1).value
_LONG_PATH = 248  # from here on Windows wants the \\?\ form


class RawReader(Protocol):
    """An open file. `unbuffered` False: the file system refused, reads go through a cache."""

    unbuffered: bool

    def read_into(self, buffer: mmap.mmap, length: int, offset: int) -> int:
        """Read `length` bytes at `offset` into the start of `buffer`; returns the bytes read."""

    def close(self) -> None:
        """Close the file."""


def open_unbuffered(path: Path) -> RawReader:
    """Open `path` for reading past the page cache; raises OSError when it cannot be opened."""
    return WindowsReader(path) if sys.platform == "win32" else PosixReader(path)


class PosixReader:
    """Linux and macOS."""

    def __init__(self, path: Path) -> None:
        self._fd, self.unbuffered = _open_posix(path)

    def read_into(self, buffer: mmap.mmap, length: int, offset: int) -> int:
        """Read at an offset; without O_DIRECT the range is dropped from the page cache first."""
        if sys.platform == "win32":
            raise OSError("preadv does not exist on Windows")
        if sys.platform == "linux" and not self.unbuffered:
            os.posix_fadvise(self._fd, offset, length, os.POSIX_FADV_DONTNEED)
        with memoryview(buffer)[:length] as view:
            return os.preadv(self._fd, [view], offset)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def _open_posix(path: Path) -> tuple[int, bool]:
    if sys.platform == "linux":
        direct = _open_direct(path)
        return (os.open(path, os.O_RDONLY), False) if direct is None else (direct, True)
    fd = os.open(path, os.O_RDONLY)
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(fd, fcntl.F_NOCACHE, 1)
    return fd, sys.platform == "darwin"


def _open_direct(path: Path) -> int | None:
    """A descriptor with O_DIRECT, or None where it is refused at open (tmpfs) or at read (FUSE)."""
    if sys.platform != "linux":
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return None
    try:
        with mmap.mmap(-1, mmap.PAGESIZE) as page:
            os.preadv(fd, [page], 0)
    except OSError:
        os.close(fd)
        return None
    return fd


class Overlapped(ctypes.Structure):
    """OVERLAPPED; on a handle opened without FILE_FLAG_OVERLAPPED it only carries the offset."""

    _fields_ = (
        ("Internal", c_void_p),
        ("InternalHigh", c_void_p),
        ("Offset", c_uint64),
        ("hEvent", c_void_p),
    )


class WindowsReader:
    """Windows."""

    def __init__(self, path: Path, kernel: Any = None) -> None:
        from engine.machine.windows import kernel32

        self._kernel = kernel or kernel32()
        self.unbuffered = True
        self._handle = self._open(path)

    def _open(self, path: Path) -> c_void_p:
        create = self._kernel.CreateFileW
        create.restype = c_void_p
        access, flags = c_uint32(_GENERIC_READ), c_uint32(_NO_BUFFERING)
        name = extended(str(path))
        handle = create(name, access, c_uint32(_SHARE_ALL), None, _OPEN_EXISTING, flags, None)
        if handle in (None, _INVALID_HANDLE):
            raise _windows_error(str(path))
        return c_void_p(handle)

    def read_into(self, buffer: mmap.mmap, length: int, offset: int) -> int:
        """Read at an offset with ReadFile."""
        target = (ctypes.c_char * length).from_buffer(buffer)
        done, where = c_uint32(), Overlapped(Offset=offset)
        read = self._kernel.ReadFile
        ok = read(self._handle, target, c_uint32(length), ctypes.byref(done), ctypes.byref(where))
        if not ok:
            raise _windows_error("unbuffered read")
        return int(done.value)

    def close(self) -> None:
        """Close the handle."""
        self._kernel.CloseHandle(self._handle)


def extended(path: str) -> str:
    r"""A path Windows takes beyond 260 characters: \\?\ before a drive, \\?\UNC\ for a share."""
    if len(path) < _LONG_PATH or path.startswith("\\\\?\\"):
        return path
    return "\\\\?\\UNC\\" + path[2:] if path.startswith("\\\\") else "\\\\?\\" + path


def _windows_error(what: str) -> OSError:
    if sys.platform == "win32":
        error = ctypes.WinError(ctypes.get_last_error())
        error.filename = what
        return error
    return OSError(what)
