"""Who we are to a hub: the token and who may see it, the proxy, our name. Plain data; any thread.

The token goes to the official hub over TLS and to nobody else: not to a mirror, not to the host a
download is redirected to. It is kept out of representations and messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from engine.errors import ConfigError
from engine.text import Text

OFFICIAL = "https://huggingface.co"
USER_AGENT = "edge0"  # no versions, no telemetry
_TOKEN = re.compile(r"[!-~]{1,512}")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Access:
    """token: "" when there is none. proxy: an address, "" for the system's own settings.

    trusted: origins that may see the token.
    """

    token: str = field(default="", repr=False)
    proxy: str = field(default="", repr=False)
    trusted: frozenset[str] = frozenset({OFFICIAL})

    def __post_init__(self) -> None:
        if self.token and not _TOKEN.fullmatch(self.token):
            raise ConfigError(
                Text("The token holds characters that no token has."),
                Text("Copy it again from {0}.", f"{OFFICIAL}/settings/tokens"),
            )
        if self.proxy:
            _checked(self.proxy, Text("The proxy"))

    def trusts(self, url: str) -> bool:
        """Whether the token may be sent to this address."""
        return origin(url) in self.trusted

    def headers(self, url: str) -> dict[str, str]:
        """What every request to this address carries."""
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
        if self.token and self.trusts(url):
            headers["Authorization"] = f"Bearer {self.token}"
        return headers


def origin(url: str) -> str:
    """Scheme, host and port; the port is left out where it is the usual one."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    usual = port is None or port == _PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{port}"


def checked_endpoint(url: str) -> str:
    """A hub's address without a slash at the end. Raises ConfigError."""
    parts = _checked(url.strip(), Text("The hub's address"))
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            Text("The hub's address {0} holds more than a host and a path.", shown(url)),
            Text("Give an address such as {0}.", "https://hf-mirror.com"),
        )
    return url.strip().rstrip("/")


def shown(url: str) -> str:
    """An address for messages: without user, password and the query, which may hold a signature."""
    parts = urlsplit(url)
    return f"{origin(url)}{parts.path}"[:300]


def _checked(url: str, what: Text) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port  # raises for a number that no port has
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), None
    plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in _PORTS or not parts.hostname or not plain or port == 0:
        raise ConfigError(
            Text("{0} {1} is not an address.", what, repr(url[:100])),
            Text("Give one that begins with https:// or http://."),
        )
    return parts
