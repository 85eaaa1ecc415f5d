"""A long job in a child process: fetching, converting or looking up a model. Memory returns when
it ends.

The child is an `edge0 … --progress json`: JSON lines on stdout, {"done","total","what"} while
it works, then {"finished": folder}, {"forecast": …} or {"error","next_step"}. It may be killed at
any time; the same command goes on where it stopped.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from app.engine_text import read_text, read_texts

State = Literal["idle", "running", "cancelled", "failed", "done"]
GRACE_MS = 3000
LINE_LIMIT = 1 << 16
METER_S = 12.0  # a rate is told over so many seconds
log = logging.getLogger(__name__)


class PrepareJob(QObject):
    """One child at a time; `start` again after a cancel or a failure resumes."""

    changed = Signal()
    finished = Signal(object)  # Path of the ready model

    def __init__(self, command: Sequence[str] = (), parent: QObject | None = None) -> None:
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
        self.stage = ""
        self.rate: float | None = None  # of what `done` counts, a second
        self.eta_s: float | None = None
        self.detail = ""
        self.forecast: dict[str, Any] | None = None
        self.findings: list[dict[str, Any]] | None = None
        self.notes: list[str] = []
        self.error = ""
        self.next_step = ""
        self.page = ""  # where on the web the problem can be solved
        self._secret, self._proxy = b"", ""
        self._marks: deque[tuple[float, int]] = deque()

    @property
    def alive(self) -> bool:
        """Whether the child still runs, also while it ends."""
        return self._process is not None

    def use(self, command: Sequence[str], secret: str = "", proxy: str = "") -> None:
        """Another command for the next start; `secret` is a line for its stdin, kept in memory."""
        if self._process is None:
            self._command, self._secret = list(command), secret.encode()
            self._proxy = proxy
            self._forget()
            self._set("idle")

    def _forget(self) -> None:
        self._buffer = self._errors = b""
        self._path = self.forecast = self.findings = None
        self.error = self.next_step = self.page = self.what = self.stage = self.detail = ""
        self.done = self.total = 0
        self.rate = self.eta_s = None
        self.notes = []
        self._marks.clear()

    def start(self) -> None:
        """Start, or go on."""
        if self._process is not None:
            return
        self._forget()
        self._set("running")
        process = QProcess(self)
        process.setProcessEnvironment(_environment(self._proxy))
        if sys.platform != "win32":
            flags = QProcess.UnixProcessFlag.CreateNewSession
            process.setUnixProcessParameters(flags)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_errors)
        process.finished.connect(self._ended)
        process.errorOccurred.connect(self._not_started)
        self._process = process
        process.start(self._command[0], self._command[1:])
        if self._secret:
            process.write(self._secret + b"\n")
        process.closeWriteChannel()

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
            log.info("child: %s", line[:500].decode(errors="replace"))
            return
        if isinstance(record, dict):
            self._take_record(record)

    def _take_record(self, record: dict[str, Any]) -> None:
        if "finished" in record:
            self._path = Path(str(record["finished"]))
            self.notes = read_texts(record, "notes") + read_texts(record, "warnings")
        elif isinstance(record.get("forecast"), dict):
            self.forecast = record["forecast"]
        elif isinstance(record.get("findings"), list):
            self.findings = record["findings"]
        elif "error" in record:
            self.error, self.next_step = read_text(record, "error"), read_text(record, "next_step")
            self.page = str(record.get("page", ""))
        elif "done" in record:
            self.done = int(record["done"])
            self.total = int(record.get("total", 0))
            self.what, self.detail = read_text(record, "what"), read_text(record, "detail")
            self._measure(record)
            self.changed.emit()

    def _measure(self, record: dict[str, Any]) -> None:
        """Rate and time left: the child's own, or from what was told over the last seconds."""
        stage = str(record.get("stage", ""))
        if stage != self.stage or (self._marks and self.done < self._marks[-1][1]):
            self._marks.clear()
        self.stage = stage
        if "rate_bytes_s" in record:
            self.rate, self.eta_s = record["rate_bytes_s"], record.get("eta_s")
            return
        now = time.monotonic()
        self._marks.append((now, self.done))
        while now - self._marks[0][0] > METER_S:
            self._marks.popleft()
        begin, before = self._marks[0]
        gained, left = self.done - before, self.total - self.done
        self.rate = gained / (now - begin) if now - begin > 1 else None
        self.eta_s = left / self.rate if self.rate else None

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
        elif self.forecast is not None or self.findings is not None:
            self._set("done")
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


def _environment(proxy: str) -> QProcessEnvironment:
    """A proxy may hold a password: other programs see a command line, but not this."""
    environment = QProcessEnvironment.systemEnvironment()
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY") if proxy else ():
        environment.insert(name, proxy)
    environment.insert("PYTHONUTF8", "1")
    environment.insert("PYTHONUNBUFFERED", "1")
    return environment


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
