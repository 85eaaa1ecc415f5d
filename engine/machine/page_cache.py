"""Puts files out of the system's page cache, so that a measurement starts cold. Any thread.

Touches nothing else: other files, and what other programs hold of these, stay where they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path


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
