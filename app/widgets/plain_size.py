"""How much room the text of a QPlainTextEdit takes; the widget itself counts lines, not pixels."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPlainTextEdit


def plain_text_size(edit: QPlainTextEdit) -> QSize:
    """Width of the longest line and height of all lines, with the document's margins."""
    layout = edit.document().documentLayout()
    block = edit.document().begin()
    width = height = 0.0
    while block.isValid():
        height += layout.blockBoundingRect(block).height()
        lines = block.layout()
        for i in range(lines.lineCount()):
            width = max(width, lines.lineAt(i).naturalTextWidth())
        block = block.next()
    margins = 2 * edit.document().documentMargin()
    return QSize(math.ceil(width + margins), math.ceil(height + margins))
