"""The append-only list of a file's finished ranges: what a download keeps when it is killed.

Owns `<file>.part.journal`, which is open only while a line is written (a model may have hundreds
of files); any thread. A range's line is written when its bytes are. `synced` lines
say that everything above is safe on the disk. After a kill all lines count, for the system kept the
bytes; after a crash of the machine only those above the last `synced` do. A torn end is dropped.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from engine.container.files import storage_errors
from engine.hub.intervals import Span

VERSION = 1
SAME_BOOT_S = 5.0  # the time of boot is computed from clocks that are adjusted now and then
_MAX_BYTES = 64 << 20


class RangeJournal:
    """The ranges of one file. spans: what counted when it was opened; etags: by host;
    ranges_end: where the line of the last range noted since then ends."""

    def __init__(self, path: Path, identity: str, boot_time: float) -> None:
        self.path = path
        self._head = _line({"version": VERSION, "file": identity})
        self._boot = _line({"boot": boot_time})
        self._lock = threading.Lock()
        self.ranges_end = 0
        self._closed = False
        with storage_errors(path):
            found = path.read_bytes()[:_MAX_BYTES] if path.is_file() else b""
            lines = _whole_lines(found, self._head)
            self.spans, self.etags = _replayed(lines, boot_time)
            self._end = sum(len(line) for line in lines)
            path.touch()
            self._append((b"" if lines else self._head) + self._boot)

    def add(self, start: int, end: int) -> None:
        """Note a range whose bytes were written."""
        self._note({"range": [start, end]})
        self.ranges_end = self._end

    def add_etag(self, host: str, etag: str) -> None:
        """Note which version of the file a host gave."""
        self.etags[host] = etag
        self._note({"host": host, "etag": etag})

    def mark_synced(self, position: int) -> None:
        """Note that the ranges above `position` are on the disk, and make that durable."""
        self._note({"synced": position}, durably=True)

    def restart(self) -> None:
        """Forget everything."""
        with self._lock, storage_errors(self.path):
            self.spans, self.etags, self._end, self.ranges_end = [], {}, 0, 0
            self._append(self._head + self._boot)

    def close(self) -> None:
        """Note nothing any more."""
        with self._lock:
            self._closed = True

    def _note(self, fields: Mapping[str, object], durably: bool = False) -> None:
        with self._lock, storage_errors(self.path):
            if not self._closed:
                self._append(_line(fields), durably)

    def _append(self, line: bytes, durably: bool = False) -> None:
        """Write behind the last good line; a torn one is overwritten, what is behind it dropped."""
        with open(self.path, "r+b", buffering=0) as file:
            file.seek(self._end)
            file.truncate()
            if file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._end += len(line)
            if durably:
                os.fsync(file.fileno())


def _line(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields).encode("ascii") + b"\n"


def _whole_lines(data: bytes, head: bytes) -> list[bytes]:
    """The lines of a journal of this very file; none if it is another's or not there."""
    if not data.startswith(head):
        return []
    lines = data.splitlines(keepends=True)
    good = 0
    while good < len(lines) and lines[good].endswith(b"\n") and _parsed(lines[good]) is not None:
        good += 1
    return lines[:good]


def _parsed(line: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class _Replay:
    """Reads the lines in order; at each crash of the machine, what was not synced is dropped."""

    def __init__(self) -> None:
        self.etags: dict[str, str] = {}
        self._spans: list[tuple[int, Span]] = []  # with where their lines begin
        self._boot: float | None = None
        self._synced = 0

    def read(self, position: int, fields: Mapping[str, object]) -> None:
        boot, synced, etag = fields.get("boot"), fields.get("synced"), fields.get("etag")
        span = _span(fields.get("range"))
        if isinstance(boot, int | float):
            self.boot(boot)
        elif isinstance(synced, int):
            self._synced = synced
        elif span is not None:
            self._spans.append((position, span))
        elif isinstance(etag, str):
            self.etags[str(fields.get("host"))] = etag

    def boot(self, time: float) -> None:
        if self._boot is not None and abs(time - self._boot) > SAME_BOOT_S:
            self._spans = [entry for entry in self._spans if entry[0] < self._synced]
        self._boot = time

    def spans(self) -> list[Span]:
        return [span for _, span in self._spans]


def _replayed(lines: list[bytes], boot_time: float) -> tuple[list[Span], dict[str, str]]:
    """What counts now, and the versions the hosts gave."""
    replay, position = _Replay(), 0
    for line in lines:
        replay.read(position, _parsed(line) or {})
        position += len(line)
    replay.boot(boot_time)
    return replay.spans(), replay.etags


def _span(value: object) -> Span | None:
    if isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value):
        start, end = value
        return (start, end) if 0 <= start < end else None
    return None
