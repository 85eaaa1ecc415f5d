"""A real HTTP server that speaks the model hub's protocol, with faults on demand.

    with FakeHub({"org/model": files}) as hub: HubClient(hub.url) …

Every request is kept in `hub.requests` with the bytes it was sent. A second FakeHub can serve as
the storage host that downloads are redirected to.
"""

from __future__ import annotations

import hashlib
import http.server
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PIECE = 1 << 16

Action = Literal[
    "drop", "stall", "hang", "whole", "corrupt", "status", "garbage", "etag", "short", "slow"
]


@dataclass
class Fault:
    """One thing to do wrong, `times` times (-1: always), for paths that contain `match`."""

    action: Action
    match: str = ".safetensors"
    times: int = 1
    after: int = 0  # so many requests are served well before
    at: int = 0  # byte of the body where it happens
    status: int = 503
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Request:
    """What a client asked, and how many body bytes it was sent."""

    path: str
    range: str | None
    authorization: str | None
    headers: Mapping[str, str]
    status: int = 0
    sent: int = 0


class FakeHub:
    """The server. `storage`: where downloads are redirected to; needs_token: gated."""

    def __init__(
        self,
        models: Mapping[str, Mapping[str, bytes]],
        storage: FakeHub | None = None,
        needs_token: str = "",
        bytes_per_s: float = 0,
        page: int = 1000,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.models = {name: dict(files) for name, files in models.items()}
        self.storage, self.needs_token = storage, needs_token
        self.bytes_per_s, self.page = bytes_per_s, page
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.extra_entries: list[dict[str, object]] = []  # put into every tree
        self.next_host = ""  # where a listing's next page is said to be
        self.signature = "first"  # what a redirect to this host must carry
        self.released = threading.Event()  # ends every stall
        self._lock = threading.Lock()
        self._entries: dict[tuple[str, str], dict[str, object]] = {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.hub = self
        self._scheme = "https" if tls else "http"
        if tls:
            listening = self._server.socket
            self._server.socket = tls.wrap_socket(
                listening, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeHub:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, path: str, *actions: Action) -> Fault | None:
        """The next fault for this path, used up by one."""
        with self._lock:
            for fault in self.faults:
                if fault.action not in actions or fault.match not in path or not fault.times:
                    continue
                if fault.after > 0:
                    fault.after -= 1
                    continue
                fault.times -= 1
                return fault
        return None

    def body_bytes(self, match: str = "/resolve/") -> int:
        """Bytes of bodies sent for paths that contain `match`."""
        return sum(request.sent for request in self.requests if match in request.path)

    def entry(self, model: str, path: str) -> dict[str, object]:
        """A line of a tree; hashing large files again and again would be the slowest part."""
        with self._lock:
            if (model, path) not in self._entries:
                self._entries[model, path] = _entry(path, self.models[model][path])
            return self._entries[model, path]

    def note(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)


class _Server(http.server.ThreadingHTTPServer):
    hub: FakeHub
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    wbufsize = 1 << 16

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        hub, parts = self.server.hub, urlsplit(self.path)
        self.request_ = Request(
            self.path, self.headers["Range"], self.headers["Authorization"], dict(self.headers)
        )
        hub.note(self.request_)
        path = unquote(parts.path)
        if fault := hub.take(self.path, "status"):
            return self._answer(fault.status, b"no", fault.headers)
        if hub.take(self.path, "hang"):
            hub.released.wait(20)
        if hub.take(self.path, "garbage"):
            return self._answer(200, b"<html>Please log in to the hotel's network</html>")
        if path.startswith("/api/models/"):
            return self._api(path.removeprefix("/api/models/"), parts.query)
        return self._file(path, parts.query)

    def _api(self, path: str, query: str) -> None:
        hub = self.server.hub
        model, kind, revision = self._split(path, "/revision/", "/tree/")
        if model not in hub.models:
            return self._answer(401, b"", {"X-Error-Code": "RepoNotFound"})
        if revision not in ("main", COMMIT):
            return self._answer(404, b"", {"X-Error-Code": "RevisionNotFound"})
        if kind == "/revision/":
            info = {"id": model, "sha": COMMIT, "siblings": [], "gated": bool(hub.needs_token)}
            info |= {"cardData": {"license": "apache-2.0"}}
            return self._json(info)
        entries = [hub.entry(model, path) for path in hub.models[model]] + hub.extra_entries
        start = int(query.split("cursor=")[1]) if "cursor=" in query else 0
        more = {}
        if start + hub.page < len(entries):
            place = f"{hub.next_host or hub.url}{urlsplit(self.path).path}"
            more = {"Link": f'<{place}?recursive=true&cursor={start + hub.page}>; rel="next"'}
        self._json(entries[start : start + hub.page], more)

    def _file(self, path: str, query: str) -> None:
        hub = self.server.hub
        model, _, rest = self._split(path.lstrip("/"), "/resolve/", "/stored/")
        name = rest.partition("/")[2]
        body = hub.models.get(model, {}).get(name)
        if body is None or rest.partition("/")[0] != COMMIT:
            return self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
        if "/stored/" in path and query != f"sig={hub.signature}":
            return self._answer(403, b"expired")
        if hub.needs_token and self.request_.authorization != f"Bearer {hub.needs_token}":
            status = 403 if self.request_.authorization else 401
            return self._answer(status, b"", {"X-Error-Code": "GatedRepo"})
        if hub.storage and "/resolve/" in path:
            place = self.path.replace("/resolve/", "/stored/")
            target = f"{hub.storage.url}{place}?sig={hub.storage.signature}"
            return self._answer(302, b"moved", {"Location": target, "X-Repo-Commit": COMMIT})
        self._content(body, str(hub.entry(model, name)["oid"]))

    def _content(self, body: bytes, version: str) -> None:
        """The file, whole or a range, perhaps with a fault."""
        hub = self.server.hub
        etag = f'"{version}"'
        if fault := hub.take(self.path, "etag"):
            etag = f'"{time.monotonic_ns()}"'
        start, end, ranged = 0, len(body), self.headers["Range"]
        condition = self.headers["If-Range"]
        headers = {"ETag": etag, "Accept-Ranges": "bytes", "X-Repo-Commit": COMMIT}
        fits = condition is None or condition == etag
        if ranged and fits and not hub.take(self.path, "whole"):
            first, _, last = ranged.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last) + 1 if last else end, end)
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(body)}"
        piece = memoryview(body)[start:end]
        if fault := hub.take(self.path, "corrupt"):
            wrong = bytearray(piece)
            wrong[min(fault.at, len(piece) - 1)] ^= 1
            piece = memoryview(wrong)
        self._send(206 if "Content-Range" in headers else 200, piece, headers)

    def _send(self, status: int, view: memoryview, headers: Mapping[str, str]) -> None:
        hub = self.server.hub
        fault = hub.take(self.path, "drop", "stall", "short", "slow")
        short = fault is not None and fault.action == "short"
        if short:
            view = view[: fault.at]
        self._head(status, len(view), headers)
        done = 0
        while done < len(view):
            size = PIECE
            if fault and not short:
                size = min(size, max(0, fault.at - done)) if done < fault.at else 0
            if fault and not size:
                if fault.action == "drop":
                    return self._hang_up()
                if fault.action == "stall":
                    self.wfile.flush()
                    hub.released.wait(20)
                    return self._hang_up()
                size, _ = 1, time.sleep(0.02)  # slow: a byte now and then
            self.wfile.write(view[done : done + size])
            if hub.bytes_per_s or (fault and fault.action == "slow"):
                self.wfile.flush()
                time.sleep(size / hub.bytes_per_s if hub.bytes_per_s else 0)
            done += min(size, len(view) - done)
            self.request_.sent = done
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _json(self, value: object, headers: Mapping[str, str] | None = None) -> None:
        self._answer(200, json.dumps(value).encode(), headers or {})

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._head(status, len(body), headers or {})
        self.wfile.write(body)
        self.wfile.flush()

    def _head(self, status: int, size: int, headers: Mapping[str, str]) -> None:
        self.request_.status = status
        self.send_response(status)
        for name, value in {"Content-Length": str(size), **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    @staticmethod
    def _split(path: str, *words: str) -> tuple[str, str, str]:
        for word in words:
            if word in path:
                model, _, rest = path.partition(word)
                return model, word, rest
        return path, "", ""


def _entry(path: str, body: bytes) -> dict[str, object]:
    """A line of a tree: large kinds are in LFS, small files in git."""
    entry: dict[str, object] = {"type": "file", "path": path, "size": len(body)}
    sha1 = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
    entry["oid"] = sha1
    if path.endswith((".safetensors", ".gguf", ".bin")):
        sha256 = hashlib.sha256(body).hexdigest()
        entry["lfs"] = {"oid": sha256, "size": len(body), "pointerSize": 134}
    return entry
