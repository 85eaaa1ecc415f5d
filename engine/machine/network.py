"""What went wrong on the network, in plain words instead of a system's own. Pure; any thread."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

from engine.text import Text

_NO_WAY = (errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH)


def network_fault(host: str, error: BaseException) -> Text:
    """A clause, without a full stop. error: as caught; what lies beneath it is looked at, too."""
    return next((words for cause in _causes(error) if (words := _words(host, cause))), None) or (
        Text("the connection to {0} failed: {1}", host, str(error) or type(error).__name__)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was made from, the innermost last."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        reason = getattr(error, "reason", None)  # of a URLError
        inner = reason if isinstance(reason, BaseException) else error.__cause__
        error = inner or error.__context__


def _words(host: str, error: BaseException) -> Text | None:
    if isinstance(error, ssl.SSLCertVerificationError):
        return Text("the certificate of {0} is not trusted: {1}", host, error.verify_message)
    if isinstance(error, socket.gaierror):
        return Text("{0} cannot be reached: no connection, or no such address", host)
    if isinstance(error, TimeoutError):
        return Text("{0} does not answer", host)
    if isinstance(error, ConnectionRefusedError):
        return Text("{0} cannot be reached: it refuses the connection", host)
    if isinstance(error, ConnectionError):
        return Text("{0} ended the connection", host)
    if isinstance(error, OSError) and error.errno in _NO_WAY:
        return Text("{0} cannot be reached: no connection", host)
    return None
