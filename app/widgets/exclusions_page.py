"""The page of the settings about Windows Defender: what we excluded, and undoing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.background import Background
from app.exclusion_words import FAILURES, outcome_words
from app.theme import set_kind


class ExclusionsPage(QWidget):
    """`read` gives (entry, step) pairs; a step takes its exclusion back."""

    def __init__(self, read: Callable[[], Sequence[tuple[Any, Any]]]) -> None:
        super().__init__()
        self._read = read
        self.undo: list[QPushButton] = []
        self._rows: list[QWidget] = []
        self._task = Background(self)
        self._about, self._outcome = _text(), _text()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 18, 12, 12)
        self._column.addWidget(self._about)
        self._column.addWidget(self._outcome)
        self._column.addStretch(1)
        self._task.done.connect(self._done)
        self._task.failed.connect(lambda text: self._tell(text, True))
        self._fill()
        self._tell("", False)

    def _fill(self) -> None:
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self.undo, self._rows = [], []
        found = self._read()
        for place, (entry, step) in enumerate(found):
            self._column.insertWidget(place + 1, self._row(entry, step))
        self._about.setText(
            self.tr("These files are not scanned, because you excluded them here:")
            if found
            else self.tr("Edge0 has excluded nothing. The setup wizard offers it.")
        )

    def _row(self, entry: Any, step: Any) -> QWidget:
        widget = QWidget()
        row = QHBoxLayout(widget)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(_text(self.tr("{0} (since {1})").format(entry.pattern, entry.added)), 1)
        button = QPushButton(self.tr("Undo"))
        button.setAccessibleName(self.tr("Undo the exclusion of {0}").format(entry.pattern))
        button.clicked.connect(lambda: self._undo(step))
        row.addWidget(button)
        self.undo.append(button)
        self._rows.append(widget)
        return widget

    def _undo(self, step: Any) -> None:
        for button in self.undo:
            button.setEnabled(False)
        self._tell(self.tr("Windows asks for permission…"), False)
        self._task.start(lambda stop: step.remove())

    def _done(self, outcome: str) -> None:
        self._tell(outcome_words("remove", outcome), outcome in FAILURES)
        self._fill()

    def _tell(self, text: str, bad: bool) -> None:
        self._outcome.setText(text)
        set_kind(self._outcome, "bad" if bad else "title")
        self._outcome.setVisible(bool(text))
        for button in self.undo:
            button.setEnabled(not self._task.running)


def _text(text: str = "") -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
