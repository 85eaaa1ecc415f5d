"""A small button that shows a line icon in the theme's colour and has a name for screen readers."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QToolButton, QWidget

from app.resources import icon
from app.theme import current_theme


class IconButton(QToolButton):
    """`tone` is "muted", "text" or "on_accent"."""

    def __init__(
        self,
        name: str,
        label: str,
        parent: QWidget | None = None,
        tone: str = "muted",
        side: int = 18,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._tone = tone
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setIconSize(QSize(side, side))
        self.set_label(label)
        self._draw()

    def set_label(self, label: str) -> None:
        """The tooltip, which is also the accessible name."""
        self.setToolTip(label)
        self.setAccessibleName(label)

    def set_icon(self, name: str) -> None:
        """Show another icon."""
        if name != self._name:
            self._name = name
            self._draw()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()
        super().changeEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._draw()
        return super().event(event)

    def _draw(self) -> None:
        colour = QColor(getattr(current_theme(), self._tone))
        self.setIcon(icon(self._name, colour, self.iconSize().width(), self.devicePixelRatioF()))
