"""The button that brings a reader who scrolled up back to the newest text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from app.widgets.icon_button import IconButton


class JumpButton(IconButton):
    """Floats over the lower edge of the chat."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("down", "", parent, tone="text", side=16)
        self.setProperty("kind", "jump")
        self.set_label(self.tr("Go to the newest text"))
        self.setText(self.tr("new"))
        self.hide()

    def set_growing(self, growing: bool) -> None:
        """Say "new" while text is being written down there."""
        style = Qt.ToolButtonStyle
        self.setToolButtonStyle(
            style.ToolButtonTextBesideIcon if growing else style.ToolButtonIconOnly
        )

    def place(self, area: QSize) -> None:
        """Stand at the lower edge of `area`."""
        self.adjustSize()
        self.move((area.width() - self.width()) // 2, area.height() - self.height() - 10)
        self.raise_()
