"""Where we write back what an open model teaches us: one folder a model, all of them size-capped;
beside them the snapshots of conversations, which have a folder and a cap of their own.

Model folders stay as they were converted. Whatever lies here may be deleted at any time. Owns no
file; any thread.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
from pathlib import Path

from engine.config import cache_root
from engine.errors import StorageError
from engine.text import Text

MAX_CACHE_BYTES = 1 << 30
_ENTRY = re.compile(r"[0-9a-f]{32}")
_SNAPSHOTS = "prefix"
_SET_ASIDE = re.compile(_SNAPSHOTS + r"-[0-9a-f]{16}")  # about to be deleted
log = logging.getLogger(__name__)


def model_cache(cache_dir: str | Path | None, model_id: str) -> Path:
    """The folder of one model; it may not exist yet. model_id: a hash in hex."""
    return cache_root(cache_dir) / model_id[:32]


def snapshot_root(cache_dir: str | Path | None) -> Path:
    """The folder of all snapshots; it may not exist yet."""
    return cache_root(cache_dir) / _SNAPSHOTS


def snapshot_bytes(cache_dir: str | Path | None = None) -> int:
    """What all snapshots take on the drive."""
    return _size_and_age(snapshot_root(cache_dir))[0]


def forget_all(cache_dir: str | Path | None = None) -> int:
    """Delete what is kept of conversations so that they need not be read again; bytes that freed.

    All models, all conversations. A model that is open may go on; what it is writing just now is
    lost too. Raises StorageError when something is left.
    """
    root = snapshot_root(cache_dir)
    aside = root.with_name(f"{_SNAPSHOTS}-{secrets.token_hex(8)}")
    try:
        os.rename(root, aside)  # a save that is under way finds its folder gone, and ends
    except OSError:
        aside = root  # it is not there; or, on Windows, a file in it is open
    doomed = [aside, *_folders(root.parent, _SET_ASIDE)]
    freed = sum(_removed(folder) for folder in dict.fromkeys(doomed))
    if any(folder.exists() for folder in doomed):
        raise StorageError(
            Text("Some files in {0} are in use.", root.parent),
            Text("Close Edge0 everywhere and try again."),
        )
    return freed


def trim(keep: Path, limit: int = MAX_CACHE_BYTES) -> None:
    """Delete the entries beside `keep` not used for longest until all are within `limit` bytes."""
    entries = [(*_size_and_age(path), path) for path in _folders(keep.parent, _ENTRY)]
    total = sum(size for size, _, _ in entries)
    for size, _, path in sorted(entries, key=lambda entry: entry[1]):
        if total > limit and path != keep:
            shutil.rmtree(path, ignore_errors=True)
            total -= size


def _removed(folder: Path) -> int:
    """Delete a folder; the bytes that were in it."""
    size, _ = _size_and_age(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return size


def _folders(root: Path, names: re.Pattern[str]) -> list[Path]:
    """Folders named as ours; links and anything else are not touched."""
    try:
        with os.scandir(root) as found:
            return [
                Path(entry.path)
                for entry in found
                if names.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError as error:
        log.info("the cache cannot be looked through: %s", error)
        return []


def _size_and_age(folder: Path) -> tuple[int, float]:
    """Bytes of the files in a folder, and when the newest of them was written."""
    size, newest = 0, 0.0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(parent, name))
            except OSError:  # deleted by another process
                continue
            size, newest = size + status.st_size, max(newest, status.st_mtime)
    return size, newest
