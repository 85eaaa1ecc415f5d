"""The one way from the engine's thread to the window: a locked list, filled there, drained 30
times a second.

Text pieces that follow each other in one job are joined, and a snapshot replaces an older one that
was not taken yet, so the list stays short however fast the engine is. Nothing else is merged;
nothing is dropped.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from engine import PrefillProgress, Progress, TextDelta


@dataclass(frozen=True)
class Entry:
    """An event and the job it belongs to."""

    job: int
    event: Any


class EventBuffer:
    """Written by the engine's thread, drained by the GUI's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._pieces: list[str] = []  # text of the last entry, not joined yet

    def put(self, job: int, event: Any) -> None:
        """Add an event."""
        with self._lock:
            last = self._entries[-1] if self._entries else None
            same_job = last is not None and last.job == job and type(last.event) is type(event)
            if same_job and isinstance(event, TextDelta):
                self._pieces.append(event.text)
            elif same_job and isinstance(event, (PrefillProgress, Progress)):
                self._entries[-1] = Entry(job, event)
            else:
                self._join()
                self._entries.append(Entry(job, event))

    def drain(self) -> list[Entry]:
        """Take everything."""
        with self._lock:
            self._join()
            entries, self._entries = self._entries, []
            return entries

    def _join(self) -> None:
        if self._pieces:
            last = self._entries[-1]
            text = last.event.text + "".join(self._pieces)
            self._entries[-1] = Entry(last.job, TextDelta(text))
            self._pieces = []
