"""A code block: its language, a copy button, and the text, which scrolls sideways and is never
wrapped."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QWidget

from app.markdown.blocks import Block
from app.theme import current_theme, mono_font, resized
from app.widgets.code_highlighter import CodeHighlighter
from app.widgets.copy_button import CopyButton
from app.widgets.plain_size import plain_text_size

PAD = 12
HEADER = 32


class CodeText(QPlainTextEdit):
    """The text itself: left to right whatever the language around it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("codeText")
        self.setAccessibleName(self.tr("Code"))
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDefaultTextOption(option)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Sideways scrolls the code, up and down scrolls the chat."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeView(QFrame):
    """Grows while its fence is open; coloured when it closes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("codeView")
        self.left = 0  # how far the block stands in, because of lists around it
        self._block = Block("code")
        self._text = CodeText(self)
        self._language = QLabel(self)
        self._language.setProperty("kind", "muted")
        self._language.setTextFormat(Qt.TextFormat.PlainText)
        self._copy = CopyButton(self.tr("Copy code"), lambda: self._block.text, self)
        self._highlighter: CodeHighlighter | None = None

    def set_block(self, block: Block) -> None:
        """Show another state of the same block."""
        old, self._block = self._block, block
        self._text.setFont(mono_font(self.font()))
        self._language.setFont(resized(self.font(), 0.88))
        self._language.setText(block.language or self.tr("code"))
        self._write(old.text, block.text)
        if block.closed and block.language and (not old.closed or old.text != block.text):
            self._colour(block)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        self.left = int(self._block.indent * self.fontMetrics().height() * 1.35)
        inner = width - self.left - 2 * PAD
        needed = plain_text_size(self._text)
        bar = self._text.horizontalScrollBar().sizeHint().height()
        text = needed.height() + (bar if needed.width() > inner else 0)
        height = HEADER + text + PAD
        self._language.setGeometry(PAD, 0, max(inner - 40, 0), HEADER)
        self._copy.setGeometry(width - self.left - 34, 3, 28, 26)
        self._text.setGeometry(PAD, HEADER, max(inner, 0), text)
        return height

    def _write(self, old: str, new: str) -> None:
        if new.startswith(old) and old:
            cursor = QTextCursor(self._text.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(new[len(old) :])
        elif new != old:
            self._text.setPlainText(new)

    def _colour(self, block: Block) -> None:
        if self._highlighter is None:
            self._highlighter = CodeHighlighter(self._text.document(), current_theme())
        self._highlighter.start(block.text, block.language)
