"""Careful reads of files that come from anywhere: regular files only, sizes capped, links kept
inside the folder, JSON strict. Memory: never more than the bytes asked for; no file stays open."""

from __future__ import annotations

import json
import stat
from io import FileIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import CheckpointError, StorageError
from engine.text import Text

FETCH_AGAIN = Text("The file is damaged or incomplete; fetch it again.")
SMALL_FILE = 64 << 20
_CHUNK = 16 << 20
_LFS_POINTER = b"version https://git-lfs"


def open_regular(path: Path) -> FileIO:
    """Opens a regular file for unbuffered reads. Raises CheckpointError if there is none."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise CheckpointError(
                Text("{0} is not an ordinary file.", path), Text("Choose the model's files.")
            )
        return path.open("rb", buffering=0)
    except FileNotFoundError as error:
        raise CheckpointError(
            Text("{0} does not exist.", path), Text("Fetch the missing file.")
        ) from error
    except (OSError, ValueError) as error:
        raise storage_error(path, error) from error


def list_names(folder: Path) -> list[str]:
    """Names of the files in a folder, sorted."""
    try:
        return sorted(path.name for path in folder.iterdir() if not path.is_dir())
    except OSError as error:
        raise storage_error(folder, error) from error


def file_size(path: Path) -> int:
    """Bytes of a regular file."""
    with open_regular(path) as file:
        return file.seek(0, 2)


def read_range(path: Path, offset: int, count: int) -> NDArray[np.uint8]:
    """`count` bytes from `offset` in fresh memory. CheckpointError if the file is shorter."""
    with open_regular(path) as file:
        try:
            if offset < 0 or count < 0 or offset + count > file.seek(0, 2):
                text = Text("{0} ends before byte {1}.", path, offset + count)
                raise CheckpointError(text, FETCH_AGAIN)
            result = np.empty(count, np.uint8)
            file.seek(offset)
            _fill(file, result.data, path)
        except OSError as error:
            raise storage_error(path, error) from error
    return result


def _fill(file: FileIO, target: memoryview, path: Path) -> None:
    done = 0
    while done < len(target):
        count = file.readinto(target[done:])
        if not count:
            text = Text("{0} became shorter while it was read.", path)
            raise CheckpointError(text, FETCH_AGAIN)
        done += count


def read_columns(
    path: Path, offset: int, rows: int, row_bytes: int, span: tuple[int, int]
) -> NDArray[np.uint8]:
    """Bytes span[0]:span[1] of each of `rows` rows of `row_bytes`: uint8 (rows, span width)."""
    first, last = span
    if span == (0, row_bytes):
        return read_range(path, offset, rows * row_bytes).reshape(rows, row_bytes)
    result = np.empty((rows, last - first), np.uint8)
    step = max(1, _CHUNK // max(row_bytes, 1))
    for row in range(0, rows, step):
        count = min(step, rows - row)
        part = read_range(path, offset + row * row_bytes, count * row_bytes)
        result[row : row + count] = part.reshape(count, row_bytes)[:, first:last]
    return result


def read_small(path: Path, cap: int = SMALL_FILE) -> bytes:
    """A whole side file. Raises CheckpointError above `cap` bytes."""
    size = file_size(path)
    if size > cap:
        raise CheckpointError(
            Text("{0} has {1} bytes; at most {2} are accepted.", path, size, cap),
            Text("Check where the model comes from; this file should be small."),
        )
    return read_range(path, 0, size).tobytes()


def inside(folder: Path, name: str) -> Path:
    """The file `name` of `folder`; refuses names and links that lead out of it.

    Links into a `blobs` folder beside `snapshots` are how the hub's cache stores files.
    """
    if name in ("", ".", "..") or any(c in name for c in "/\\:\0"):
        raise CheckpointError(
            Text("{0}: {1} is not a plain file name.", folder, repr(name)),
            Text("Use an unmodified model folder."),
        )
    path = folder / name
    allowed = [folder.resolve()]
    if folder.parent.name == "snapshots":
        allowed.append((folder.parent.parent / "blobs").resolve())
    if _target(path).parent not in allowed:
        raise CheckpointError(
            Text("{0} is a link that leads out of the model's folder.", path),
            Text("Put the file itself into the model folder."),
        )
    return path


def _target(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # links in a circle
        raise storage_error(path, error) from error


def refuse_pointer(start: bytes, path: Path) -> None:
    """Refuses the stub that a clone without Git LFS leaves in place of a large file."""
    if start.startswith(_LFS_POINTER[: max(len(start), 1)]):
        raise CheckpointError(
            Text("{0} is only a Git LFS pointer, not the file itself.", path),
            Text("Run `git lfs pull`, or download the file."),
        )


def parse_json(data: bytes, where: str) -> dict[str, object]:
    """A JSON object; refuses other JSON, repeated keys and anything that does not parse."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        text = Text("{0} is not valid JSON: {1}.", where, error)
        raise CheckpointError(text, FETCH_AGAIN) from error
    if not isinstance(value, dict):
        raise CheckpointError(Text("{0} does not hold a JSON object.", where), FETCH_AGAIN)
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is repeated")
    return result


def storage_error(path: Path, error: Exception) -> StorageError:
    """The error for a file that exists but does not let itself be read."""
    reason = getattr(error, "strerror", None) or error
    return StorageError(
        Text("{0} cannot be read: {1}.", path, reason),
        Text("Check the drive and the permissions."),
    )
