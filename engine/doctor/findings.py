"""What a check found, as a value the command line and the app can show. Nothing is checked here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "info", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One check's outcome. `id` never changes: the app and scripts know the check by it.

    evidence: what was measured or read. advice: what to do, empty when nothing needs doing.
    """

    id: str
    status: Status
    title: str
    evidence: str
    advice: str = ""
