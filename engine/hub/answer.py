"""One response: its body is read as it comes, straight into the reader's buffer.

Owned by the thread that reads. Failures are `NetworkError`: worth another try.
"""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from engine.hub.access import origin, shown
from engine.hub.refusals import Headers
from engine.machine.network import network_fault
from engine.text import Text

FILL_S, PAUSE_S = 0.1, 0.01  # a buffer is filled for so long, until bytes pause for so long
MAX_DRAINED = 64 << 10  # a longer body nobody wants costs more than a new connection
FAULTS = (OSError, http.client.HTTPException, ValueError)


class NetworkError(Exception):
    """The network or a server failed in a way another try may cure; wait_s: when, if it said so."""

    def __init__(self, reason: Text, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s


class Answer:
    """A response whose body is still to be read. url: where it came from in the end."""

    def __init__(
        self,
        response: http.client.HTTPResponse,
        url: str,
        sock: socket.socket,
        done: Callable[[], None],
    ) -> None:
        self.status = response.status
        self.headers: Headers = response.headers
        self.url = url
        self._response, self._socket = response, sock
        self._done = done
        self._late: NetworkError | None = None  # met after bytes that had to be given first

    @property
    def host(self) -> str:
        """The origin that answered."""
        return origin(self.url)

    @property
    def server(self) -> str:
        """Its name, for messages."""
        return urlsplit(self.url).hostname or self.url

    def read_into(self, buffer: memoryview) -> int:
        """Fill `buffer` while bytes keep coming; how many came, 0 at the end.

        Waits for the first ones only. Raises NetworkError, never instead of giving bytes.
        """
        until, count = time.monotonic() + FILL_S, self._read_some(buffer)
        while 0 < count < len(buffer) and time.monotonic() < until and self._is_ready():
            try:
                more = self._read_some(buffer[count:])
            except NetworkError as error:
                self._late, more = error, 0
            if not more:
                break
            count += more
        return count

    def _read_some(self, buffer: memoryview) -> int:
        """What is there, with one call of the system at most."""
        if self._late is not None:
            raise self._late
        response = self._response
        try:
            if response.chunked or response.length is None or response.isclosed():
                piece = response.read1(len(buffer))
                buffer[: len(piece)] = piece
                return len(piece)
            count = response.fp.readinto1(buffer[: response.length])
            response.length -= count
            if not count:
                response.close()
            elif not response.length:
                response.read()  # nothing is left: it gives the connection free
            return count
        except FAULTS as error:
            raise failure(self.url, error) from error

    def _is_ready(self) -> bool:
        """Whether more is here, or comes in a moment."""
        sock = self._socket
        if isinstance(sock, ssl.SSLSocket) and sock.pending():
            return True
        if sys.platform != "win32":  # elsewhere select takes only the first 1024 files
            poll = select.poll()
            poll.register(sock, select.POLLIN)
            return bool(poll.poll(PAUSE_S * 1000))
        return bool(select.select([sock], [], [], PAUSE_S)[0])

    def read(self, count: int) -> bytes:
        """What is there, up to `count` bytes; b"" at the end. Raises NetworkError."""
        buffer = bytearray(count)
        return bytes(buffer[: self._read_some(memoryview(buffer))])

    def read_all(self, limit: int) -> bytes:
        """The whole body. Raises NetworkError, also when it is longer than `limit`."""
        pieces, size = [], 0
        while piece := self.read(1 << 18):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise NetworkError(Text("{0} sent more than {1} bytes", shown(self.url), limit))
        if self._response.length:  # bytes the server promised and did not send
            raise NetworkError(Text("{0} ended early", shown(self.url)))
        return b"".join(pieces)

    def close(self) -> None:
        """Make the connection ready for the next request, or drop it."""
        with suppress(NetworkError):
            if (self._response.length or 0) <= MAX_DRAINED:
                self.read(MAX_DRAINED)
        finished = self._response.isclosed()
        self._response.close()
        if not finished:
            self._done()


def failure(url: str, error: Exception) -> NetworkError:
    """What went wrong with a connection to this address."""
    return NetworkError(network_fault(urlsplit(url).hostname or url, error))
