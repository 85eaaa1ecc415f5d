"""Colours code after its fence closed, a few milliseconds at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.markdown.highlight import Run, highlight_lines
from app.theme import Theme

SLICE_S = 0.004


class CodeHighlighter(QSyntaxHighlighter):
    """Pygments runs as a generator; each finished line is coloured once."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._formats = {style: _format(colour) for style, colour in theme.tokens.items()}
        self._lines: list[list[Run]] = []
        self._work: Iterator[list[Run]] = iter(())
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._slice)

    def start(self, source: str, language: str) -> None:
        """Colour the document, which holds `source`."""
        self._lines = []
        self._work = highlight_lines(source, language)
        self._timer.start()

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        for start, length, style in self._lines[number] if number < len(self._lines) else ():
            self.setFormat(start, length, self._formats[style])

    def _slice(self) -> None:
        end = time.perf_counter() + SLICE_S
        while time.perf_counter() < end:
            line = next(self._work, None)
            if line is None:
                self._timer.stop()
                return
            self._lines.append(line)
            if line:
                self.rehighlightBlock(self.document().findBlockByNumber(len(self._lines) - 1))


def _format(colour: str) -> QTextCharFormat:
    look = QTextCharFormat()
    look.setForeground(QColor(colour))
    return look
