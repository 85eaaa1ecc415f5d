"""One connection of a download: claims ranges, fetches them, writes them where they belong.

Owns its lane and, while it fetches, a handle of the part. Trusts no header: a range must be the one
asked for, of the file we know. Everything that fails is told to the board.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from typing import BinaryIO

from engine.container.files import storage_errors
from engine.errors import DownloadError, Edge0Error, Stopped
from engine.hub.access import Access, origin
from engine.hub.answer import Answer, NetworkError
from engine.hub.board import Board
from engine.hub.lane import Lane, Transport
from engine.hub.part import Claim
from engine.hub.policy import DownloadPolicy
from engine.hub.refusals import TRY_LATER, Headers, is_temporary, refusal, trouble, wait_s
from engine.text import Text

PIECE = 4 << 20  # few turns between the threads: each must get the interpreter's lock again
WRITE = 64 << 10  # a larger write asks for page-cache blocks that a virtual machine has to find
_EXPIRED = (401, 403, 404, 410)  # from a storage host: its signed address is too old
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")


class _Changed(Exception):
    """The server has another version of the file than the one begun."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class _NoRanges(Exception):
    """The server answers a range with the whole file."""


class Worker(threading.Thread):
    """Fetches until there is nothing left to fetch."""

    def __init__(
        self, number: int, board: Board, model: str, transport: Transport, policy: DownloadPolicy
    ) -> None:
        super().__init__(name=f"edge0-download-{number}", daemon=True)
        self._number, self._board, self._model = number, board, model
        self._policy = policy
        self._access: Access = transport.access
        self._lane = Lane(transport)
        self._buffer = memoryview(bytearray(PIECE))
        self._failures = 0
        self._arrivals = 0  # the board's, when we last failed

    def abort(self) -> None:
        """Wake a blocked read. Any thread."""
        self._lane.abort()

    def run(self) -> None:
        """Work until the board has no more ranges."""
        try:
            while (claim := self._board.claim()) is not None:
                self._try(claim)
        except Stopped:
            pass
        except BaseException as error:
            self._board.fail(error)
        finally:
            self._lane.close()

    def _try(self, claim: Claim) -> None:
        try:
            with self._board.working(claim):
                self._fetch(claim)
            self._failures = 0
        except NetworkError as error:
            if not self._board.closed:
                self._back_off(error)
        except _Changed as error:
            self._board.restart(claim, error.reason)
        except _NoRanges:
            self._board.no_ranges(claim.part)
        except Stopped:  # the claim was void, or the download is over: claim() knows
            return

    def _back_off(self, error: NetworkError) -> None:
        """Wait, longer each time; give up when nothing at all has arrived for many tries."""
        progress = self._board.arrivals != self._arrivals
        self._arrivals = self._board.arrivals
        self._failures = 1 if progress else self._failures + 1
        if self._failures >= self._policy.attempts:
            raise DownloadError(
                Text("The download of {0} gave up: {1}.", self._model, error.reason),
                Text("Check that this computer is online. {0}", TRY_LATER),
            )
        delay = self._policy.delay_s(self._failures)
        self._board.wait(self._number, error.reason, max(delay, error.wait_s or 0.0))

    def _fetch(self, claim: Claim) -> None:
        part = claim.part
        answer = self._lane.get(
            part.location or part.url, lambda url: _range_headers(claim, origin(url))
        )
        try:
            self._accept(claim, answer)
            with (
                storage_errors(part.part_path),
                open(part.part_path, "r+b", buffering=0) as file,
            ):
                self._store(claim, answer, file)
        finally:
            answer.close()

    def _accept(self, claim: Claim, answer: Answer) -> None:
        """Whether the body is what we asked for; raises when it is not."""
        if answer.status == 206:
            _check_range(claim, answer.headers)
        elif answer.status == 200:
            _check_whole(claim, answer)
        elif answer.status == 416:
            raise _Changed(Text("the server has a shorter file"))
        else:
            raise self._refused(claim, answer)
        part, etag = claim.part, answer.headers.get("ETag") or ""
        known = part.etag(answer.host)
        if known and etag and etag != known:
            raise _Changed(Text("the file changed on the server"))
        self._board.accepted(claim, answer.url, answer.host, etag)

    def _refused(self, claim: Claim, answer: Answer) -> Exception:
        status, url = answer.status, answer.url
        if url != claim.part.url and status in _EXPIRED and not self._access.trusts(url):
            self._board.moved(claim.part)
            return NetworkError(Text("the address at {0} expired ({1})", answer.server, status))
        error: Edge0Error = refusal(status, answer.headers, url, self._model, self._access)
        if is_temporary(status):
            return NetworkError(trouble(status, url), wait_s(answer.headers))
        return error

    def _store(self, claim: Claim, answer: Answer, file: BinaryIO) -> None:
        """Body to disk. Raises NetworkError when it ends early or trickles."""
        pace = _Pace(self._policy)
        if claim.whole:
            self._skip(answer, claim.start, pace)
        file.seek(claim.position)
        while claim.position < claim.end:
            piece = left = self._piece(answer, claim.end - claim.position)
            with claim.part.writing:
                while left:
                    left = left[file.write(left[:WRITE]) :]
            self._board.arrived(claim, len(piece), self._policy.range_bytes)
            pace.count(len(piece))

    def _skip(self, answer: Answer, count: int, pace: _Pace) -> None:
        """Read past what we have already."""
        while count > 0:
            size = len(self._piece(answer, count))
            count -= size
            pace.count(size)

    def _piece(self, answer: Answer, limit: int) -> memoryview:
        """What comes next, in the worker's buffer. Raises NetworkError when nothing does."""
        count = answer.read_into(self._buffer[:limit])
        if not count:
            raise NetworkError(Text("{0} ended the connection early", answer.server))
        return self._buffer[:count]


class _Pace:
    """Drops a connection that trickles."""

    def __init__(self, policy: DownloadPolicy) -> None:
        self._policy = policy
        self._begin, self._bytes = time.monotonic(), 0

    def count(self, size: int) -> None:
        """So much arrived now."""
        self._bytes += size
        if self._bytes >= self._policy.min_bytes:
            self._begin, self._bytes = time.monotonic(), 0
        elif time.monotonic() - self._begin > self._policy.stall_s:
            raise NetworkError(Text("the connection has nearly come to a halt"))


def _range_headers(claim: Claim, host: str) -> Mapping[str, str]:
    """What to ask a host for; a whole file is asked for plainly."""
    if claim.whole or (claim.start, claim.end) == (0, claim.part.file.size):
        return {}
    headers = {"Range": f"bytes={claim.start}-{claim.end - 1}"}
    if etag := claim.part.etag(host):
        headers["If-Range"] = etag
    return headers


def _check_range(claim: Claim, headers: Headers) -> None:
    match = _RANGE.fullmatch((headers.get("Content-Range") or "").strip())
    if match is None or int(match[1]) != claim.start or int(match[2]) >= claim.end:
        raise NetworkError(Text("the server sent another range than the one asked for"))
    if match[3] != "*" and int(match[3]) != claim.part.file.size:
        raise _Changed(_other_size(match[3], claim.part.file.size))


def _check_whole(claim: Claim, answer: Answer) -> None:
    """A 200: right if the whole file was asked for; else it changed, or ranges are unknown here."""
    size, length = claim.part.file.size, answer.headers.get("Content-Length")
    if length is not None and length != str(size):
        raise _Changed(_other_size(length[:20], size))
    asked = _range_headers(claim, answer.host)
    if not asked:
        return
    known = claim.part.etag(answer.host)
    if known and (answer.headers.get("ETag") or known) != known:
        raise _Changed(Text("the file changed on the server"))
    raise _NoRanges()


def _other_size(found: str, expected: int) -> Text:
    return Text("the server has {0} bytes instead of {1}", found, expected)
