"""A long job in a child process: fetching and converting the starter model. Memory returns when
it ends.

The child is `edge0 starter --progress json`: JSON lines on stdout, {"done","total","what"} while
it works, then {"finished": folder} or {"error","next_step"}. It may be killed at any time; the
same command goes on where it stopped.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

State = Literal["idle", "running", "cancelled", "failed", "done"]
GRACE_MS = 3000
LINE_LIMIT = 1 << 16
log = logging.getLogger(__name__)


def starter_command() -> list[str]:
    """The command that fetches and converts the starter, from source or frozen."""
    if getattr(sys, "frozen", False):
        name = "edge0-cli.exe" if sys.platform == "win32" else "edge0-cli"
        return [str(Path(sys.executable).with_name(name)), "starter", "--progress", "json"]
    return [sys.executable, "-m", "engine.cli", "starter", "--progress", "json"]


class PrepareJob(QObject):
    """One child at a time; `start` again after a cancel or a failure resumes."""

    changed = Signal()
    finished = Signal(object)  # Path of the ready model

    def __init__(self, command: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._command = list(command)
        self._process: QProcess | None = None
        self._buffer = b""
        self._errors = b""
        self._path: Path | None = None
        self.state: State = "idle"
        self.done = 0
        self.total = 0
        self.what = ""
        self.error = ""
        self.next_step = ""

    def start(self) -> None:
        """Start, or go on."""
        if self._process is not None:
            return
        self._buffer = self._errors = b""
        self._path = None
        self.error = self.next_step = self.what = ""
        self.done = self.total = 0
        self._set("running")
        process = QProcess(self)
        process.setProcessEnvironment(_environment())
        if sys.platform != "win32":
            flags = QProcess.UnixProcessFlag.CreateNewSession
            process.setUnixProcessParameters(flags)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_errors)
        process.finished.connect(self._ended)
        process.errorOccurred.connect(self._not_started)
        self._process = process
        process.start(self._command[0], self._command[1:])

    def cancel(self) -> None:
        """Ask the child and what it started to end; insist after a while."""
        if self._process is None or self.state != "running":
            return
        self._set("cancelled")
        self._end(self._process, hard=False)
        QTimer.singleShot(GRACE_MS, self._process, self._insist)

    def close(self) -> None:
        """End the child now, as the app is closing. Its own journal keeps what is done."""
        process, self._process = self._process, None
        if process is not None:
            process.blockSignals(True)
            self._end(process, hard=True)
            process.waitForFinished(GRACE_MS)

    def _insist(self) -> None:
        if self._process is not None:
            self._end(self._process, hard=True)

    def _end(self, process: QProcess, hard: bool) -> None:
        pid = process.processId()
        if sys.platform != "win32" and pid > 0:
            try:
                os.killpg(pid, signal.SIGKILL if hard else signal.SIGTERM)
            except ProcessLookupError:
                return
        else:
            process.kill()

    def _read(self) -> None:
        if self._process is None:
            return
        self._buffer += self._process.readAllStandardOutput().data()
        *lines, self._buffer = self._buffer.split(b"\n")
        self._buffer = self._buffer[-LINE_LIMIT:]
        for line in lines:
            self._take_line(line)

    def _take_line(self, line: bytes) -> None:
        try:
            record = json.loads(line)
        except ValueError:
            log.info("starter: %s", line[:500].decode(errors="replace"))
            return
        if isinstance(record, dict):
            self._take_record(record)

    def _take_record(self, record: dict[str, Any]) -> None:
        if "finished" in record:
            self._path = Path(str(record["finished"]))
        elif "error" in record:
            self.error = str(record["error"])
            self.next_step = str(record.get("next_step", ""))
        elif "done" in record:
            self.done = int(record["done"])
            self.total = int(record.get("total", 0))
            self.what = str(record.get("what", ""))
            self.changed.emit()

    def _read_errors(self) -> None:
        if self._process is not None:
            self._errors = (self._errors + self._process.readAllStandardError().data())[-4000:]

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self._process is not None:
            self.error = f"{self._command[0]}: {self._process.errorString()}"
            self._clear()
            self._set("failed")

    def _ended(self) -> None:
        self._read()
        self._read_errors()
        self._clear()
        if self.state == "cancelled":
            self.changed.emit()
        elif self._path is not None:
            self._set("done")
            self.finished.emit(self._path)
        else:
            self.error = self.error or _last_line(self._errors)
            self._set("failed")

    def _clear(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.deleteLater()

    def _set(self, state: State) -> None:
        self.state = state
        self.changed.emit()


def _environment() -> QProcessEnvironment:
    environment = QProcessEnvironment.systemEnvironment()
    environment.insert("PYTHONUTF8", "1")
    environment.insert("PYTHONUNBUFFERED", "1")
    return environment


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
