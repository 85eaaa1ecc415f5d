"""A run of paragraphs, headings, lists and quotes in one selectable document that grows at its
end."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QWidget

from app.markdown.blocks import Block
from app.widgets.document_view import DocumentView
from app.widgets.prose_writer import QUOTE, RULE

SLACK = 4  # pixels; mixed scripts may need a little more than their natural width


class ProseView(DocumentView):
    """`replace_from` rewrites the end only; what stands before is not laid out again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Message text"))
        self.setObjectName("prose")
        self._starts: list[int] = []  # document position where each block begins
        self._plain = False

    def set_plain(self, text: str) -> None:
        """Show text as it was typed, without Markdown."""
        self._plain = True
        self.document().setDefaultFont(self.font())
        self.setPlainText(text)

    def replace_from(self, index: int, blocks: Sequence[Block]) -> None:
        """Put `blocks` in the place of everything from block `index` on."""
        writer = self.writer()
        self.document().setDefaultFont(self.font())
        self.document().setIndentWidth(writer.indent_width)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        self._cut(cursor, index)
        for block in blocks:
            self._starts.append(cursor.position())
            writer.write(cursor, block, first=len(self._starts) == 1)
        cursor.endEditBlock()

    def natural_width(self, limit: int) -> int:
        """The width the text would like to have, at most `limit`."""
        self.fit(limit)
        return min(limit, math.ceil(self.document().idealWidth()) + SLACK)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        return self.fit_document(width)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        block = self.document().begin()
        while block.isValid() and not self._plain:
            self._decorate(painter, block)
            block = block.next()
        painter.end()
        super().paintEvent(event)

    def _cut(self, cursor: QTextCursor, index: int) -> None:
        if index < len(self._starts):
            cursor.setPosition(self._starts[index])
            last_kept = cursor.blockFormat()  # an empty block would take over the removed one's
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            cursor.setBlockFormat(last_kept)
            del self._starts[index:]
        cursor.movePosition(QTextCursor.MoveOperation.End)

    def _decorate(self, painter: QPainter, block: QTextBlock) -> None:
        layout = block.blockFormat()
        depth = layout.intProperty(QUOTE)
        if not depth and not layout.boolProperty(RULE):
            return
        area = self.document().documentLayout().blockBoundingRect(block)
        colour = QColor(self.writer().theme.border)
        if layout.boolProperty(RULE):
            middle = area.center().y()
            painter.fillRect(QRectF(0, middle, self.viewport().width(), 1), colour)
            return
        step = self.document().indentWidth()
        right = block.textDirection() == Qt.LayoutDirection.RightToLeft
        for level in range(depth):
            x = level * step
            left = self.viewport().width() - x - 3 if right else x
            top = area.top() + (0 if self._quote_goes_on(block) else layout.topMargin())
            painter.fillRect(QRectF(left, top, 3, area.bottom() - top), colour)

    @staticmethod
    def _quote_goes_on(block: QTextBlock) -> bool:
        before = block.previous()
        return before.isValid() and before.blockFormat().intProperty(QUOTE) > 0
