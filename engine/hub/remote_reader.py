"""Reads small pieces of a repository's files: configuration, headers. Retries, stops at once.

`read_all` runs jobs on a few threads of its own, each with its lane. Memory: the pieces.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from engine.errors import CheckpointError, DownloadError, Edge0Error
from engine.hub.access import Access
from engine.hub.answer import Answer, NetworkError
from engine.hub.lane import Lane, Transport
from engine.hub.plan import RemoteFile, Repository
from engine.hub.policy import DownloadPolicy
from engine.hub.refusals import TRY_LATER, is_temporary, refusal, trouble, wait_s
from engine.hub.verifier import new_digest
from engine.stop import StopFlag
from engine.text import Text

TRIES = 4
LANES = 4
POLL_S = 0.05
MAX_PIECE = 128 << 20

T = TypeVar("T")


class Reader:
    """Pieces of one repository's files, on one thread."""

    def __init__(
        self, repository: Repository, transport: Transport, policy: DownloadPolicy, stop: StopFlag
    ) -> None:
        self.lane = Lane(transport)
        self._repository, self._policy, self._stop = repository, policy, stop
        self._access: Access = transport.access

    def whole(self, file: RemoteFile, limit: int) -> bytes:
        """A small file, its hash checked. Raises DownloadError, CheckpointError."""
        if file.size > limit:
            where = (file.path, self._repository.id)
            raise CheckpointError(
                Text(
                    "{0} of {1} has {2} bytes; at most {3} are accepted.", *where, file.size, limit
                ),
                Text("Choose another version of the model."),
            )
        data = self.piece(file, 0, file.size)
        digest = new_digest(file)
        digest.update(data)
        if digest.hexdigest() != (file.sha256 or file.git_sha1):
            where = (file.path, self._repository.id)
            raise DownloadError(
                Text("{0} of {1} has other content than the hub promises.", *where),
                Text("Try again later, or use another hub address."),
            )
        return data

    def piece(self, file: RemoteFile, start: int, count: int) -> bytes:
        """`count` bytes from `start`, fewer at the file's end. Raises DownloadError, Stopped."""
        count = min(count, file.size - start, MAX_PIECE)
        if count <= 0:
            return b""
        failures = 0
        while True:
            self._stop.check()
            try:
                return self._piece(file, start, count)
            except NetworkError as error:
                self._stop.check()
                failures += 1
                if failures >= TRIES:
                    raise DownloadError(
                        Text(
                            "Reading {0} of {1} failed: {2}.",
                            file.path,
                            self._repository.id,
                            error.reason,
                        ),
                        Text("Check that this computer is online. {0}", TRY_LATER),
                    ) from error
                self._pause(max(self._policy.delay_s(failures), error.wait_s or 0.0))

    def _piece(self, file: RemoteFile, start: int, count: int) -> bytes:
        whole = count == file.size
        headers = {} if whole else {"Range": f"bytes={start}-{start + count - 1}"}
        answer = self.lane.get(self._repository.url(file.path), lambda url: headers)
        try:
            skip = self._skipped(answer, start, count)
            return _read(answer, skip, count)
        finally:
            answer.close()

    def _skipped(self, answer: Answer, start: int, count: int) -> int:
        """Bytes of the body before the piece: a server without ranges sends the whole file."""
        if answer.status == 206:
            told = (answer.headers.get("Content-Range") or "").strip()
            if not told.startswith(f"bytes {start}-{start + count - 1}/"):
                raise NetworkError(Text("the server sent another range than the one asked for"))
            return 0
        if answer.status == 200:
            return start
        url, model = answer.url, self._repository.id
        error: Edge0Error = refusal(answer.status, answer.headers, url, model, self._access)
        if is_temporary(answer.status):
            raise NetworkError(trouble(answer.status, url), wait_s(answer.headers))
        raise error

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._stop.check()
            time.sleep(min(left, POLL_S))


def _read(answer: Answer, skip: int, count: int) -> bytes:
    """The piece; of what comes before it nothing is kept."""
    data = bytearray()
    while len(data) < count:
        piece = answer.read(min(1 << 18, skip or count - len(data)))
        if not piece:
            raise NetworkError(Text("{0} ended the connection early", answer.server))
        if skip:
            skip -= len(piece)
        else:
            data += piece
    return bytes(data)


def read_all(
    repository: Repository,
    transport: Transport,
    policy: DownloadPolicy,
    stop: StopFlag,
    jobs: Sequence[Callable[[Reader], T]],
    report: Callable[[int, int], None],
) -> list[T]:
    """The jobs' results in order, run side by side, each on a thread with a reader.

    Raises what the first failing one raised, or Stopped; reports (done, total).
    """
    readers = [Reader(repository, transport, policy, stop) for _ in range(min(LANES, len(jobs)))]
    crew = _Crew(jobs)
    threads = [
        threading.Thread(target=crew.work, args=(reader,), name="edge0-headers", daemon=True)
        for reader in readers
    ]
    for thread in threads:
        thread.start()
    try:
        while not crew.over():
            stop.check()
            report(crew.done, len(jobs))
        return crew.results()
    finally:
        crew.close()
        for reader in readers:
            reader.lane.abort()
        deadline = time.monotonic() + policy.close_s
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))


class _Crew(Generic[T]):
    """Jobs, and what came of them; one lock."""

    def __init__(self, jobs: Sequence[Callable[[Reader], T]]) -> None:
        self._count = len(jobs)
        self._jobs: Iterator[tuple[int, Callable[[Reader], T]]] = iter(enumerate(jobs))
        self._results: dict[int, T] = {}
        self._error: BaseException | None = None
        self._condition = threading.Condition()

    @property
    def done(self) -> int:
        """Jobs that are done."""
        return len(self._results)

    def over(self) -> bool:
        """Wait a moment; whether all is done, or something failed."""
        with self._condition:
            return self._condition.wait_for(self._is_over, POLL_S)

    def _is_over(self) -> bool:
        return self._error is not None or len(self._results) == self._count

    def results(self) -> list[T]:
        """In the jobs' order."""
        if self._error is not None:
            raise self._error
        return [self._results[number] for number in range(self._count)]

    def close(self) -> None:
        """No more jobs."""
        with self._condition:
            self._jobs = iter(())

    def work(self, reader: Reader) -> None:
        """Do jobs until there are none left."""
        try:
            while (job := self._next()) is not None:
                result = job[1](reader)
                with self._condition:
                    self._results[job[0]] = result
                    self._condition.notify_all()
        except BaseException as error:
            with self._condition:
                self._error = self._error or error
                self._condition.notify_all()
        finally:
            reader.lane.close()

    def _next(self) -> tuple[int, Callable[[Reader], T]] | None:
        with self._condition:
            return next(self._jobs, None)
