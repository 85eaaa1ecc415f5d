"""The text of one message as pieces below each other: prose, code, tables. Only what changed is
touched."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.markdown.blocks import Block
from app.markdown.stream import Change, MarkdownStream
from app.widgets.code_view import CodeView
from app.widgets.prose_view import ProseView
from app.widgets.table_view import TableView

PROSE_BLOCKS = 30  # a longer run is cut into several documents, so that a change stays cheap
SHARE = 4  # an update that took t may be repeated after SHARE × t
SLICE = 2500  # characters drawn in one update; more waits for the next, so that none is long


@dataclass
class Piece:
    """A widget, the Markdown blocks it shows, and its height at the width it was laid out for."""

    kind: str
    start: int
    count: int
    widget: ProseView | CodeView | TableView
    width: int = -1
    height: int = 0

    def fit(self, width: int) -> int:
        """The height for a width; laid out only after a change."""
        if self.width != width:
            self.width, self.height = width, self.widget.fit(width)
        return self.height


class MessageBody(QWidget):
    """Feed it with `add_text`; it tells `grew` when its height may have changed."""

    grew = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stream = MarkdownStream()
        self._pieces: list[Piece] = []
        self._waiting = ""  # text that was added and is not drawn yet
        self._finished = False
        self._next_update = 0.0
        self._late = QTimer(self, singleShot=True)
        self._late.timeout.connect(self.update_now)

    def set_text(self, text: str, finished: bool) -> None:
        """Show a whole message."""
        self._finished = finished
        self._stream.push(text)
        self._apply(self._stream.update(finished))

    def add_text(self, text: str) -> None:
        """Add a piece of a growing message; drawn now or a little later if drawing is slow."""
        self._waiting += text
        if self._next_update <= time.perf_counter():
            self.update_now()
        else:
            self._update_later()

    def finish(self) -> None:
        """No more text will come."""
        if not self._finished:
            self._finished = True
            self.update_now()

    def update_now(self) -> None:
        """Draw what was added, or the first part of it."""
        begin = time.perf_counter()
        self._late.stop()
        self._stream.push(self._waiting[:SLICE])
        self._waiting = self._waiting[SLICE:]
        self._apply(self._stream.update(self._finished and not self._waiting))
        self.grew.emit()
        end = time.perf_counter()
        self._next_update = end + SHARE * (end - begin)
        if self._waiting:
            self._update_later()

    def _update_later(self) -> None:
        if not self._late.isActive():
            wait = self._next_update - time.perf_counter()
            self._late.start(max(int(wait * 1000), 0) + 1)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        gap = int(self.fontMetrics().height() * 0.7)
        y = 0
        for piece in self._pieces:
            y += gap if y else 0
            height = piece.fit(width)
            left = piece.widget.left if isinstance(piece.widget, CodeView) else 0
            piece.widget.setGeometry(left, y, width - left, height)
            y += height
        return y

    def _apply(self, change: Change) -> None:
        at = self._first_touched(change.start)
        position = change.start
        blocks = list(change.blocks)
        while blocks or (at < len(self._pieces) and self._pieces[at].start < position):
            piece = self._pieces[at] if at < len(self._pieces) else None
            used = self._fill(piece, at, position, blocks)
            position += used
            del blocks[:used]
            at += 1
        self._drop_from(at)

    def _first_touched(self, start: int) -> int:
        """Index of the piece that holds block `start`, or could take it at its end."""
        for index, piece in enumerate(self._pieces):
            end = piece.start + piece.count
            room = piece.kind == "prose" and piece.count < PROSE_BLOCKS
            if start < end or (start == end and room):
                return index
        return len(self._pieces)

    def _fill(self, piece: Piece | None, at: int, position: int, blocks: Sequence[Block]) -> int:
        """Show the first blocks in piece `at`, made anew if of another kind; returns how many."""
        kind = _kind(blocks[0]) if blocks else "prose"
        if piece is not None and piece.kind == "prose" and piece.start < position:
            kind = "prose"
        if piece is None or piece.kind != kind:
            self._drop_from(at)
            piece = self._make(kind, position)
        piece.width = -1
        kept = position - piece.start
        if kind != "prose":
            piece.widget.set_block(blocks[0])  # type: ignore[union-attr]
            piece.start, piece.count = position, 1
            return 1
        run = list(itertools.takewhile(lambda block: _kind(block) == "prose", blocks))
        run = run[: max(PROSE_BLOCKS - kept, 0)]
        piece.widget.replace_from(kept, run)  # type: ignore[union-attr]
        piece.count = kept + len(run)
        return len(run)

    def _make(self, kind: str, start: int) -> Piece:
        kinds = {"code": CodeView, "table": TableView}
        widget: ProseView | CodeView | TableView = kinds.get(kind, ProseView)(self)  # type: ignore[assignment]
        widget.show()
        piece = Piece(kind, start, 0, widget)
        self._pieces.append(piece)
        return piece

    def _drop_from(self, at: int) -> None:
        for piece in self._pieces[at:]:
            piece.widget.hide()
            piece.widget.deleteLater()
        del self._pieces[at:]


def _kind(block: Block) -> str:
    return block.kind if block.kind in ("code", "table") else "prose"
