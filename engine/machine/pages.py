"""Anonymous memory for what is read all the time: in huge pages where the system has them."""

from __future__ import annotations

import mmap
import sys


def huge_pages(size: int) -> mmap.mmap:
    """`size` bytes of zeros, aligned to a page; closing gives them back at once.

    Private: Linux gives huge pages to no shared memory unless told to.
    """
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if sys.platform == "linux":
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory
