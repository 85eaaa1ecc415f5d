"""The append-only list of what a conversion has durably written, one JSON line an item.

Owns journal.jsonl in the unfinished folder, on the writing thread. First line: the plan's identity;
then one line of fixed length for each item of the plan, in order. Lines are added only after their
data was synced, so whatever is listed survives any crash; a torn last line is dropped.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from engine.container.files import storage_errors

JOURNAL_NAME = "journal.jsonl"
_HASH_LENGTH = 64


class Journal:
    """Hashes of the finished items 0, 1, 2, … of a plan; a journal of another plan is replaced."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.path = folder / JOURNAL_NAME
        self._start = _line("plan", identity)
        self._pending: list[str] = []
        with storage_errors(self.path):
            found = self.path.read_bytes() if self.path.is_file() else b""
            fits = found.startswith(self._start)
            self.hashes = _hashes(found[len(self._start) :]) if fits else []
            self._file = open(self.path, "r+b" if fits else "w+b")  # noqa: SIM115
            if not fits:
                self._file.write(self._start)
        try:
            self.cut(len(self.hashes))
        except BaseException:
            self.close()
            raise

    def add(self, sha256: str) -> None:
        """Note the next item; it counts once `commit` returns."""
        self._pending.append(sha256)

    def commit(self) -> None:
        """Make the noted items durable. Their data must be synced already."""
        with storage_errors(self.path):
            self._file.write(b"".join(_line("sha256", sha256) for sha256 in self._pending))
            self._sync()
        self.hashes += self._pending
        self._pending = []

    def cut(self, count: int) -> None:
        """Forget all items from number `count` on."""
        self.hashes, self._pending = self.hashes[:count], []
        with storage_errors(self.path):
            self._file.seek(len(self._start) + count * len(_line("sha256", "0" * _HASH_LENGTH)))
            self._file.truncate()
            self._sync()

    def close(self) -> None:
        """Release the file; what was not committed is forgotten."""
        with suppress(OSError):  # a full disk was reported already
            self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())


def belongs_to(folder: Path, identity: str) -> bool:
    """Whether a folder holds a journal for this plan."""
    path = folder / JOURNAL_NAME
    return path.is_file() and path.read_bytes().startswith(_line("plan", identity))


def _line(key: str, value: str) -> bytes:
    return json.dumps({key: value}).encode("utf-8") + b"\n"


def _hashes(lines: bytes) -> list[str]:
    """The hashes of the leading whole lines."""
    result: list[str] = []
    for line in lines.splitlines(keepends=True):
        sha256 = line[len('{"sha256": "') :][:_HASH_LENGTH].decode("ascii", "replace")
        if line != _line("sha256", sha256) or len(sha256) != _HASH_LENGTH:
            break
        result.append(sha256)
    return result
