"""A folder on a drive that takes no writes, not even root's: a read-only bind mount. Linux."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder takes no writes meanwhile; skips the test where that cannot be had."""
    if sys.platform != "linux" or os.geteuid():
        pytest.skip("a read-only drive needs Linux and root")
    if _mount("--bind", str(folder), str(folder)):
        pytest.skip("nothing can be mounted here")
    try:
        if _mount("-o", "remount,ro,bind", str(folder)):
            pytest.skip("nothing can be mounted read-only here")
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def _mount(*options: str) -> int:
    return subprocess.run(["mount", *options], capture_output=True).returncode
