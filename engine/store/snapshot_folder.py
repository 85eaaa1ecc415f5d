"""Where the KV cache rows of earlier prompts lie: one folder a model, all of them size-capped.

A file holds one block of tokens; its name, a hash of all ids up to its end, comes from
`chat/snapshots.py`. What was used longest ago goes first. Writing is held back by the cap, by the
bytes written today and by free space. Any thread; several processes may share the folders.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.container.files import storage_errors
from engine.machine.disk import drive_info
from engine.machine.samples import DriveKind
from engine.store.cache_dir import snapshot_root
from engine.store.snapshot_file import HEADER_BYTES, Rows, read_block, write_block

FREE_BYTES = 4 << 30  # left on the drive for everything else
DAILY_CAPS = 10  # written a day: so many times the cap
READ_BYTES_S: dict[DriveKind, float] = {  # what files of some MB can count on, unread before
    "nvme": 1.5e9,
    "sata_ssd": 400e6,
    "virtual": 500e6,
    "unknown": 500e6,
    "usb": 100e6,
    "hdd": 80e6,
    "network": 0.0,  # never
}
_LEDGER = "written-today"
_MODEL = re.compile(r"[0-9a-f]{32}")
_FILE = re.compile(r"[0-9a-f]{64}\.kv(\.[0-9]+\.tmp)?")  # a kill may leave a temporary one
_DAY_S = 86_400
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Found:
    """A file of ours. used: when, in nanoseconds, by its time stamp."""

    used: int
    bytes: int
    path: Path


class SnapshotFolder:
    """The blocks of one model. limit: bytes that those of all models may take together."""

    def __init__(self, cache_dir: str | Path | None, model_id: str, limit: int) -> None:
        self.limit = limit
        self._root = snapshot_root(cache_dir)
        self._folder = self._root / model_id[:32]

    def has(self, key: bytes) -> bool:
        """Whether a file of that name is there."""
        return os.path.isfile(self._path(key))

    def read(self, key: bytes, rows: Rows) -> bool:
        """Fill `rows` with a block; False when there is none. A file that is wrong is deleted."""
        path = self._path(key)
        if read_block(path, key, rows):
            return True
        with suppress(OSError):
            path.unlink()
        return False

    def write(self, key: bytes, rows: Rows) -> int:
        """Keep a block; bytes written. Raises StorageError, also when all was forgotten."""
        write_block(self._path(key), key, rows)
        return self.file_bytes(rows.nbytes)

    @staticmethod
    def file_bytes(rows_bytes: int) -> int:
        """What a block takes on the drive."""
        return HEADER_BYTES + rows_bytes

    def used(self, keys: Sequence[bytes]) -> None:
        """These blocks, each on top of the one before, were used now: of a text's blocks the last
        ones go first, for they are of no use without the others.
        """
        now = time.time_ns()
        for depth, key in enumerate(keys):
            with suppress(OSError):
                os.utime(self._path(key), ns=(now, now - 1000 * depth))

    def room(self, wanted: int) -> int:
        """Bytes that may be written now; what was used longest ago is deleted to make room.

        Makes the folders. Raises StorageError.
        """
        with storage_errors(self._folder):
            self._root.parent.mkdir(parents=True, exist_ok=True)
            for folder in (self._root, self._folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            free = shutil.disk_usage(self._folder).free - FREE_BYTES
        today = DAILY_CAPS * self.limit - self._written_today()
        allowed = min(wanted, self.limit, free, today)
        return min(allowed, self.limit - self._trim(self.limit - max(allowed, 0)))

    def read_bytes_s(self) -> float:
        """What reading can count on here; 0 where nothing should be kept: a drive over the network,
        a folder that some service copies away.
        """
        drive = drive_info(self._root)
        return 0.0 if drive.cloud_synced else READ_BYTES_S[drive.kind]

    def note(self, written: int) -> None:
        """Count bytes as written today."""
        ledger = self._root / _LEDGER
        with suppress(OSError):
            ledger.write_text(f"{_today()} {self._written_today() + written}", encoding="ascii")

    def _written_today(self) -> int:
        try:
            with open(self._root / _LEDGER, encoding="ascii") as file:
                day, count = file.read(64).split()
            return max(0, int(count)) if int(day) == _today() else 0
        except (OSError, ValueError):
            return 0

    def _trim(self, target: int) -> int:
        """Delete until the files take at most `target` bytes; what they take then."""
        files = sorted(self._files(), key=lambda file: file.used)
        total = sum(file.bytes for file in files)
        for file in files:
            if total <= target:
                break
            try:
                file.path.unlink()
                total -= file.bytes
            except OSError as error:
                log.info("%s stays: %s", file.path, error)
        return total

    def _files(self) -> Iterator[_Found]:
        for folder in _scan(self._root):
            if _MODEL.fullmatch(folder.name) and folder.is_dir(follow_symlinks=False):
                for entry in _scan(folder.path):
                    if _FILE.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                        with suppress(OSError):  # another process deleted it
                            status = entry.stat(follow_symlinks=False)
                            yield _Found(status.st_mtime_ns, status.st_size, Path(entry.path))

    def _path(self, key: bytes) -> Path:
        return self._folder / f"{key.hex()}.kv"


def _scan(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _today() -> int:
    return int(time.time() // _DAY_S)
