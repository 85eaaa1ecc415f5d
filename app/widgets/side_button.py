"""A wide, flat button with an icon, for the sidebar."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QPushButton, QWidget

from app.resources import icon
from app.theme import current_theme


class SideButton(QPushButton):
    """Icon and text, left-aligned."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._name = name
        self.setProperty("kind", "side")
        self.setIconSize(QSize(18, 18))
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()
        super().changeEvent(event)

    def _draw(self) -> None:
        colour = QColor(current_theme().text)
        self.setIcon(icon(self._name, colour, 18, self.devicePixelRatioF()))
