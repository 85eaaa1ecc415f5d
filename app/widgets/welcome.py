"""What stands in an empty chat: a greeting, or the starter card while there is no model."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.prepare_job import PrepareJob
from app.theme import resized
from app.widgets.scrolled import scrolled
from app.widgets.starter_card import StarterCard


class Welcome(QWidget):
    """`show_starter` switches between the two."""

    def __init__(self, job: PrepareJob, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.card = StarterCard(job, self)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._greeting())
        self._stack.addWidget(scrolled(_centred(self.card)))

    def show_starter(self, starter: bool) -> None:
        """Show the starter card or the greeting."""
        self._stack.setCurrentIndex(int(starter))

    def _greeting(self) -> QWidget:
        page = QWidget(self)
        title = QLabel(self.tr("What shall we talk about?"), page)
        title.setFont(resized(self.font(), 1.7, QFont.Weight.DemiBold))
        text = QLabel(self.tr("Everything stays on this computer."), page)
        text.setProperty("kind", "muted")
        column = QVBoxLayout(page)
        column.addStretch(1)
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            column.addWidget(label)
        column.addStretch(1)
        return page


def _centred(widget: QWidget) -> QWidget:
    page = QWidget(widget.parentWidget())
    page.setObjectName("chatContent")
    column = QVBoxLayout(page)
    column.setContentsMargins(24, 24, 24, 24)
    column.addStretch(1)
    row = QHBoxLayout()
    row.addStretch(1)
    row.addWidget(widget, 1000)
    row.addStretch(1)
    column.addLayout(row)
    column.addStretch(1)
    return page
