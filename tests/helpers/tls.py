"""A certificate of our own for localhost, and a proxy that tunnels: networks as users have."""

from __future__ import annotations

import base64
import select
import socket
import socketserver
import ssl
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

# Made for these tests (localhost, 127.0.0.1, a hundred years); protects nothing.
PEM = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0Kf3WA/yIo4EXTKt
fi1ZhWPg7jALkf6mSFaEg6EW/T2hRANCAATTNUxevXFMEWHD9zfj4xdhEsjrfSYI
XWGEjNwhcA0yUaIDu/gDwDmVcGpSGwL8SM1f9T89YxpimVybj1riXOUB
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBnzCCAUWgAwIBAgIUSdXdusp5lcToJsavA5/+HooYUzUwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLZWRnZTAgdGVzdHMwIBcNMjYxMTI5MTYzNjIwWhgPMjEyNjEx
MDUxNjM2MjBaMBYxFDASBgNVBAMMC2VkZ2UwIHRlc3RzMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE0zVMXr1xTBFhw/c34+MXYRLI630mCF1hhIzcIXANMlGiA7v4
A8A5lXBqUhsC/EjNX/U/PWMaYplcm49a4lzlAaNvMG0wHQYDVR0OBBYEFEkOoyiW
q5AFoz2Yp1BeyUjTjuMxMB8GA1UdIwQYMBaAFEkOoyiWq5AFoz2Yp1BeyUjTjuMx
MA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoG
CCqGSM49BAMCA0gAMEUCIEGk98wy4uJdEx8w10elEV2FCkqXL8lQNWRfl2D3dQBC
AiEA7vaWoB8TsdEKCiixne+/GH7i2p8JO7E38fPCp5z7s0M=
-----END CERTIFICATE-----
"""


def server_context() -> ssl.SSLContext:
    """TLS for a server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pem"
        file.write_text(PEM, encoding="ascii")
        context.load_cert_chain(file)
    return context


def client_context(*_: object) -> ssl.SSLContext:
    """TLS for a client that trusts our certificate and no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=PEM[PEM.index("-----BEGIN CERTIFICATE") :])
    return context


class FakeProxy:
    """Tunnels CONNECT for those who give `user:pass`; notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.seen = bytearray()  # what went through, as the proxy sees it
        self._server = _Server(("127.0.0.1", 0), _Tunnel)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """Its address with the password."""
        return f"http://us%20er:pa%3Ass@127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeProxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(socketserver.ThreadingTCPServer):
    proxy: FakeProxy
    daemon_threads = True
    block_on_close = False


class _Tunnel(socketserver.StreamRequestHandler):
    server: _Server
    rbufsize = 0

    def handle(self) -> None:
        line = self.rfile.readline().decode("ascii")
        headers = []
        while (header := self.rfile.readline().strip()) != b"":
            headers.append(header)
        self.server.proxy.asked.append(line.strip())
        wanted = b"Proxy-Authorization: Basic " + base64.b64encode(b"us er:pa:ss")
        if wanted not in headers:
            self.wfile.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            return
        host, port = line.split()[1].split(":")
        with socket.create_connection((host, int(port))) as far:
            self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            with suppress(OSError):
                self._pipe(self.connection, far)

    def _pipe(self, near: Any, far: socket.socket) -> None:
        while True:
            for ready in select.select([near, far], [], [], 5)[0]:
                data = ready.recv(65536)
                if not data:
                    return
                self.server.proxy.seen += data
                (far if ready is near else near).sendall(data)
