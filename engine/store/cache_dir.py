"""Where we write back what an open model teaches us: one folder a model, all of them size-capped.

Model folders stay as they were converted. Whatever lies here may be deleted at any time. Owns no
file; any thread.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path

import platformdirs

MAX_CACHE_BYTES = 1 << 30
_ENTRY = re.compile(r"[0-9a-f]{32}")
log = logging.getLogger(__name__)


def model_cache(cache_dir: str | Path | None, model_id: str) -> Path:
    """The folder of one model; it may not exist yet. model_id: a hash in hex."""
    root = cache_dir or platformdirs.user_cache_dir("Edge0", appauthor=False)
    return Path(root) / model_id[:32]


def trim(keep: Path, limit: int = MAX_CACHE_BYTES) -> None:
    """Delete the entries beside `keep` not used for longest until all are within `limit` bytes."""
    try:
        entries = [(*_size_and_age(path), path) for path in _entries(keep.parent)]
    except OSError as error:
        log.warning("the cache cannot be looked through: %s", error)
        return
    total = sum(size for size, _, _ in entries)
    for size, _, path in sorted(entries, key=lambda entry: entry[1]):
        if total > limit and path != keep:
            shutil.rmtree(path, ignore_errors=True)
            total -= size


def _entries(root: Path) -> list[Path]:
    """Folders named as ours; links and anything else are not touched."""
    if not root.is_dir():
        return []
    with os.scandir(root) as found:
        return [
            Path(entry.path)
            for entry in found
            if _ENTRY.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]


def _size_and_age(folder: Path) -> tuple[int, float]:
    """Bytes of the files in a folder, and when the newest of them was written."""
    size, newest = 0, 0.0
    for parent, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(parent, name))
            size, newest = size + status.st_size, max(newest, status.st_mtime)
    return size, newest
