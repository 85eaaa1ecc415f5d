"""One file on its way: what is there, what is missing, where its bytes come from.

Owns `<name>.part` and its journal. Everything here is guarded by the board's lock. The file gets
its name only when its hash is right.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from engine.container.files import storage_error, storage_errors
from engine.hub.intervals import Intervals, Span
from engine.hub.journal import RangeJournal
from engine.hub.plan import RemoteFile
from engine.machine.sparse import make_sparse

RANGE_BYTES = 8 << 20
SYNC_BYTES = 64 << 20
MOST_AT_ONCE, LEFT_PER_RANGE = 8, 32  # a range more for 32 that are left behind it


@dataclass(eq=False)
class Claim:
    """A range that one worker fetches. position: where it writes next; whole: the server sends
    the file from its first byte, whatever we ask for."""

    part: Part
    start: int
    end: int
    generation: int
    whole: bool = False
    position: int = 0
    recorded: int = 0

    def __post_init__(self) -> None:
        self.position = self.recorded = self.start


class Part:
    """A file of the plan. finished: it has its name."""

    def __init__(
        self,
        file: RemoteFile,
        url: str,
        folder: Path,
        boot_time: float,
        range_bytes: int,
        verified: bool = False,
    ) -> None:
        self.file, self.url = file, url
        self.path = folder / file.name
        self.part_path = folder / f"{file.name}.part"
        self.location = ""  # where the hub redirected us to
        self.generation = 0  # changes when the file starts anew: older claims are void
        self.restarts = self.discards = 0
        self.sequential = False
        self.claims: list[Claim] = []
        self.pending: deque[Span] = deque()
        self.have = Intervals()
        self.journal: RangeJournal | None = None
        self.writing = threading.Lock()  # a system lets one thread write a file: others would spin
        self._synced = self._synced_total = 0
        self._range_bytes = range_bytes
        named = self.path.is_file() and self.path.stat().st_size == file.size
        self.finished = named and verified
        if not self.finished:
            self._open(boot_time, named)

    def _open(self, boot_time: float, named: bool) -> None:
        """Find what is there. A file that has its name and was not verified is, from its bytes."""
        with storage_errors(self.part_path):
            if named:
                os.replace(self.path, self.part_path)
            self.part_path.touch()
            there = self.part_path.stat().st_size
        make_sparse(self.part_path)
        name = f"{self.file.sha256 or self.file.git_sha1} {self.file.size}"
        path = self.part_path.with_name(f"{self.part_path.name}.journal")
        self.journal = RangeJournal(path, name, boot_time)
        limit = min(there, self.file.size)
        spans = [(0, limit)] if named else self.journal.spans
        self.have = Intervals((start, min(end, limit)) for start, end in spans)
        self._synced_total = self.have.total
        self._plan_missing()

    @property
    def complete(self) -> bool:
        """Whether every byte is there; they may still be the wrong ones."""
        return self.have.total == self.file.size and not self.claims

    @property
    def done(self) -> int:
        """Bytes there, those on their way to the journal included."""
        if self.finished:
            return self.file.size
        return self.have.total + sum(c.position - c.recorded for c in self.claims)

    def take(self) -> Claim | None:
        """The next range to fetch, or None."""
        if self.finished or not self.pending or (self.sequential and self.claims):
            return None
        if self.sequential:
            start, end = self.pending[0][0], self.file.size
            self.pending.clear()
        else:
            start, end = self._next_span()
        claim = Claim(self, start, end, self.generation, self.sequential)
        self.claims.append(claim)
        return claim

    def _next_span(self) -> Span:
        """The next range; several in one while much is left: a request costs a round trip."""
        start, end = self.pending.popleft()
        for _ in range(min(MOST_AT_ONCE, len(self.pending) // LEFT_PER_RANGE)):
            if self.pending[0][0] != end:
                break
            end = self.pending.popleft()[1]
        return start, end

    def record(self, claim: Claim) -> None:
        """Note what a claim has written since the last time."""
        if claim.generation != self.generation or claim.position <= claim.recorded:
            return
        self.have.add(claim.recorded, claim.position)
        if self.journal is not None:
            self.journal.add(claim.recorded, claim.position)
        claim.recorded = claim.position

    def give_back(self, claim: Claim) -> None:
        """End a claim; what it has not fetched is wanted again."""
        self.claims.remove(claim)
        try:
            self.record(claim)
        finally:
            if claim.generation == self.generation:
                if self.sequential:
                    self._plan_missing()
                elif claim.recorded < claim.end:
                    self.pending.appendleft((claim.recorded, claim.end))

    def restart(self) -> None:
        """Forget all bytes."""
        self.generation += 1
        self.location = ""
        self.have = Intervals()
        if self.journal is not None:
            self.journal.restart()
        self._synced = self._synced_total = 0
        with storage_errors(self.part_path):
            os.truncate(self.part_path, 0)
        self._plan_missing()

    def make_sequential(self) -> None:
        """The server knows no ranges: one connection at a time, from the first byte."""
        self.sequential = True

    def etag(self, host: str) -> str:
        """The version a host gave before; "" when it is not known, or not to be relied on."""
        if self.journal is None or self.restarts > 1:  # a server that renames it at every answer
            return ""
        return self.journal.etags.get(host, "")

    def note_etag(self, host: str, etag: str) -> None:
        """Remember the version a host gives; weak ones cannot be asked for."""
        reliable = etag.startswith('"') and self.restarts <= 1
        if self.journal is not None and reliable and not self.etag(host):
            self.journal.add_etag(host, etag)

    def is_much_unsynced(self) -> bool:
        """Whether to sync without waiting: at the end there is then little left to wait for."""
        return self.have.total - self._synced_total >= (1 if self.complete else SYNC_BYTES)

    def sync(self) -> None:
        """Make all noted ranges survive a crash of the machine. Called without the lock."""
        journal = self.journal
        if journal is None or journal.ranges_end == self._synced:
            return
        position, self._synced_total = journal.ranges_end, self.have.total
        try:
            with open(self.part_path, "r+b", buffering=0) as file:
                os.fsync(file.fileno())
        except FileNotFoundError:  # it has just got its name
            return
        except OSError as error:
            raise storage_error(self.part_path, error) from error
        journal.mark_synced(position)
        self._synced = position

    def close(self) -> None:
        """Release the journal."""
        if self.journal is not None:
            self.journal.close()

    def _plan_missing(self) -> None:
        self.pending = deque(
            piece
            for start, end in self.have.missing(self.file.size)
            for piece in _cut(start, end, self._range_bytes)
        )


def _cut(start: int, end: int, size: int) -> list[Span]:
    """A gap in ranges that end at multiples of `size`."""
    cuts = [start, *range((start // size + 1) * size, end, size), end]
    return list(pairwise(cuts))
