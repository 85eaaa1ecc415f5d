"""The middle of the window: notices, messages or the welcome, and the composer. Joins them to
the chat model."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.engine_text import said
from app.prepare_job import PrepareJob
from app.viewmodels.chat import ChatModel
from app.viewmodels.library import LibraryModel
from app.widgets.chat_view import COLUMN, MARGIN, ChatView
from app.widgets.composer import Composer
from app.widgets.message_view import MessageView
from app.widgets.notice_bar import NoticeBar
from app.widgets.welcome import Welcome


class ChatPage(QWidget):
    """No logic of its own: signals of one side to methods of the other."""

    def __init__(
        self,
        chat: ChatModel,
        library: LibraryModel,
        starter: PrepareJob,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat = chat
        self._library = library
        self._failed = False
        self.notice = NoticeBar(self)
        self.view = ChatView(lambda message: chat.message(message.id) or message, self)
        self.welcome = Welcome(starter, self)
        self.composer = Composer(self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.view)
        self._lay_out()
        self._connect()
        self._show_conversation()
        self._show_path()
        self._show_library()

    def show_starter(self) -> None:
        """Offer the starter model although there are other models."""
        self.welcome.show_starter(True)
        self._stack.setCurrentWidget(self.welcome)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(MARGIN, 4, MARGIN, 18)
        row.addStretch(1)
        self.composer.setMaximumWidth(COLUMN + 24)
        row.addWidget(self.composer, 1000, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.notice)
        column.addWidget(self._stack, 1)
        column.addLayout(row)

    def _connect(self) -> None:
        chat = self._chat
        chat.path_changed.connect(self._show_path)
        chat.conversation_changed.connect(self._show_conversation)
        chat.text_added.connect(self._add_text)
        chat.row_changed.connect(self._show_row)
        chat.prefill_changed.connect(self._show_prefill)
        chat.reply_changed.connect(self._show_writing)
        self._library.changed.connect(self._show_library)
        self.view.view_made.connect(self._join)
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(chat.stop)
        self.composer.draft_changed.connect(chat.keep_draft)

    def _join(self, view: MessageView) -> None:
        view.edited.connect(self._chat.edit)
        view.again.connect(self._chat.regenerate)
        view.deleted.connect(self._chat.delete)
        view.variant_chosen.connect(self._chat.choose_variant)
        self._update_view(view, view.message.id)

    def _update_view(self, view: MessageView, number: int) -> None:
        message = self._chat.message(number)
        if message is None:
            return
        view.set_variants(*self._chat.variants(number))
        view.set_message(message, self._chat.errors.get(number))
        reply = self._chat.reply
        if reply is not None and reply.message.id == number:
            view.show_prefill(reply.prefill)

    def _send(self, text: str) -> None:
        if self._chat.send(text):
            self.composer.set_draft("")
            self.view.scroll_to_end()

    def _show_conversation(self) -> None:
        self.composer.set_draft(self._chat.draft())
        self.view.clear()

    def _show_path(self) -> None:
        path = self._chat.path
        self.view.show_messages(path, to_end=self._chat.replying_here)
        for message in path:
            view = self.view.view(message.id)
            if view is not None:
                view.set_variants(*self._chat.variants(message.id))
        self._stack.setCurrentWidget(self.view if path else self.welcome)

    def _add_text(self, message: int, text: str) -> None:
        view = self.view.view(message)
        if view is not None:
            view.add_text(text)

    def _show_row(self, message: int) -> None:
        view = self.view.view(message)
        if view is not None:
            self._update_view(view, message)

    def _show_prefill(self, message: int) -> None:
        view = self.view.view(message)
        reply = self._chat.reply
        if view is not None and reply is not None:
            view.show_prefill(reply.prefill)

    def _show_writing(self) -> None:
        writing = self._chat.reply is not None
        self.composer.set_writing(writing)
        if not writing:
            event = QAccessibleAnnouncementEvent(self.view, self.tr("The reply is finished"))
            QAccessible.updateAccessibility(event)

    def _show_library(self) -> None:
        library = self._library
        self.composer.set_allowed(library.status in ("loading", "ready"))
        self.welcome.show_starter(not library.has_models)
        if library.status == "failed" and library.error is not None:
            parts = (said(library.error.message), said(library.error.next_step))
            text = " ".join(part for part in parts if part)
            self.notice.show_notice(text, self.tr("Try again"), library.retry)
        elif library.status == "ready" and self._failed:
            self.notice.hide()
        self._failed = library.status == "failed"
