"""The conversation on screen and the reply being written. GUI thread; writes go to the archive
in order.

A reply belongs to its conversation, not to the screen: it goes on, and is saved, while another one
is shown. Its text is kept here and appended to the archive at most once a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.archive import Archive
from app.conversation_tree import newest_leaf, path_to, siblings
from app.engine_worker import EngineClient, Failed, JobDone
from app.history import Conversation, History, State, StoredMessage
from app.settings import Settings
from engine import Finished, PrefillProgress, ReplyStats, TextDelta

FLUSH_MS = 1000
TITLE_LENGTH = 60


@dataclass
class Reply:
    """The reply being written."""

    job: int
    message: StoredMessage
    pieces: list[str] = field(default_factory=list)
    unsaved: list[str] = field(default_factory=list)
    prefill: PrefillProgress | None = None
    end: Finished | None = None
    error: Failed | None = None

    @property
    def text(self) -> str:
        """What has been written so far."""
        return "".join(self.pieces)


class ChatModel(QObject):
    """Commands from the widgets come in as methods; changes go out as signals."""

    path_changed = Signal()  # the list of messages shown is another one
    row_changed = Signal(int)  # message id: state, numbers or variants changed
    text_added = Signal(int, str)  # message id, new text at its end
    prefill_changed = Signal(int)  # message id
    reply_changed = Signal()  # a reply began or ended
    conversations_changed = Signal()
    conversation_changed = Signal()  # another conversation is shown

    def __init__(
        self,
        archive: Archive,
        engine: EngineClient,
        settings: Callable[[], Settings],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._archive = archive
        self._engine = engine
        self._settings = settings
        self.conversation = 0
        self.reply: Reply | None = None
        self.errors: dict[int, Failed] = {}
        self._messages: dict[int, StoredMessage] = {}
        self._leaf: int | None = None
        self._flush_timer = QTimer(self, interval=FLUSH_MS)
        self._flush_timer.timeout.connect(self.flush)
        engine.arrived.connect(self._on_event)

    # what is shown

    @property
    def path(self) -> list[StoredMessage]:
        """The messages shown, oldest first."""
        return path_to(self._messages, self._leaf)

    def message(self, message: int) -> StoredMessage | None:
        """A message of this conversation with its newest text."""
        found = self._messages.get(message)
        if found is not None and self.reply is not None and self.reply.message.id == message:
            return replace(found, text=self.reply.text)
        return found

    def variants(self, message: int) -> tuple[int, int]:
        """Which variant this is (from 1) and how many there are."""
        if message not in self._messages:
            return 1, 1
        ids = siblings(self._messages, message)
        return ids.index(message) + 1, len(ids)

    @property
    def replying_here(self) -> bool:
        """Whether the reply being written belongs to the conversation shown."""
        return self.reply is not None and self.reply.message.conversation == self.conversation

    # moving between conversations

    def open(self, conversation: Conversation | None) -> None:
        """Show a conversation, or an empty new one."""
        self.conversation = conversation.id if conversation else 0
        self._leaf = None
        self._messages = {}
        if conversation is not None:
            stored = self._archive.fetch(History.messages, conversation.id)
            self._messages = {message.id: message for message in stored}
            known = conversation.leaf in self._messages
            self._leaf = conversation.leaf if known else newest_leaf(self._messages, None)
        self.conversation_changed.emit()
        self.path_changed.emit()

    def draft(self) -> str:
        """What was typed here and not sent."""
        return self._archive.fetch(History.draft, self.conversation)

    def keep_draft(self, text: str) -> None:
        """Keep what is typed here."""
        self._archive.do(History.set_draft, self.conversation, text)

    # talking

    def send(self, text: str) -> bool:
        """Add a prompt and start its reply; False when one is still being written."""
        if self.reply is not None or not text.strip():
            return False
        if not self.conversation:
            self._archive.do(History.set_draft, 0, "")
            self._new_conversation(text)
        self._archive.do(History.set_draft, self.conversation, "")
        prompt = self._add("user", text, self._leaf)
        self._start_reply(prompt.id)
        return True

    def stop(self) -> None:
        """Stop the reply being written."""
        if self.reply is not None:
            self._engine.stop(self.reply.job)

    def regenerate(self, message: int) -> bool:
        """Write another variant of a reply (or the missing reply to a prompt)."""
        target = self._messages.get(message)
        if self.reply is not None or target is None:
            return False
        self._start_reply(target.id if target.role == "user" else target.parent)
        return True

    def edit(self, message: int, text: str) -> bool:
        """Send a changed prompt as a variant beside the old one."""
        target = self._messages.get(message)
        if self.reply is not None or target is None or not text.strip():
            return False
        prompt = self._add("user", text, target.parent)
        self._start_reply(prompt.id)
        return True

    def delete(self, message: int) -> None:
        """Take a message out; a prompt goes with the reply that follows it."""
        shown = self.path
        ids = [m.id for m in shown]
        if message not in ids or self.replying_here:
            return
        at = ids.index(message)
        pair = shown[at].role == "user" and at + 1 < len(ids) and shown[at + 1].role == "assistant"
        for gone in ids[at : at + 2] if pair else ids[at : at + 1]:
            self._remove(gone)
        self.path_changed.emit()

    def choose_variant(self, message: int, step: int) -> None:
        """Show the next (+1) or the previous (-1) variant of a message."""
        ids = siblings(self._messages, message)
        at = ids.index(message) + step
        if 0 <= at < len(ids) and not self.replying_here:
            self._leaf = newest_leaf(self._messages, ids[at])
            self._archive.do(History.set_leaf, self.conversation, self._leaf)
            self.path_changed.emit()

    def flush(self) -> None:
        """Save what was written since the last time."""
        reply = self.reply
        if reply is not None and reply.unsaved:
            self._archive.do(History.append, reply.message.id, "".join(reply.unsaved))
            reply.unsaved.clear()

    # inside

    def _new_conversation(self, first_text: str) -> None:
        self.conversation = self._archive.new_id()
        self._archive.do(History.add_conversation, self.conversation, title_from(first_text))
        self.conversation_changed.emit()

    def _add(
        self, role: Any, text: str, parent: int | None, state: State = "complete"
    ) -> StoredMessage:
        number = self._archive.new_id()
        message = StoredMessage(number, self.conversation, parent, role, text, state)
        self._messages[number] = message
        self._leaf = number
        self._saved = self._archive.do(History.add_message, message)
        return message

    def _start_reply(self, parent: int | None) -> None:
        settings = self._settings()
        messages = prompt_messages(path_to(self._messages, parent), settings.system_prompt)
        message = self._add("assistant", "", parent, "streaming")
        job = self._engine.reply(messages, settings.sampling, self._saved)
        self.reply = Reply(job, message)
        self._flush_timer.start()
        self.path_changed.emit()
        self.reply_changed.emit()
        self.conversations_changed.emit()

    def _on_event(self, job: int, event: Any) -> None:
        reply = self.reply
        if reply is None or reply.job != job:
            return
        if isinstance(event, TextDelta):
            reply.pieces.append(event.text)
            reply.unsaved.append(event.text)
            self.text_added.emit(reply.message.id, event.text)
        elif isinstance(event, PrefillProgress):
            reply.prefill = event
            self.prefill_changed.emit(reply.message.id)
        elif isinstance(event, Finished):
            reply.end = event
        elif isinstance(event, Failed):
            reply.error = event
        elif isinstance(event, JobDone):
            self._end_reply(reply)

    def _end_reply(self, reply: Reply) -> None:
        self._flush_timer.stop()
        self.reply = None
        state = _end_state(reply)
        stats = _stats_record(reply.end.stats) if reply.end else {}
        done = replace(reply.message, text=reply.text, state=state, stats=stats)
        self._archive.do(History.finish, done.id, done.text, state, stats)
        if reply.error is not None:
            self.errors[done.id] = reply.error
        if done.id in self._messages:
            self._messages[done.id] = done
        self.row_changed.emit(done.id)
        self.reply_changed.emit()

    def _remove(self, message: int) -> None:
        parent = self._messages.pop(message).parent
        for child in [m for m in self._messages.values() if m.parent == message]:
            self._messages[child.id] = replace(child, parent=parent)
        if self._leaf == message:
            self._leaf = parent
        self._archive.do(History.delete_message, message, self._leaf)


def title_from(text: str) -> str:
    """A conversation's first title: the first line of its first prompt, shortened."""
    line = " ".join(text.strip().split("\n", 1)[0].split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def prompt_messages(path: list[StoredMessage], system: str) -> tuple[tuple[str, str], ...]:
    """(role, text) pairs for the engine: empty replies left out, neighbours of one role joined."""
    pairs: list[tuple[str, str]] = [("system", system)] if system.strip() else []
    for message in path:
        if not message.text:
            continue
        if pairs and pairs[-1][0] == message.role:
            pairs[-1] = (message.role, f"{pairs[-1][1]}\n\n{message.text}")
        else:
            pairs.append((message.role, message.text))
    return tuple(pairs)


def _end_state(reply: Reply) -> State:
    if reply.error is not None:
        return "failed"
    if reply.end is None:
        return "stopped"
    return "complete" if reply.end.reason == "stop" else reply.end.reason


def _stats_record(stats: ReplyStats) -> dict[str, Any]:
    shown = {
        "decode_tok_s": stats.decode_tok_s,
        "prefill_tok_s": stats.prefill_tok_s,
        "hit_rate": stats.hit_rate,
        "time": time.time(),
    }
    return {**asdict(stats), **shown}
