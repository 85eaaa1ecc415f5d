"""One thread's kept connections: GET with redirects, through the proxy, over the system's TLS.

Owns its sockets. One thread reads; any thread may `abort`, which wakes a blocked read at once.
Bytes go straight into the reader's buffer. Failures are `NetworkError`: worth another try.
"""

from __future__ import annotations

import base64
import http.client
import select
import socket
import ssl
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urljoin, urlsplit

import truststore

from engine.hub.access import Access, origin, shown
from engine.hub.refusals import Headers
from engine.machine.network import network_fault

MAX_REDIRECTS = 5
FILL_S, PAUSE_S = 0.1, 0.01  # a buffer is filled for so long, until bytes pause for so long
MAX_DRAINED = 64 << 10  # a longer body nobody wants costs more than a new connection
_REDIRECTS = (301, 302, 303, 307, 308)
_FAULTS = (OSError, http.client.HTTPException, ValueError)
_URL_SAFE = "%/:=&?~#+!$,;'@()*[]"

HeadersFor = Callable[[str], Mapping[str, str]]


class NetworkError(Exception):
    """The network or a server failed in a way another try may cure; wait_s: when, if it said so."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s


@dataclass(frozen=True)
class Transport:
    """How to connect: made once, shared by all lanes of a piece of work."""

    access: Access
    connect_timeout_s: float = 15.0
    stall_s: float = 20.0  # without a byte: the connection is dead
    tls: ssl.SSLContext = field(
        default_factory=lambda: truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
    proxies: Mapping[str, str] = field(default_factory=urllib.request.getproxies)

    def proxy(self, url: str) -> str:
        """The proxy for an address; "" for none."""
        parts = urlsplit(url)
        if self.access.proxy:
            return self.access.proxy
        found = [self.proxies.get(kind, "") for kind in (parts.scheme, "all")]
        usable = [p if "://" in p else f"http://{p}" for p in found if p and "socks" not in p]
        if not usable or urllib.request.proxy_bypass(parts.hostname or ""):
            return ""
        return usable[0]


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
        except _FAULTS as error:
            raise _failure(self.url, error) from error

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
                raise NetworkError(f"{shown(self.url)} sent more than {limit} bytes")
        if self._response.length:  # bytes the server promised and did not send
            raise NetworkError(f"{shown(self.url)} ended early")
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


class Lane:
    """Connections of one thread."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._connections: dict[str, http.client.HTTPConnection] = {}
        self._proxies: dict[str, str] = {}
        self._socket: socket.socket | None = None
        self._aborted = False

    def get(self, url: str, extra: HeadersFor = lambda url: {}) -> Answer:
        """The answer to a GET; `extra` gives the headers for each host on the way.

        Raises NetworkError.
        """
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._one(url, extra)
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return answer
            answer.close()
            url = _next_url(url, target)
        raise NetworkError(f"{shown(url)} redirects in circles")

    def abort(self) -> None:
        """Wake the thread that reads; every later use fails. Any thread."""
        self._aborted = True
        waiting = self._socket
        if waiting is not None:
            with suppress(OSError):  # the plain socket's method: TLS would touch the reader's state
                socket.socket.shutdown(waiting, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self._socket = None

    def _one(self, url: str, extra: HeadersFor) -> Answer:
        """One request, without redirects; a kept connection the server has closed is replaced."""
        headers = {**self._transport.access.headers(url), **extra(url)}
        key = origin(url)
        reused = key in self._connections
        try:
            return self._request(url, key, headers)
        except _FAULTS as error:
            self._drop(key)
            if not reused or isinstance(error, TimeoutError) or self._aborted:
                raise _failure(url, error) from error
        try:
            return self._request(url, key, headers)
        except _FAULTS as error:
            self._drop(key)
            raise _failure(url, error) from error

    def _request(self, url: str, key: str, headers: Mapping[str, str]) -> Answer:
        if key not in self._proxies:
            self._proxies[key] = self._transport.proxy(url)
        proxy = self._proxies[key]
        connection = self._connections.get(key)
        if connection is None:
            connection = self._connections[key] = _connection(url, proxy, self._transport)
        self._socket = self._connected(connection)  # kept here: http.client may forget it
        if self._aborted:
            raise ConnectionAbortedError("stopped")
        target, more = _target(url, proxy)
        connection.request("GET", target, headers={**headers, **more})
        response = connection.getresponse()
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise http.client.HTTPException("the answer is compressed")
        return Answer(response, url, self._socket, lambda: self._drop(key))

    def _connected(self, connection: http.client.HTTPConnection) -> socket.socket:
        if connection.sock is None:
            connection.timeout = self._transport.connect_timeout_s
            connection.connect()
        sock: socket.socket = connection.sock
        sock.settimeout(self._transport.stall_s)
        return sock

    def _drop(self, key: str) -> None:
        connection = self._connections.pop(key, None)
        if connection is not None:
            connection.close()


def _connection(url: str, proxy: str, transport: Transport) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    through = urlsplit(proxy)
    if parts.scheme == "http":
        place = (through.hostname or "", through.port or 80) if proxy else (host, port)
        return http.client.HTTPConnection(*place)
    if not proxy:
        return http.client.HTTPSConnection(host, port, context=transport.tls)
    tunnel = http.client.HTTPSConnection(
        through.hostname or "", through.port or 80, context=transport.tls
    )
    tunnel.set_tunnel(host, port or 443, _proxy_headers(proxy))
    return tunnel


def _target(url: str, proxy: str) -> tuple[str, dict[str, str]]:
    """What the request line names, and headers for a proxy: plain HTTP needs the full address."""
    parts = urlsplit(url)
    if parts.scheme == "http" and proxy:
        return parts._replace(fragment="").geturl(), _proxy_headers(proxy)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), {}


def _proxy_headers(proxy: str) -> dict[str, str]:
    parts = urlsplit(proxy)
    if not parts.username:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"}


def _next_url(url: str, location: str) -> str:
    """Where a redirect leads: to http or https, and never from https back to http."""
    target = quote(urljoin(url, location), safe=_URL_SAFE)
    scheme = urlsplit(target).scheme
    allowed = ("https",) if url.startswith("https:") else ("http", "https")
    if scheme not in allowed or not urlsplit(target).hostname:
        raise NetworkError(f"{shown(url)} redirects to {shown(target)}, which is not safe")
    return target


def _failure(url: str, error: Exception) -> NetworkError:
    return NetworkError(network_fault(urlsplit(url).hostname or url, error))
