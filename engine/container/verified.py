"""What is known about a model's bytes without reading them: parts that were never written, and when
every byte was last compared with its hash.

Owns a note in the cache, named after the model's manifest and which file that is, as a copy has its
own: sizes and times of the files that were compared. Model folders stay as they are; a note that is
missing or damaged counts as none. Any thread.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from engine.config import cache_root
from engine.container.files import open_checked, storage_errors, write_durably
from engine.container.manifest import MANIFEST_NAME
from engine.errors import StorageError

_MAX_BYTES = 1 << 20
DAY_S = 86_400  # a clock may have been set back; a note of a far future is wrong

Verified = Literal["never", "changed", "damaged", "intact"]


def note_path(folder: Path) -> Path:
    """Where a model's note is kept. Raises OSError when it has no manifest.

    A copy may keep every size and time, and be damaged where the other is not: its inode differs.
    """
    with open(folder / MANIFEST_NAME, "rb") as file:
        which = f"{os.fstat(file.fileno()).st_ino}:".encode("ascii")
        name = hashlib.sha256(which + file.read()).hexdigest()[:32]
    return cache_root() / "verified" / f"{name}.json"


def note_verified(folder: Path, files: Sequence[Path], intact: bool = True) -> None:
    """Every byte of these files was compared just now. Where nothing can be written, no note is."""
    with suppress(StorageError, OSError):
        note = {"time": time.time(), "folder": str(folder), "intact": intact}
        path = note_path(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, json.dumps({**note, "files": _stamps(files)}).encode("ascii"))


def forget_verified(folder: Path) -> None:
    """Nothing is known: it was a copy that is not kept."""
    with suppress(OSError):
        note_path(folder).unlink(missing_ok=True)


def verified(folder: Path, files: Sequence[Path]) -> tuple[Verified, float]:
    """Whether these very files were compared, and when (seconds since 1970, 0 for never).

    A moved model is known by its files; a copy of a model that was compared is not the same.
    """
    try:
        with open(note_path(folder), "rb") as file:
            note = json.loads(file.read(_MAX_BYTES))
        when, same = float(note["time"]), note["files"] == _stamps(files)
        here, intact = note["folder"] == str(folder), note["intact"] is True
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return "never", 0.0
    if not 0 < when < time.time() + DAY_S:
        return "never", 0.0
    if same:
        return ("intact" if intact else "damaged"), when
    return ("changed", when) if here else ("never", 0.0)


def _stamps(files: Sequence[Path]) -> dict[str, list[int]]:
    found = {path.name: path.stat() for path in files}
    return {name: [status.st_size, status.st_mtime_ns] for name, status in found.items()}


def holes(path: Path, size: int) -> Iterator[tuple[int, int]]:
    """[begin, end) of what was never written: it reads as zeros. Not every file system tells.

    A copy that was broken off, or a crash, leaves such ranges in a file of the right size.
    """
    if sys.platform == "win32":
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
