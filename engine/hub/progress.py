"""How far a download is: a plain, picklable record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.events import Progress

DownloadState = Literal["running", "stalled", "retrying", "verifying"]


@dataclass(frozen=True)
class DownloadProgress(Progress):
    """done, total: bytes of all files; what: the file at hand.

    rate_bytes_s: over the last seconds. eta_s: None while nobody can tell.
    detail: why it is retrying or what happened to a file, for a person; often empty.
    """

    rate_bytes_s: float = 0.0
    eta_s: float | None = None
    state: DownloadState = "running"
    detail: str = ""


OnDownload = Callable[[DownloadProgress], None]
