"""One number of the live panel: its name, its value, a tooltip that says what is measured."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import resized
from app.widgets.sparkline import Sparkline


class StatRow(QWidget):
    """Name on the left, value on the right, and below them a plot if there is one."""

    def __init__(self, name: str, tip: str, span: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._label = QLabel(name, self)
        self._label.setProperty("kind", "muted")
        self._value = QLabel(self)
        self._value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.plot = Sparkline(span, self) if span else None
        row = QHBoxLayout()
        row.addWidget(self._label)
        row.addWidget(self._value, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(row)
        if self.plot is not None:
            column.addWidget(self.plot)
        for label in (self._label, self._value):
            label.setFont(resized(self.font(), 0.92))
        self.setToolTip(tip)
        self.setAccessibleName(name)

    def set_value(self, text: str) -> None:
        """Show a value."""
        if text != self._value.text():
            self._value.setText(text)
            self.setAccessibleDescription(f"{self._name}: {text}")

    @property
    def value(self) -> str:
        """The value shown."""
        return self._value.text()
