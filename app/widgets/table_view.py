"""A table: columns share the width; when there are too many, it scrolls sideways."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextTableFormat,
)
from PySide6.QtWidgets import QFrame, QWidget

from app.markdown.blocks import Align, Block
from app.widgets.document_view import DocumentView

ALIGNS = {
    "left": Qt.AlignmentFlag.AlignLeading,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignTrailing,
}


class TableText(DocumentView):
    """The table's document."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Table"))
        self.setObjectName("tableText")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)

    def write(self, block: Block) -> None:
        """Replace the table."""
        writer = self.writer()
        document = self.document()
        document.clear()
        document.setDefaultFont(self.font())
        columns = max((len(row) for row in block.rows), default=1)
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        table = cursor.insertTable(
            max(len(block.rows), 1), columns, self._format(QColor(writer.theme.border), columns)
        )
        for r, row in enumerate(block.rows):
            for c, cell in enumerate(row):
                at = table.cellAt(r, c).firstCursorPosition()
                self._align(at, block.aligns[c] if c < len(block.aligns) else "left")
                for span in cell:
                    look = writer.span_format(span)
                    if r == 0:
                        bold = QTextCharFormat()
                        bold.setFontWeight(600)
                        look.merge(bold)
                    at.insertText(span.text, look)
        _flatten_last_block(document)
        cursor.endEditBlock()

    @staticmethod
    def _align(cursor: QTextCursor, align: Align) -> None:
        layout = cursor.blockFormat()
        layout.setAlignment(ALIGNS[align])
        cursor.setBlockFormat(layout)

    @staticmethod
    def _format(border: QColor, columns: int) -> QTextTableFormat:
        look = QTextTableFormat()
        look.setBorder(1)
        look.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        look.setBorderBrush(QBrush(border))
        look.setBorderCollapse(True)
        look.setCellPadding(6)
        look.setCellSpacing(0)
        look.setHeaderRowCount(1)
        look.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        return look


class TableView(QFrame):
    """The table in its frame."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._block = Block("table")
        self._text = TableText(self)

    def set_block(self, block: Block) -> None:
        """Show another state of the table."""
        self._block = block
        self._text.setFont(self.font())
        self._text.write(block)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        columns = max((len(row) for row in self._block.rows), default=1)
        inner = max(width, int(columns * self.fontMetrics().height() * 4.5))
        height = self._text.fit_document(inner)
        if inner > width:
            height += self._text.horizontalScrollBar().sizeHint().height()
        self._text.setGeometry(0, 0, width, height)
        return height


def _flatten_last_block(document) -> None:  # type: ignore[no-untyped-def]
    """A document cannot end with a table: make the empty line after it invisible."""
    cursor = QTextCursor(document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    layout = cursor.blockFormat()
    layout.setLineHeight(0, 2)
    cursor.setBlockFormat(layout)
    tiny = QTextCharFormat()
    tiny.setFontPointSize(1)
    cursor.setBlockCharFormat(tiny)
