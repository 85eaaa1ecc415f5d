"""Changing a prompt in place: Enter sends the changed one, Escape leaves it as it was."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.widgets.entry import Entry

MOST_LINES = 14


class MessageEditor(QFrame):
    """A field with two buttons."""

    accepted = Signal(str)
    rejected = Signal()
    resized = Signal()

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.entry = Entry(self.tr("Edit message"), self)
        self.entry.setObjectName("composerText")
        self.entry.setPlainText(text)
        self.entry.moveCursor(self.entry.textCursor().MoveOperation.End)
        send = QPushButton(self.tr("Send"), self)
        send.setProperty("kind", "primary")
        cancel = QPushButton(self.tr("Cancel"), self)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(send)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 10, 10, 10)
        self._column.addWidget(self.entry)
        self._column.addLayout(buttons)
        send.clicked.connect(self._accept)
        cancel.clicked.connect(self.rejected)
        self.entry.submitted.connect(self._accept)
        self.entry.cancelled.connect(self.rejected)
        self.entry.textChanged.connect(self.resized)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        self.resize(width, self.height())
        self._column.activate()
        self.entry.setFixedHeight(self.entry.height_for(MOST_LINES))
        return self._column.totalMinimumSize().height()

    def _accept(self) -> None:
        if self.entry.toPlainText().strip():
            self.accepted.emit(self.entry.toPlainText())
