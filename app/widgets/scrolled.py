"""A page in a frame that scrolls: on a small screen, or with large letters, nothing is cut off."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


def scrolled(page: QWidget) -> QScrollArea:
    """The page keeps its width and scrolls when it is too high."""
    area = QScrollArea(page.parentWidget())
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(page)
    return area
