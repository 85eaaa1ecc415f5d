"""What a hub's refusal means and what to do about it: HTTP status → our errors. Pure."""

from __future__ import annotations

import email.utils
import re
from datetime import datetime, timezone
from typing import Protocol
from urllib.parse import urlsplit

from engine.errors import DownloadError, Edge0Error
from engine.hub.access import OFFICIAL, Access, shown

MAX_WAIT_S = 600.0
TRY_LATER = "Try again later; what was fetched is kept."
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
    host = urlsplit(url).hostname
    if status == 429:
        return DownloadError(f"{host} allows no more requests for now (429).", _patience(headers))
    if is_temporary(status):
        return DownloadError(f"{host} has a problem of its own ({status}).", TRY_LATER)
    return DownloadError(
        f"{shown(url)} was refused with status {status}.", "Check the model's name and the hub."
    )


def _not_allowed(status: int, code: str, url: str, model: str, access: Access) -> Edge0Error:
    if not access.trusts(url):
        return DownloadError(
            f"{urlsplit(url).hostname} does not give {model} out ({status}).",
            "Check the name. Models that need a login come only from huggingface.co itself:"
            " tokens are never sent to a mirror.",
        )
    return _to_member(status, code, model) if access.token else _to_stranger(code, model)


def _to_stranger(code: str, model: str) -> DownloadError:
    login = f"make a read token at {_TOKENS} and enter it"
    if code == "RepoNotFound":
        return DownloadError(
            f"There is no public model {model}.",
            f"Check the name. If the model is private, log in: {login}.",
        )
    return DownloadError(
        f"{model} is given only to people who log in.",
        f"Log in: {login}; then accept the licence at {OFFICIAL}/{model}.",
    )


def _to_member(status: int, code: str, model: str) -> DownloadError:
    if code == "RepoNotFound":
        return DownloadError(f"There is no model {model} for this login.", "Check the name.")
    if status == 401:
        return DownloadError("The token is not valid (any more).", f"Make a new one at {_TOKENS}.")
    return DownloadError(
        f"This login may not download {model} yet.",
        f"Open {OFFICIAL}/{model}, accept the licence there, then try again.",
    )


def _not_found(code: str, url: str, model: str) -> Edge0Error:
    if code == "RevisionNotFound":
        return DownloadError(f"{model} has no such revision.", "Check the revision's name.")
    if "/resolve/" in url:
        return DownloadError(
            f"{shown(url)} does not exist (any more).", "The model may have changed: start again."
        )
    return DownloadError(f"There is no model {model}.", "Check the name, and the hub's address.")


def _patience(headers: Headers) -> str:
    seconds = wait_s(headers)
    return TRY_LATER if seconds is None else f"Try again in {max(1, round(seconds))} s."
