"""The line below a message: its buttons, its variants, and what the reply cost."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.theme import resized
from app.widgets.copy_button import CopyButton
from app.widgets.icon_button import IconButton

HEIGHT = 30


class MessageFooter(QWidget):
    """Buttons only emit; the chat decides."""

    edit = Signal()
    again = Signal()
    delete = Signal()
    variant = Signal(int)

    def __init__(self, role: str, text: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 2, 0, 2)
        self._row.setSpacing(2)
        if role == "user":
            self._row.addStretch(1)
        self._add_variants()
        self._row.addWidget(CopyButton(self.tr("Copy message as Markdown"), text, self))
        if role == "user":
            self._add("edit", self.tr("Edit and send again"), self.edit)
        else:
            self._add("again", self.tr("Write another reply"), self.again)
        self._add("trash", self.tr("Delete message"), self.delete)
        self._caption = QLabel(self)
        self._caption.setProperty("kind", "muted")
        self._caption.setTextFormat(Qt.TextFormat.PlainText)
        self._caption.setContentsMargins(8, 0, 0, 0)
        if role != "user":
            self._row.addWidget(self._caption, 1)

    def set_caption(self, text: str, tip: str) -> None:
        """What the reply cost, in one line and in many."""
        self._caption.setFont(resized(self.font(), 0.86))
        self._caption.setText(text)
        self._caption.setToolTip(tip)

    def set_variants(self, number: int, count: int) -> None:
        """Show "2 / 3" with arrows when there is more than one."""
        self._variants.setVisible(count > 1)
        self._number.setText(f"{number} / {count}")
        self._back.setEnabled(number > 1)
        self._forth.setEnabled(number < count)

    def _add(self, icon: str, label: str, signal: SignalInstance) -> None:
        button = IconButton(icon, label, self, side=16)
        button.clicked.connect(signal)
        self._row.addWidget(button)

    def _add_variants(self) -> None:
        self._variants = QWidget(self)
        row = QHBoxLayout(self._variants)
        row.setContentsMargins(0, 0, 6, 0)
        row.setSpacing(0)
        self._back = IconButton("chevron-left", self.tr("Previous variant"), self, side=16)
        self._number = QLabel(self)
        self._number.setProperty("kind", "muted")
        self._forth = IconButton("chevron-right", self.tr("Next variant"), self, side=16)
        for widget in (self._back, self._number, self._forth):
            row.addWidget(widget)
        self._back.clicked.connect(lambda: self.variant.emit(-1))
        self._forth.clicked.connect(lambda: self.variant.emit(1))
        self._variants.hide()
        self._row.addWidget(self._variants)
