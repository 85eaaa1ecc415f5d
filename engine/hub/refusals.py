"""What a hub's refusal means and what to do about it: HTTP status → our errors. Pure."""

from __future__ import annotations

import email.utils
import re
from datetime import datetime, timezone
from typing import Protocol
from urllib.parse import urlsplit

from engine.errors import DownloadError, Edge0Error
from engine.hub.access import OFFICIAL, Access, shown
from engine.text import Text

MAX_WAIT_S = 600.0
TRY_LATER = Text("Try again later; what was fetched is kept.")
_TOKENS = f"{OFFICIAL}/settings/tokens"
_RATE_LIMIT = re.compile(r"\bt=(\d{1,6})\b")


class Headers(Protocol):
    """Of an answer; names in any case."""

    def get(self, name: str, /) -> str | None: ...


def is_temporary(status: int) -> bool:
    """Whether another try may get another answer."""
    return status in (408, 425, 429) or status >= 500


def wait_s(headers: Headers, now: datetime | None = None) -> float | None:
    """How long to wait, as Retry-After or the hub's RateLimit says; None when neither does."""
    asked = (headers.get("Retry-After") or "").strip()
    seconds: float | None = None
    if asked.isdigit():
        seconds = float(asked[:9])
    elif asked:
        seconds = _until(asked, now or datetime.now(timezone.utc))
    elif match := _RATE_LIMIT.search(headers.get("RateLimit") or ""):
        seconds = float(match[1])
    return None if seconds is None else min(max(seconds, 0.0), MAX_WAIT_S)


def _until(date: str, now: datetime) -> float | None:
    try:
        then = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    return (then if then.tzinfo else then.replace(tzinfo=timezone.utc)).timestamp() - (
        now.timestamp()
    )


def refusal(status: int, headers: Headers, url: str, model: str, access: Access) -> Edge0Error:
    """The error for a status that is no success."""
    code = headers.get("X-Error-Code") or ""
    if status == 401 or status == 403 or code in ("GatedRepo", "RepoNotFound"):
        return _not_allowed(status, code, url, model, access)
    if status == 404 or status == 410:
        return _not_found(code, url, model)
    if is_temporary(status):
        step = _patience(headers) if status == 429 else TRY_LATER
        return DownloadError(Text("{0}.", trouble(status, url)), step)
    text = Text("{0} was refused with status {1}.", shown(url), status)
    return DownloadError(text, Text("Check the model's name and the hub."))


def trouble(status: int, url: str) -> Text:
    """A temporary refusal in a few words."""
    host = urlsplit(url).hostname
    if status == 429:
        return Text("{0} allows no more requests for now (429)", host)
    return Text("{0} has a problem of its own ({1})", host, status)


def _not_allowed(status: int, code: str, url: str, model: str, access: Access) -> Edge0Error:
    if not access.trusts(url):
        return DownloadError(
            Text("{0} does not give {1} out ({2}).", urlsplit(url).hostname, model, status),
            Text(
                "Check the name. Models that need a login come only from huggingface.co itself:"
                " tokens are never sent to a mirror."
            ),
        )
    return _to_member(status, code, model) if access.token else _to_stranger(code, model)


def _to_stranger(code: str, model: str) -> DownloadError:
    login, page = Text("make a read token at {0} and enter it", _TOKENS), f"{OFFICIAL}/{model}"
    if code == "RepoNotFound":
        return DownloadError(
            Text("There is no public model {0}.", model),
            Text("Check the name. If the model is private, log in: {0}.", login),
        )
    return DownloadError(
        Text("{0} is given only to people who log in.", model),
        Text("Log in: {0}; then accept the licence at {1}.", login, page),
        page,
    )


def _to_member(status: int, code: str, model: str) -> DownloadError:
    if code == "RepoNotFound":
        text = Text("There is no model {0} for this login.", model)
        return DownloadError(text, Text("Check the name."))
    if status == 401:
        step = Text("Make a new one at {0}.", _TOKENS)
        return DownloadError(Text("The token is not valid (any more)."), step, _TOKENS)
    page = f"{OFFICIAL}/{model}"
    return DownloadError(
        Text("This login may not download {0} yet.", model),
        Text("Open {0}, accept the licence there, then try again.", page),
        page,
    )


def _not_found(code: str, url: str, model: str) -> Edge0Error:
    if code == "RevisionNotFound":
        text = Text("{0} has no such revision.", model)
        return DownloadError(text, Text("Check the revision's name."))
    if "/resolve/" in url:
        text = Text("{0} does not exist (any more).", shown(url))
        return DownloadError(text, Text("The model may have changed: start again."))
    text = Text("There is no model {0}.", model)
    return DownloadError(text, Text("Check the name, and the hub's address."))


def _patience(headers: Headers) -> str:
    seconds = wait_s(headers)
    if seconds is None:
        return TRY_LATER
    return Text("Try again in {0} s.", max(1, round(seconds)))
