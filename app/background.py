"""A function of the engine on a thread of its own: its result arrives as a signal on the window's
thread. Nothing here touches widgets."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine_text import said
from engine import Edge0Error, StopFlag, Stopped

log = logging.getLogger(__name__)


class Background(QObject):
    """One run at a time; a new one stops the old, whose outcome is then dropped."""

    done = Signal(object)
    failed = Signal(str)
    _ended = Signal(int, object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._number = 0
        self._stop = StopFlag()
        self._thread: threading.Thread | None = None
        self.running = False
        self._ended.connect(self._deal)

    def start(self, work: Callable[[StopFlag], Any]) -> None:
        """Run `work`; it should look at the flag now and then."""
        self.cancel()
        self._number += 1
        self._stop, self.running = StopFlag(), True
        run = (self._number, self._stop, work)
        self._thread = threading.Thread(target=self._run, args=run, name="app-work", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Stop what runs; nothing is told about it any more."""
        self._stop.set()
        self._number += 1
        self.running = False

    def close(self, seconds: float = 5.0) -> None:
        """Cancel and wait for the thread."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, number: int, stop: StopFlag, work: Callable[[StopFlag], Any]) -> None:
        result, error = None, ""
        try:
            result = work(stop)
        except Stopped:
            error = "Stopped."
        except Edge0Error as problem:
            error = f"{said(problem.message)} {said(problem.next_step)}".strip()
        except Exception as problem:
            log.exception("work in the background failed")
            error = f"{type(problem).__name__}: {problem}"
        with suppress(RuntimeError):  # the window that asked is gone
            self._ended.emit(number, result, error)

    def _deal(self, number: int, result: Any, error: str) -> None:
        if number != self._number:
            return
        self.running = False
        if error:
            self.failed.emit(error)
        else:
            self.done.emit(result)
