"""One thread's kept connections: GET with redirects, through the proxy, over the system's TLS.

Owns its sockets. One thread reads; any thread may `abort`, which wakes a blocked read at once.
Failures are `NetworkError`: worth another try.
"""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urljoin, urlsplit

import truststore

from engine.hub.access import Access, origin, shown
from engine.hub.answer import FAULTS, Answer, NetworkError, failure
from engine.text import Text

MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_URL_SAFE = "%/:=&?~#+!$,;'@()*[]"

HeadersFor = Callable[[str], Mapping[str, str]]


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
        raise NetworkError(Text("{0} redirects in circles", shown(url)))

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
        except FAULTS as error:
            self._drop(key)
            if not reused or isinstance(error, TimeoutError) or self._aborted:
                raise failure(url, error) from error
        try:
            return self._request(url, key, headers)
        except FAULTS as error:
            self._drop(key)
            raise failure(url, error) from error

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
        text = Text("{0} redirects to {1}, which is not safe", shown(url), shown(target))
        raise NetworkError(text)
    return target
