"""The folder a conversion will become: one conversion at a time, and what may be overwritten.

Owns a lock file beside the target while a conversion runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from engine.container.files import storage_error, storage_errors
from engine.container.manifest import MANIFEST_NAME
from engine.container.reader import read_manifest
from engine.errors import Edge0Error, StorageError


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Holds the target's lock; StorageError when another conversion has it."""
    path = out.with_name(f".{out.name}.edge0-lock")
    with storage_errors(out.parent):
        out.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StorageError(
            f"Another conversion is writing {out} right now.", "Wait for it, or stop it first."
        ) from None
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps an open file
            path.unlink()
        lock.release()


def found_complete(out: Path, identity: str, overwrite: bool) -> bool:
    """Whether `out` is this very container already; refuses to touch what is not a container."""
    if not out.exists():
        return False
    if out.is_dir() and not any(out.iterdir()):
        return False
    known = (out / MANIFEST_NAME).is_file()
    if known and _identity(out) == identity:
        return True
    if not known:
        raise StorageError(
            f"{out} exists and is not a converted model.", "Choose a new folder as the target."
        )
    if not overwrite:
        raise StorageError(
            f"{out} exists and was converted from another model or with other options.",
            "Choose a new folder, or add --overwrite to replace it.",
        )
    return False


def _identity(out: Path) -> str:
    try:
        return read_manifest(out).id
    except Edge0Error:  # a damaged one is as good as another one: it may be replaced if asked
        return ""
