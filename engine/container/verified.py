"""What is known about a model's bytes without reading them: parts that were never written, and when
every byte was last compared with its hash.

Owns verified.json in the model's folder: sizes and times of the files that were compared. A note
that is missing or damaged counts as none. Any thread.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from engine.container.files import open_checked, storage_errors, write_durably
from engine.errors import StorageError

NOTE_NAME = "verified.json"
_MAX_BYTES = 1 << 20

Verified = Literal["never", "changed", "intact"]


def note_verified(folder: Path, files: Sequence[Path]) -> None:
    """Every byte of these files was right just now. A folder that cannot be written keeps none."""
    with suppress(StorageError, OSError):
        note = {"time": time.time(), "files": _stamps(files)}
        write_durably(folder / NOTE_NAME, json.dumps(note).encode("ascii"))


def forget_verified(folder: Path) -> None:
    """The files are known to be damaged."""
    with suppress(OSError):
        (folder / NOTE_NAME).unlink(missing_ok=True)


def verified(folder: Path, files: Sequence[Path]) -> tuple[Verified, float]:
    """Whether these very files were compared, and when (seconds since 1970, 0 for never)."""
    try:
        with open(folder / NOTE_NAME, "rb") as file:
            note = json.loads(file.read(_MAX_BYTES))
        when, same = float(note["time"]), note["files"] == _stamps(files)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return "never", 0.0
    return ("intact" if same else "changed"), when


def _stamps(files: Sequence[Path]) -> dict[str, list[int]]:
    found = {path.name: path.stat() for path in files}
    return {name: [status.st_size, status.st_mtime_ns] for name, status in found.items()}


def holes(path: Path, size: int) -> Iterator[tuple[int, int]]:
    """[begin, end) of what was never written: it reads as zeros. Not every file system tells.

    A copy that was broken off, or a crash, leaves such ranges in a file of the right size.
    """
    if not hasattr(os, "SEEK_HOLE"):  # Windows
        return
    with open_checked(path) as file, storage_errors(path):
        begin = _seek(file.fileno(), 0, os.SEEK_HOLE, size)
        while begin < size:
            end = _seek(file.fileno(), begin, os.SEEK_DATA, size)
            yield begin, end
            begin = _seek(file.fileno(), end, os.SEEK_HOLE, size)


def _seek(handle: int, start: int, what: int, size: int) -> int:
    """Where the next hole or data begins; `size` for none, also where nobody can tell."""
    try:
        return min(os.lseek(handle, start, what), size) if start < size else size
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP):
            return size
        raise
