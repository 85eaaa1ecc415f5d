"""The HTTP client that `huggingface_hub` uses while we list a repository.

Caps what an answer may weigh and how long it may take, keeps the token from all but trusted hosts
(a listing's next page may name another one), and never lets the library retry behind our back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx2

from engine.errors import DownloadError
from engine.hub.access import Access, origin, shown
from engine.hub.lane import Transport
from engine.hub.refusals import is_temporary, refusal
from engine.machine.network import network_fault
from engine.stop import StopFlag
from engine.text import Text

MAX_ANSWER = 32 << 20
MAX_SECONDS = 120.0


def new_client(
    transport: Transport, endpoint: str, timeout_s: float, stop: StopFlag
) -> httpx2.Client:
    """A client whose requests obey our rules."""
    access = transport.access
    return _Client(
        verify=transport.tls,
        proxy=transport.proxy(endpoint) or None,
        trust_env=False,
        timeout=timeout_s,
        follow_redirects=True,
        event_hooks={
            "request": [lambda request: _keep_token(request, access)],
            "response": [lambda response: _limit(response, access, stop)],
        },
    )


class _Client(httpx2.Client):
    """Failures leave as our errors, which the library does not know and lets through at once."""

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return super().send(request, **options)
        except httpx2.HTTPError as error:
            raise _unreachable(str(request.url), error) from error


def _unreachable(url: str, error: Exception) -> DownloadError:
    step = Text(
        "Check that this computer is online, then try again. If other pages open, check the proxy"
        " and the hub's address; a mirror may be reachable."
    )
    return DownloadError(Text("{0}.", network_fault(origin(url), error)), step)


def _keep_token(request: httpx2.Request, access: Access) -> None:
    if not access.trusts(str(request.url)):
        request.headers.pop("authorization", None)


def _limit(response: httpx2.Response, access: Access, stop: StopFlag) -> None:
    """Refuse what the library would wait for and try again; count the bytes of the rest."""
    stop.check()
    url = str(response.request.url)
    if is_temporary(response.status_code):
        raise refusal(response.status_code, response.headers, url, "", access)
    stream = response.stream
    if isinstance(stream, httpx2.SyncByteStream):
        response.stream = _Limited(stream, url, stop)


class _Limited(httpx2.SyncByteStream):
    """A body that ends with an error when it is too long or too slow, or a stop was asked for."""

    def __init__(self, stream: httpx2.SyncByteStream, url: str, stop: StopFlag) -> None:
        self._stream, self._url, self._stop = stream, url, stop

    def __iter__(self) -> Iterator[bytes]:
        size, deadline = 0, time.monotonic() + MAX_SECONDS
        for piece in self._stream:
            self._stop.check()
            size += len(piece)
            if size > MAX_ANSWER or time.monotonic() > deadline:
                text = Text("{0} gives an answer without end.", shown(self._url))
                raise DownloadError(text, Text("Check the hub's address."))
            yield piece

    def close(self) -> None:
        self._stream.close()
