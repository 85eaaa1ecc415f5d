"""What of a file is in the system's page cache, and putting files out of it. Any thread.

Touches nothing else: other files, and what other programs hold of these, stay where they are.
Sources: man 2 mincore, man 2 posix_fadvise.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

Range = tuple[int, int, int]  # (index of the file, offset, bytes)


def forget(paths: Iterable[Path]) -> bool:
    """Drop these files from the page cache; False where the system offers no way (not Linux)."""
    if sys.platform != "linux":
        return False
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)
    return True


def cached_shares(files: Sequence[Path], ranges: Sequence[Range]) -> list[float] | None:
    """The share of each range that is in the page cache; None where the system does not tell.

    Linux tells only those who may write a file, and says "all of it" to others.
    """
    if sys.platform == "win32" or not all(_may_ask(path) for path in files):
        return None
    found = [0.0] * len(ranges)
    try:
        for number, path in enumerate(files):
            mine = [i for i, part in enumerate(ranges) if part[0] == number]
            shares = _shares_of(path, [ranges[i][1:] for i in mine]) if mine else []
            for i, share in zip(mine, shares, strict=True):
                found[i] = share
    except (OSError, ValueError):
        return None
    return found


def _may_ask(path: Path) -> bool:
    if sys.platform == "win32":
        return False
    try:
        return os.access(path, os.W_OK) or path.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _shares_of(path: Path, parts: Sequence[tuple[int, int]]) -> list[float]:
    """Raises OSError, and ValueError for an empty file."""
    mincore = ctypes.CDLL(None, use_errno=True).mincore
    with path.open("rb") as file:
        view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with closing(view):
        address = np.frombuffer(view, np.uint8).ctypes.data
        return [_share(mincore, address, offset, size) for offset, size in parts]


def _share(mincore: Callable[..., Any], address: int, offset: int, size: int) -> float:
    page = mmap.PAGESIZE
    begin = offset // page * page
    flags = np.empty(-(-(offset + size - begin) // page), np.uint8)
    length, target = ctypes.c_size_t(offset + size - begin), ctypes.c_void_p(flags.ctypes.data)
    if mincore(ctypes.c_void_p(address + begin), length, target):
        raise OSError(ctypes.get_errno(), "mincore failed")
    return float((flags & 1).mean())
