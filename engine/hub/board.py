"""The state of a download that its threads share: which ranges are free, taken, done; what failed.

One lock guards it and all parts. Workers `claim` ranges and give them back; the verifier waits for
bytes; the caller's thread reads `status`. Nothing here blocks for longer than a small write.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from engine.errors import DownloadError, Stopped
from engine.hub.part import Claim, Part
from engine.text import Text


@dataclass(frozen=True)
class Waiting:
    """A worker that will try again."""

    reason: str
    seconds: float


@dataclass(frozen=True)
class Status:
    """What the caller shows. busy: workers at work or waiting; waiting: those that wait."""

    done: int
    what: str
    busy: int
    waiting: tuple[Waiting, ...]
    message: str
    all_there: bool


class Board:
    """Shared by the threads of one download."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = list(parts)
        self.error: BaseException | None = None
        self.closed = False
        self.arrivals = 0  # grows whenever bytes arrive; tells a dead network from a bad range
        self._condition = threading.Condition()
        self._waiting: dict[int, Waiting] = {}
        self._message = ""

    def claim(self) -> Claim | None:
        """The next range, waiting for one; None when there is nothing left to do."""
        with self._condition:
            while not self.closed and not self._all_finished():
                for part in self.parts:
                    if (claim := part.take()) is not None:
                        return claim
                self._condition.wait()
            return None

    @contextmanager
    def working(self, claim: Claim) -> Iterator[None]:
        """While a claim is worked on; whatever it has not fetched afterwards is free again."""
        try:
            yield
        finally:
            with self._condition:
                claim.part.give_back(claim)
                self._condition.notify_all()

    def arrived(self, claim: Claim, count: int, step: int) -> None:
        """`count` more bytes of a claim are written. Raises Stopped when the claim is void."""
        claim.position += count
        self.arrivals += 1
        if self.closed or claim.generation != claim.part.generation:
            raise Stopped()
        if claim.position - claim.recorded >= step:
            with self._condition:
                claim.part.record(claim)
                self._condition.notify_all()

    def restart(self, claim: Claim, reason: str) -> None:
        """The file is another one now: its bytes are dropped, once; then only its hash decides."""
        part = claim.part
        with self._condition:
            if claim.generation != part.generation:
                return
            part.restarts += 1
            if part.restarts > 2:
                raise DownloadError(
                    Text("{0} changes on the server all the time: {1}.", part.file.name, reason),
                    Text(
                        "Try again later, or use another hub address; check whether the network"
                        " asks for a login first."
                    ),
                )
            self._message = Text("{0} starts anew: {1}", part.file.name, reason)
            part.restart()
            self._condition.notify_all()

    def discard(self, part: Part) -> None:
        """All bytes are there and they are wrong: fetch them once more, then give up."""
        with self._condition:
            part.discards += 1
            part.restart()
            if part.discards > 1:
                raise DownloadError(
                    Text(
                        "{0} has other content than the hub promises, twice in a row.",
                        part.file.name,
                    ),
                    Text("Try again later, or use another hub address."),
                )
            self._message = Text("{0} arrived damaged: fetching it once more", part.file.name)
            self._condition.notify_all()

    def no_ranges(self, part: Part) -> None:
        """The server sends whole files only."""
        with self._condition:
            part.make_sequential()
            self._message = Text("The server sends {0} only as a whole", part.file.name)

    def accepted(self, claim: Claim, url: str, host: str, etag: str) -> None:
        """A host gives the range: remember its version, and where a redirect led."""
        part = claim.part
        with self._condition:
            if claim.generation == part.generation:
                part.note_etag(host, etag)
                part.location = "" if url == part.url else url

    def moved(self, part: Part) -> None:
        """Ask the hub again where the bytes are."""
        with self._condition:
            part.location = ""

    def wait(self, worker: int, reason: str, seconds: float) -> None:
        """A worker waits before it tries again; ends early when the download does."""
        with self._condition:
            self._waiting[worker] = Waiting(reason, seconds)
            self._condition.wait_for(lambda: self.closed, seconds)
            del self._waiting[worker]

    def wait_for_prefix(self, part: Part, position: int, generation: int) -> int:
        """How many bytes are there from the start on, once that is more than `position`.

        -1 when the part started anew, or the download ended.
        """

        def ready() -> bool:
            grown = part.have.prefix() > position and generation == part.generation
            return self.closed or generation != part.generation or grown or part.complete

        with self._condition:
            self._condition.wait_for(ready)
            if self.closed or generation != part.generation:
                return -1
            return part.have.prefix()

    def wait_until_complete(self, part: Part, generation: int) -> bool:
        """Whether no worker touches the part any more; False when the download ended."""
        with self._condition:
            self._condition.wait_for(
                lambda: self.closed or generation != part.generation or part.complete
            )
            return not self.closed and generation == part.generation

    def finish(self, part: Part) -> None:
        """The part's file has its name."""
        with self._condition:
            part.finished = True
            self._condition.notify_all()

    def fail(self, error: BaseException) -> None:
        """End the download with an error; the first one counts."""
        with self._condition:
            if self.error is None and not self.closed:
                self.error = error
            self.closed = True
            self._condition.notify_all()

    def close(self) -> None:
        """End the download: every thread leaves at its next step."""
        with self._condition:
            self.closed = True
            self._condition.notify_all()

    def wait_until_over(self, seconds: float) -> bool:
        """Wait a moment; whether the download is over."""
        with self._condition:
            return self._condition.wait_for(lambda: self.closed or self._all_finished(), seconds)

    def status(self) -> Status:
        """What to show now."""
        with self._condition:
            current = next((p for p in self.parts if not p.finished), None)
            claims = sum(len(part.claims) for part in self.parts)
            return Status(
                done=sum(part.done for part in self.parts),
                what=current.file.name if current else "",
                busy=claims + len(self._waiting),
                waiting=tuple(self._waiting.values()),
                message=self._message,
                all_there=all(part.finished or part.complete for part in self.parts),
            )

    def _all_finished(self) -> bool:
        return all(part.finished for part in self.parts)
