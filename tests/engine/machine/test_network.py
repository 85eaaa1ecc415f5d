"""Faults of the network in plain words, however deep a library has wrapped them."""

from __future__ import annotations

import errno
import http.client
import socket
import ssl
import urllib.error
from collections.abc import Callable

import pytest

from engine.machine.network import network_fault


def wrapped(cause: Exception) -> Exception:
    """As HTTP libraries raise: from a system's error, twice over."""
    try:
        try:
            raise ValueError("outer") from cause
        except ValueError as error:
            raise LookupError("[Errno -2] raw words") from error
    except LookupError as error:
        return error


def as_url_error(cause: Exception) -> Exception:
    return urllib.error.URLError(cause)


def alone(cause: Exception) -> Exception:
    return cause


@pytest.mark.parametrize("form", [alone, wrapped, as_url_error])
@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (
            socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
            "hub.example cannot be reached: no connection, or no such address",
        ),
        (
            OSError(errno.ENETUNREACH, "Network is unreachable"),
            "hub.example cannot be reached: no connection",
        ),
        (
            ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
            "hub.example cannot be reached: it refuses the connection",
        ),
        (TimeoutError("timed out"), "hub.example does not answer"),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "hub.example ended the connection"),
        (http.client.RemoteDisconnected("closed"), "hub.example ended the connection"),
    ],
)
def test_known_faults(form: Callable[[Exception], Exception], cause: Exception, words: str) -> None:
    assert network_fault("hub.example", form(cause)) == words


def test_a_certificate_and_what_nobody_foresaw_keep_their_detail() -> None:
    untrusted = ssl.SSLCertVerificationError(1, "x")
    untrusted.verify_message = "self-signed certificate"
    assert network_fault("h", untrusted) == (
        "the certificate of h is not trusted: self-signed certificate"
    )
    assert network_fault("h", ValueError("odd")) == "the connection to h failed: odd"
    assert network_fault("h", EOFError()) == "the connection to h failed: EOFError"
