"""One message on screen: a bubble for a prompt, a document for a reply, and the footer below."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from app.engine_text import said
from app.engine_worker import Failed
from app.history import StoredMessage
from app.theme import set_kind
from app.widgets.message_body import MessageBody
from app.widgets.message_editor import MessageEditor
from app.widgets.message_footer import HEIGHT, MessageFooter
from app.widgets.prose_view import ProseView
from app.widgets.reply_caption import caption, details
from engine import PrefillProgress

BUBBLE_PAD = (16, 10)
BUBBLE_SHARE = 0.82
GAP = 6


class MessageView(QWidget):
    """Lays itself out by hand: `fit(width)` places the parts and returns the height."""

    resized = Signal()
    edited = Signal(int, str)
    again = Signal(int)
    deleted = Signal(int)
    variant_chosen = Signal(int, int)

    def __init__(self, message: StoredMessage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.message = message
        self._text = message.text
        self._editor: MessageEditor | None = None
        self._status = QLabel(self)
        self._status.setWordWrap(True)
        self._status.setTextFormat(Qt.TextFormat.PlainText)
        self._status.hide()
        self._footer = MessageFooter(message.role, lambda: self._text, self)
        self._footer.edit.connect(self.start_edit)
        self._footer.again.connect(lambda: self.again.emit(self.message.id))
        self._footer.delete.connect(lambda: self.deleted.emit(self.message.id))
        self._footer.variant.connect(lambda step: self.variant_chosen.emit(self.message.id, step))
        if message.role == "user":
            self._build_bubble()
        else:
            self._build_body()

    def add_text(self, text: str) -> None:
        """Grow by a piece."""
        self._text += text
        self._status.hide()
        self._body.add_text(text)

    def set_message(self, message: StoredMessage, error: Failed | None) -> None:
        """Show another state: finished, stopped, failed."""
        self.message = message
        streaming = message.state == "streaming"
        if message.role == "assistant" and not streaming:
            self._body.finish()
        self._footer.setVisible(not streaming)
        self._footer.set_caption(caption(message.stats, message.state), details(message.stats))
        if error is not None or message.state == "failed":
            self._show_error(error)
        elif not self._text and not streaming and message.role == "assistant":
            self._show_status(self.tr("No reply was written."), "muted")
        self.resized.emit()

    def set_variants(self, number: int, count: int) -> None:
        """Which variant this is."""
        self._footer.set_variants(number, count)

    def show_prefill(self, progress: PrefillProgress | None) -> None:
        """Until the first text: how far the prompt has been read."""
        if self._text:
            return
        if progress is None:
            self._show_status(self.tr("Waiting for the model…"), "muted")
        else:
            text = self.tr("Reading the prompt: {0} of {1} tokens")
            self._show_status(text.format(progress.done, progress.total), "muted")
        self.resized.emit()

    def start_edit(self) -> None:
        """Change the prompt in place."""
        if self._editor is not None:
            return
        self._editor = MessageEditor(self._text, self)
        self._editor.accepted.connect(lambda text: self.edited.emit(self.message.id, text))
        self._editor.rejected.connect(self._end_edit)
        self._editor.resized.connect(self.resized)
        self._bubble.hide()
        self._footer.hide()
        self._editor.show()
        self.resized.emit()
        self._editor.entry.setFocus()

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        if self._editor is not None:
            height = self._editor.fit(width)
            self._editor.setGeometry(0, 0, width, height)
            return height
        y = self._fit_bubble(width) if self.message.role == "user" else self._fit_body(width)
        if not self._status.isHidden():
            y += GAP if y else 0
            height = self._status.heightForWidth(width)
            self._status.setGeometry(0, y, width, height)
            y += height
        self._footer.setGeometry(0, y + 2, width, HEIGHT)
        return y + 2 + HEIGHT

    def _build_bubble(self) -> None:
        self.setAccessibleName(self.tr("You wrote"))
        self._bubble = QFrame(self)
        self._bubble.setObjectName("bubble")
        self._prose = ProseView(self._bubble)
        self._prose.set_plain(self._text)

    def _build_body(self) -> None:
        self.setAccessibleName(self.tr("Reply"))
        self._body = MessageBody(self)
        self._body.set_text(self._text, finished=self.message.state != "streaming")
        self._body.grew.connect(self.resized)

    def _fit_bubble(self, width: int) -> int:
        across, down = BUBBLE_PAD
        inner = self._prose.natural_width(int(width * BUBBLE_SHARE) - 2 * across)
        height = self._prose.fit(inner)
        self._prose.setGeometry(across, down, inner, height)
        outer = inner + 2 * across
        left = 0 if self.isRightToLeft() else width - outer
        self._bubble.setGeometry(left, 0, outer, height + 2 * down)
        return height + 2 * down

    def _fit_body(self, width: int) -> int:
        height = self._body.fit(width)
        self._body.setGeometry(0, 0, width, height)
        return height

    def _show_error(self, error: Failed | None) -> None:
        parts = (
            [said(error.message), said(error.next_step)]
            if error
            else [self.tr("The reply failed.")]
        )
        self._show_status(" ".join(part for part in parts if part), "bad")

    def _show_status(self, text: str, kind: str) -> None:
        set_kind(self._status, kind)
        self._status.setText(text)
        self._status.show()

    def _end_edit(self) -> None:
        if self._editor is not None:
            self._editor.hide()
            self._editor.deleteLater()
            self._editor = None
            self._bubble.show()
            self._footer.show()
            self.resized.emit()
