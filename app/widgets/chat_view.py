"""The messages of a conversation. Only those on screen, and a little around it, exist as
widgets.

The rest are heights, guessed until measured. Whatever changes above, the row at the top of the
screen stays where it is; at the end the view follows a growing reply, unless the reader scrolled
up.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from app.history import StoredMessage
from app.widgets.jump_button import JumpButton
from app.widgets.message_view import MessageView
from app.widgets.row_heights import RowHeights

COLUMN = 760  # widest text column
MARGIN = 24
GAP = 18
NEAR_END = 6  # pixels from the end that still count as "at the end"


class ChatView(QScrollArea):
    """`make` builds the widget for a message and connects it."""

    view_made = Signal(object)  # MessageView

    def __init__(
        self, newest: Callable[[StoredMessage], StoredMessage], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("chat")
        self.setAccessibleName(self.tr("Conversation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._newest = newest
        self._content = QWidget()
        self._content.setObjectName("chatContent")
        self.setWidget(self._content)
        self.verticalScrollBar().setSingleStep(40)
        self._messages: list[StoredMessage] = []
        self._heights = RowHeights([], GAP)
        self._views: dict[int, MessageView] = {}  # by message id
        self._fitted: dict[int, int] = {}  # message id → width it was last laid out for
        self._at_end = True
        self._placing = False
        self._later = QTimer(self, interval=0, singleShot=True)
        self._later.timeout.connect(self.place)
        self.jump = JumpButton(self)
        self.jump.clicked.connect(self.scroll_to_end)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)

    def show_messages(self, messages: list[StoredMessage], to_end: bool) -> None:
        """Show another list; widgets of messages in both are kept."""
        kept = {message.id for message in messages}
        for number in [n for n in self._views if n not in kept]:
            self._drop(number)
        self._messages = messages
        self._heights = RowHeights([self._guess(message) for message in messages], GAP)
        self._fitted.clear()
        self._at_end = self._at_end or to_end
        self.place()

    def view(self, message: int) -> MessageView | None:
        """The widget of a message, when it exists."""
        return self._views.get(message)

    def clear(self) -> None:
        """Let go of all widgets (they are made again when needed)."""
        for number in list(self._views):
            self._drop(number)

    def place_later(self) -> None:
        """Lay out once after the current events."""
        self._later.start()

    def refit(self, message: int) -> None:
        """A message's height may have changed."""
        self._fitted.pop(message, None)
        self.place_later()

    def scroll_to_end(self) -> None:
        """Go to the last message and follow it."""
        self._at_end = True
        self.place()

    def place(self) -> None:
        """Make, measure and move what is on screen; keep the reader's place."""
        if self._placing:
            return
        self._placing = True
        self._later.stop()
        width = min(self.viewport().width() - 2 * MARGIN, COLUMN)
        scroll = self._settle(max(width, 120))
        self._put(scroll, max(width, 120))
        self._placing = False
        self._show_jump()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.clear()
            self.place_later()
        super().changeEvent(event)

    def _settle(self, width: int) -> int:
        """Measure until nothing on screen is a guess; returns the scroll that keeps the place."""
        bar = self.verticalScrollBar()
        screen = self.viewport().height()
        anchor, inside = self._anchor(bar.value())
        scroll = bar.value()
        for _ in range(8):
            scroll = self._wanted_scroll(anchor, inside, screen)
            rows = self._heights.rows_between(
                scroll - screen // 2 - MARGIN, scroll + screen * 3 // 2
            )
            changed = [self._measure(row, width) for row in rows]
            if not any(changed):
                break
        return scroll

    def _anchor(self, scroll: int) -> tuple[int, int]:
        rows = self._heights.rows_between(scroll - MARGIN, scroll - MARGIN + 1)
        row = rows.start if len(rows) else 0
        return row, scroll - MARGIN - (self._heights.top(row) if len(self._heights) else 0)

    def _wanted_scroll(self, anchor: int, inside: int, screen: int) -> int:
        most = max(self._heights.total + 2 * MARGIN - screen, 0)
        if self._at_end or not len(self._heights):
            return most
        return max(min(self._heights.top(anchor) + inside + MARGIN, most), 0)

    def _measure(self, row: int, width: int) -> bool:
        number = self._messages[row].id
        if self._fitted.get(number) == width and number in self._views:
            return False
        view = self._views.get(number) or self._make(self._messages[row])
        self._fitted[number] = width
        return self._heights.set(row, view.fit(width))

    def _make(self, message: StoredMessage) -> MessageView:
        view = MessageView(self._newest(message), self._content)
        view.resized.connect(lambda: self.refit(message.id))
        self._views[message.id] = view
        self.view_made.emit(view)
        return view

    def _put(self, scroll: int, width: int) -> None:
        screen = self.viewport().height()
        total = self._heights.total + 2 * MARGIN
        self._content.resize(self.viewport().width(), max(total, screen))
        left = max((self.viewport().width() - width) // 2, 0)
        near = self._heights.rows_between(scroll - 2 * screen, scroll + 3 * screen)
        for row, message in enumerate(self._messages):
            view = self._views.get(message.id)
            if view is None:
                continue
            if row in near or self._is_needed(view):
                top = self._heights.top(row) + MARGIN
                view.setGeometry(left, top, width, self._heights.height(row))
                view.show()
            else:
                self._drop(message.id)
        self.verticalScrollBar().setValue(scroll)

    @staticmethod
    def _is_needed(view: MessageView) -> bool:
        """Whether a widget must stay although it is out of sight: being written, or focused."""
        focus = QApplication.focusWidget()
        return view.message.state == "streaming" or (focus is not None and view.isAncestorOf(focus))

    def _guess(self, message: StoredMessage) -> int:
        line = self.fontMetrics().height() * 1.35
        lines = len(message.text) / 85 + message.text.count("\n") * 0.6 + 1
        return int(lines * line) + 50

    def _drop(self, number: int) -> None:
        view = self._views.pop(number)
        self._fitted.pop(number, None)
        view.hide()
        view.deleteLater()

    def _scrolled(self, value: int) -> None:
        if self._placing:
            return
        self._at_end = value >= self.verticalScrollBar().maximum() - NEAR_END
        self.place()

    def _show_jump(self) -> None:
        self.jump.setVisible(not self._at_end and bool(self._messages))
        if not self._at_end:
            last = self._newest(self._messages[-1]) if self._messages else None
            self.jump.set_growing(last is not None and last.state == "streaming")
            self.jump.place(self.viewport().size())
