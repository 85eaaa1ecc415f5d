"""Writes one Markdown block into a QTextDocument: one text block each, formats only, never HTML."""

from __future__ import annotations

import unicodedata

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextOption,
)

from app.markdown.blocks import Block, Span
from app.theme import Theme, mono_families

QUOTE = QTextFormat.Property.UserProperty + 1  # block property: depth of quotes
RULE = QTextFormat.Property.UserProperty + 2  # block property: this block is a rule
HEADING_SIZES = (1.5, 1.28, 1.12, 1.0, 1.0, 1.0)
LINE_SEPARATOR = "\u2028"


class ProseWriter:
    """Holds the look: a theme, a font, and lengths in that font's ems."""

    def __init__(self, theme: Theme, font: QFont) -> None:
        self.theme = theme
        self.font = font
        self.em = QFontMetricsF(font).height()
        self.indent_width = self.em * 1.35

    def write(self, cursor: QTextCursor, block: Block, first: bool) -> None:
        """Add `block` at the end; `first` fills the empty block a document starts with."""
        layout = self._block_format(block, first)
        if first:
            cursor.setBlockFormat(layout)
            cursor.setBlockCharFormat(QTextCharFormat())
        else:
            cursor.insertBlock(layout, QTextCharFormat())
        if block.marker:
            gap = "\u00a0\u00a0" if _right_to_left(block) else "\t"
            cursor.insertText(f"{block.marker}{gap}", self._marker_format())
        for span in block.spans:
            cursor.insertText(
                span.text.replace("\n", LINE_SEPARATOR), self.span_format(span, block)
            )

    def _block_format(self, block: Block, first: bool) -> QTextBlockFormat:
        layout = QTextBlockFormat()
        layout.setLineHeight(130, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        layout.setIndent(block.indent + block.quote)
        layout.setTopMargin(0 if first else self._space_before(block))
        if block.marker and not _right_to_left(block):
            layout.setTextIndent(-self.indent_width)
            tab = QTextOption.Tab(self.indent_width, QTextOption.TabType.LeftTab)
            layout.setTabPositions([tab])
        if block.quote:
            layout.setProperty(QUOTE, block.quote)
        if block.kind == "rule":
            layout.setProperty(RULE, True)
        if block.kind == "heading":
            layout.setHeadingLevel(block.level)
        return layout

    def _space_before(self, block: Block) -> float:
        if block.kind == "heading":
            return self.em * (1.1 if block.level <= 2 else 0.9)
        if block.kind == "rule":
            return self.em * 0.3
        return self.em * (0.28 if block.marker else 0.6)

    def _marker_format(self) -> QTextCharFormat:
        marker = QTextCharFormat()
        marker.setForeground(QColor(self.theme.muted))
        return marker

    def span_format(self, span: Span, block: Block | None = None) -> QTextCharFormat:
        """The character format of a span in a block."""
        look = QTextCharFormat()
        if block is not None and block.kind == "heading":
            look.setFontPointSize(self.font.pointSizeF() * HEADING_SIZES[block.level - 1])
            look.setFontWeight(QFont.Weight.DemiBold)
        elif block is not None and block.quote:
            look.setForeground(QColor(self.theme.muted))
        if span.bold:
            look.setFontWeight(QFont.Weight.Bold)
        look.setFontItalic(span.italic)
        look.setFontStrikeOut(span.strike)
        if span.code:
            look.setFontFamilies(mono_families())
            look.setFontStyleHint(QFont.StyleHint.Monospace)
            look.setBackground(QColor(self.theme.hover))
        if span.link:
            look.setAnchor(True)
            look.setAnchorHref(span.link)
            look.setForeground(QColor(self.theme.accent))
            look.setToolTip(span.link)
        return look


def _right_to_left(block: Block) -> bool:
    """Whether the first letter with a direction is written from the right."""
    for letter in "".join(span.text for span in block.spans):
        direction = unicodedata.bidirectional(letter)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def auto_direction() -> QTextOption:
    """Wrap anywhere if needed; each paragraph takes the direction of its own text."""
    option = QTextOption()
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option
