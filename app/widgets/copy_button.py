"""A copy button that answers with a check mark for a moment."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.widgets.icon_button import IconButton

SHOWN_MS = 1200


class CopyButton(IconButton):
    """Copies what `text` returns."""

    def __init__(
        self, label: str, text: Callable[[], str], parent: QWidget | None = None, side: int = 16
    ) -> None:
        super().__init__("copy", label, parent, side=side)
        self._text = text
        self._back = QTimer(self, interval=SHOWN_MS, singleShot=True)
        self._back.timeout.connect(lambda: self.set_icon("copy"))
        self.clicked.connect(self._copy)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text())
        self.set_icon("check")
        self._back.start()
