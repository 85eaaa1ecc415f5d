"""File-system steps of reader and writer: safe opening, durable writing, errors in our words.

Owns no open file. Never follows a link inside a model folder and never opens anything but regular
files, so that a hostile folder can neither lead outside nor make a read hang.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.errors import ContainerError, StorageError
from engine.stop import StopFlag
from engine.text import Text, gb

SPARE_BYTES = 64 << 20  # manifest, tokenizer and what the file system needs itself
_FULL = {errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}
VERIFY_CHUNK = 8 << 20


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turns OSError into StorageError: disk full, permission denied, drive gone."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error


def storage_error(path: Path, error: OSError) -> StorageError:
    """The StorageError for an OSError met at `path`."""
    if error.errno in _FULL or getattr(error, "winerror", 0) == 112:
        return StorageError(
            Text("The disk is full: {0} could not be written.", path),
            Text("Free some space and run the same command again: it goes on where it stopped."),
        )
    if isinstance(error, PermissionError):
        return StorageError(
            Text("Permission denied: {0}.", path),
            Text("Choose another folder, or change its permissions."),
        )
    if error.errno == errno.EROFS:
        return StorageError(
            Text("{0} cannot be written: its drive is read-only.", path),
            Text("Choose another folder."),
        )
    reason = error.strerror or str(error)
    return StorageError(
        Text("{0}: {1}.", path, reason), Text("Check that the drive is connected and healthy.")
    )


def checked_size(path: Path) -> int:
    """Bytes of a regular file of a model folder; ContainerError when missing, a link or special."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        raise ContainerError(
            Text("{0} is missing.", path), Text("Convert or download the model again.")
        ) from None
    except OSError as error:
        raise storage_error(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise ContainerError(
            Text("{0} is not a regular file but a link, folder or device.", path),
            Text("Put the file itself into the model folder."),
        )
    return status.st_size


def open_checked(path: Path) -> BinaryIO:
    """An unbuffered reader of a regular file of a model folder."""
    checked_size(path)
    with storage_errors(path):
        return open(path, "rb", buffering=0)


def read_range(file: BinaryIO, path: Path, offset: int, target: memoryview) -> None:
    """Fill `target` from `offset`; StorageError when the file ends or the drive fails."""
    done = 0
    with storage_errors(path):
        file.seek(offset)
        while done < len(target):
            count = file.readinto(target[done:])  # type: ignore[attr-defined]
            if not count:
                raise StorageError(
                    Text("{0} ends early, at byte {1}.", path, offset + done),
                    Text("The file is cut short: convert or download the model again."),
                )
            done += count


def hash_range(path: Path, offset: int, size: int, stop: StopFlag) -> str:
    """SHA-256 of part of a file, in hexadecimal."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(min(size, VERIFY_CHUNK)))
    with open_checked(path) as file:
        for start in range(0, size, VERIFY_CHUNK):
            stop.check()
            part = buffer[: min(VERIFY_CHUNK, size - start)]
            read_range(file, path, offset + start, part)
            digest.update(part)
    return digest.hexdigest()


def check_space(folder: Path, needed: int) -> None:
    """Raise StorageError unless the drive of `folder` has room for so many more bytes."""
    with storage_errors(folder):
        free = shutil.disk_usage(folder).free
    if needed + SPARE_BYTES > free:
        sizes = (gb(needed + SPARE_BYTES), gb(free))
        raise StorageError(
            Text("The disk of {0} is too full: {1} are needed, {2} are free.", folder, *sizes),
            Text("Free some space or choose another drive, then try again: it goes on."),
        )


def write_durably(path: Path, data: bytes) -> None:
    """Write a small file so that after a crash either the old or the new one is there, whole."""
    temporary = path.with_name(path.name + ".tmp")
    with storage_errors(path):
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)


def sync_folder(path: Path) -> None:
    """Make renames inside a folder durable; Windows does that by itself."""
    if sys.platform == "win32":
        return
    with storage_errors(path):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
