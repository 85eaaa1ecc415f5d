"""Base of the read-only text pieces in a message: as high as its text, scrolls nothing, loads
nothing."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QWheelEvent
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from app.markdown.parser import safe_link
from app.theme import current_theme
from app.widgets.prose_writer import ProseWriter, auto_direction


class DocumentView(QTextBrowser):
    """Links open in the browser, and only when clicked."""

    def __init__(self, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(label)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().setDefaultTextOption(auto_direction())
        self.anchorClicked.connect(open_link)

    def writer(self) -> ProseWriter:
        """A writer in this widget's look."""
        return ProseWriter(current_theme(), self.font())

    def fit_document(self, width: int) -> int:
        """Lay the text out for a width, whatever size the widget has now; returns the height."""
        self.setLineWrapColumnOrWidth(width)
        self.document().setTextWidth(width)
        return math.ceil(self.document().size().height())

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Nothing is ever loaded, from the disk or the network."""
        return None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The chat scrolls, not the piece under the pointer."""
        event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.textCursor().hasSelection() or self.anchorAt(event.pos()):
            super().contextMenuEvent(event)
        else:
            event.ignore()


def open_link(url: QUrl) -> None:
    """Open an http, https or mailto address; anything else is ignored."""
    if safe_link(url.toString()):
        QDesktopServices.openUrl(url)
