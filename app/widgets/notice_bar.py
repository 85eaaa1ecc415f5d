"""A line above the chat for what went wrong or was done, with one thing to do about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.widgets.icon_button import IconButton


class NoticeBar(QFrame):
    """Shows one notice at a time; a new one replaces the old."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self._text = QLabel(self)
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setAccessibleName(self.tr("Notice"))
        self._button = QPushButton(self)
        self._button.setAccessibleName(self.tr("Notice"))
        self._close = IconButton("close", self.tr("Close this notice"), self, side=16)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 8, 8)
        row.addWidget(self._text, 1)
        row.addWidget(self._button)
        row.addWidget(self._close)
        self._action: Callable[[], None] | None = None
        self._button.clicked.connect(self._act)
        self._close.clicked.connect(self.hide)
        self.hide()

    def show_notice(
        self, text: str, button: str = "", action: Callable[[], None] | None = None
    ) -> None:
        """Show a text and, if given, a button that does something and closes the notice."""
        self._text.setText(text)
        self.setAccessibleName(text)
        self._action = action
        self._button.setText(button)
        self._button.setAccessibleName(button)
        self._button.setVisible(action is not None)
        self.show()

    @property
    def text(self) -> str:
        """The notice shown."""
        return self._text.text()

    def _act(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()
