"""A drive that can be unplugged: ext4 in a file behind a loop device. Linux and root only.

Unplugged, the file behind it is empty: the kernel answers every read with a real I/O error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.machine import page_cache

SIZE = 32 << 20


class FailingDrive:
    """A read-only drive that holds a copy of a folder, at `path`."""

    def __init__(self, image: Path, path: Path) -> None:
        self.path = path
        self._image = image
        self._data = image.read_bytes()

    def unplug(self) -> None:
        """From now on every read that is in no cache fails."""
        os.truncate(self._image, 0)
        page_cache.forget(file for file in self.path.rglob("*") if file.is_file())

    def plug(self) -> None:
        """The drive is back."""
        with self._image.open("r+b") as file:
            file.write(self._data)


@contextmanager
def failing_drive(folder: Path, content: Path) -> Iterator[FailingDrive]:
    """Mounts a drive with a copy of `content` below `folder`; skips the test where one cannot."""
    if sys.platform != "linux" or os.geteuid() or not shutil.which("mkfs.ext4"):
        pytest.skip("a drive that fails needs Linux, root and mkfs.ext4")
    image, point = folder / "drive.img", folder / "drive"
    image.touch()
    point.mkdir()
    os.truncate(image, SIZE)
    _run("mkfs.ext4", "-q", str(image))
    _mount(image, point, "loop")
    try:
        shutil.copytree(content, point / "model")
    finally:
        _run("umount", str(point))
    _mount(image, point, "loop,ro")
    try:
        drive = FailingDrive(image, point / "model")
        yield drive
        drive.plug()
    finally:
        _run("umount", str(point))


def _mount(image: Path, point: Path, options: str) -> None:
    done = subprocess.run(["mount", "-o", options, str(image), str(point)], capture_output=True)
    if done.returncode:
        pytest.skip(f"no loop device can be mounted here: {done.stderr.decode().strip()}")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
