"""One Edge0 for one data folder: a lock file guards it, a local socket raises the window that
has it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

WAIT_MS = 1000


class SingleInstance(QObject):
    """`take` says whether this process may run; if not, the other one was asked to show up."""

    raised = Signal()

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()
        self._name = f"edge0-{digest[:20]}"
        self._lock = QLockFile(str(folder / "edge0.lock"))
        self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None

    def take(self) -> bool:
        """Lock the folder; False when another process has it."""
        if not self._lock.tryLock(0):
            self._ask_to_raise()
            return False
        QLocalServer.removeServer(self._name)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._asked)
        self._server.listen(self._name)
        return True

    def release(self) -> None:
        """Let the next one in."""
        if self._server is not None:
            self._server.close()
        self._lock.unlock()

    def _ask_to_raise(self) -> None:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if socket.waitForConnected(WAIT_MS):
            socket.write(b"raise\n")
            socket.waitForBytesWritten(WAIT_MS)
            socket.disconnectFromServer()

    def _asked(self) -> None:
        if self._server is None:
            return
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            self.raised.emit()
