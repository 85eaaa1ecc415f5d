"""Conversations in SQLite. No Qt, no threads of its own: `Archive` calls it on one writer thread.

WAL, so a kill at any instant loses nothing that was committed. A growing reply is kept as appended
pieces (one small row a flush) and folded into its message at the end or at the next start. A
damaged file is moved aside, never overwritten. Messages form a tree by `parent`, so regenerated
and edited variants are kept.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from app.history_schema import prepare
from engine import StorageError, Text

Role = Literal["user", "assistant"]
State = Literal["complete", "streaming", "stopped", "length", "context", "interrupted", "failed"]


@dataclass(frozen=True)
class Conversation:
    """One row of the conversation list."""

    id: int
    title: str
    pinned: bool
    updated: float
    leaf: int | None


@dataclass(frozen=True)
class StoredMessage:
    """One message; `parent` is the message it answers or follows, None for the first."""

    id: int
    conversation: int
    parent: int | None
    role: Role
    text: str
    state: State = "complete"
    model: str = ""
    created: float = field(default_factory=time.time)
    stats: dict[str, Any] = field(default_factory=dict)


class History:
    """The open database. forgot: whether a conversation deleted last time is gone for good."""

    def __init__(self, path: Path) -> None:
        """Raises StorageError: a newer version, no permission, disk full."""
        self.path = path
        self.moved_to: Path | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = self._open_or_set_aside()
        except (OSError, sqlite3.Error) as error:
            raise _cannot_open(path, error) from error
        try:
            self.forgot = self._recover()
        except sqlite3.Error as error:
            self._db.close()
            raise _cannot_open(path, error) from error
        self._ids = itertools.count(self._largest_id() + 1)

    def new_id(self) -> int:
        """An id for a new conversation or message; may be called from any thread."""
        return next(self._ids)

    def close(self) -> None:
        """Fold the write-ahead log into the file and close."""
        self._db.close()

    # conversations

    def conversations(self) -> list[Conversation]:
        """Pinned ones first, then the last changed."""
        return _list(self._db, "")

    def add_conversation(self, conversation: int, title: str) -> None:
        """Make an empty conversation."""
        now = time.time()
        self._write(
            "INSERT INTO conversation (id, title, created, updated) VALUES (?, ?, ?, ?)",
            (conversation, title, now, now),
        )

    def rename(self, conversation: int, title: str) -> None:
        """Change the title."""
        self._write("UPDATE conversation SET title = ? WHERE id = ?", (title, conversation))

    def pin(self, conversation: int, pinned: bool) -> None:
        """Keep a conversation on top of the list, or not."""
        self._write("UPDATE conversation SET pinned = ? WHERE id = ?", (pinned, conversation))

    def set_deleted(self, conversation: int, deleted: bool) -> None:
        """Hide a conversation (it can be brought back until the app ends), or bring it back."""
        self._write("UPDATE conversation SET deleted = ? WHERE id = ?", (deleted, conversation))

    def set_leaf(self, conversation: int, leaf: int | None) -> None:
        """Choose the last message of the path that is shown."""
        self._write("UPDATE conversation SET leaf = ? WHERE id = ?", (leaf, conversation))

    # messages

    def messages(self, conversation: int) -> list[StoredMessage]:
        """All messages of a conversation, all variants, oldest first."""
        rows = self._db.execute(
            """SELECT id, conversation, parent, role, text, state, model, created, stats
            FROM message WHERE conversation = ? ORDER BY id""",
            (conversation,),
        )
        return [StoredMessage(*row[:8], stats=_stats(row[8])) for row in rows]  # type: ignore[misc]

    def add_message(self, message: StoredMessage) -> None:
        """Add a message and show it: it becomes the conversation's leaf."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    message.id,
                    message.conversation,
                    message.parent,
                    message.role,
                    message.text,
                    message.state,
                    message.model,
                    message.created,
                    json.dumps(message.stats),
                ),
            )
            db.execute(
                "UPDATE conversation SET leaf = ?, updated = ? WHERE id = ?",
                (message.id, message.created, message.conversation),
            )

    def append(self, message: int, text: str) -> None:
        """Keep a piece of a reply that is still being written."""
        self._write("INSERT INTO piece VALUES (?, ?)", (message, text))

    def finish(self, message: int, text: str, state: State, stats: dict[str, Any]) -> None:
        """Store a reply's final text in place of its pieces."""
        with self._transaction() as db:
            db.execute(
                "UPDATE message SET text = ?, state = ?, stats = ? WHERE id = ?",
                (text, state, json.dumps(stats), message),
            )
            db.execute("DELETE FROM piece WHERE message = ?", (message,))

    def delete_message(self, message: int, leaf: int | None) -> None:
        """Take one message out; what followed it now follows its parent."""
        with self._transaction() as db:
            row = db.execute(
                "SELECT parent, conversation FROM message WHERE id = ?", (message,)
            ).fetchone()
            if row is None:
                return
            db.execute("UPDATE message SET parent = ? WHERE parent = ?", (row[0], message))
            db.execute("DELETE FROM message WHERE id = ?", (message,))
            db.execute("UPDATE conversation SET leaf = ? WHERE id = ?", (leaf, row[1]))

    # drafts

    def draft(self, conversation: int) -> str:
        """What was typed there and not sent; conversation 0 is "new chat"."""
        row = self._db.execute(
            "SELECT text FROM draft WHERE conversation = ?", (conversation,)
        ).fetchone()
        return row[0] if row else ""

    def set_draft(self, conversation: int, text: str) -> None:
        """Keep typed text."""
        if text:
            self._write("INSERT OR REPLACE INTO draft VALUES (?, ?)", (conversation, text))
        else:
            self._write("DELETE FROM draft WHERE conversation = ?", (conversation,))

    # opening

    def _open_or_set_aside(self) -> sqlite3.Connection:
        try:
            db = self._open()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            db = None
        if db is not None:
            return db
        self.moved_to = self._set_aside()
        db = sqlite3.connect(self.path, check_same_thread=False)
        prepare(db, self.path)
        return db

    def _open(self) -> sqlite3.Connection | None:
        """The checked database, or None when it is damaged."""
        db = sqlite3.connect(self.path, check_same_thread=False)
        try:
            if db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                db.close()
                return None
            prepare(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    def _set_aside(self) -> Path:
        aside = self.path.with_name(f"{self.path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        for suffix in ("", "-wal", "-shm"):
            part = self.path.with_name(self.path.name + suffix)
            if part.exists():
                os.replace(part, aside.with_name(aside.name + self.path.suffix + suffix))
        return aside.with_name(aside.name + self.path.suffix)

    def _recover(self) -> bool:
        """Fold the pieces of replies that a kill cut off; forget what was deleted last time."""
        with self._transaction() as db:
            cut = db.execute("SELECT id, text FROM message WHERE state = 'streaming'").fetchall()
            for message, text in cut:
                rows = db.execute(
                    "SELECT text FROM piece WHERE message = ? ORDER BY rowid", (message,)
                )
                whole = text + "".join(row[0] for row in rows)
                db.execute(
                    "UPDATE message SET text = ?, state = 'interrupted' WHERE id = ?",
                    (whole, message),
                )
            db.execute("DELETE FROM piece")
            forgotten = db.execute("DELETE FROM conversation WHERE deleted").rowcount
            db.execute(
                "DELETE FROM draft WHERE conversation AND conversation NOT IN"
                " (SELECT id FROM conversation)"
            )
        return forgotten > 0

    def _largest_id(self) -> int:
        row = self._db.execute(
            "SELECT max(ifnull((SELECT max(id) FROM message), 0),"
            " ifnull((SELECT max(id) FROM conversation), 0))"
        ).fetchone()
        return int(row[0])

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        with self._transaction() as db:
            db.execute(sql, values)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._db:
            yield self._db


def search_conversations(path: Path, text: str) -> list[Conversation]:
    """Conversations with `text` in their title or messages, over a connection of its own."""
    db = sqlite3.connect(path)
    try:
        return _list(db, text)
    finally:
        db.close()


def _list(db: sqlite3.Connection, search: str) -> list[Conversation]:
    pattern = "%" + search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
    rows = db.execute(
        r"""SELECT id, title, pinned, updated, leaf FROM conversation c WHERE NOT deleted AND
        (?1 = '%%' OR title LIKE ?1 ESCAPE '\' OR EXISTS (SELECT 1 FROM message m
         WHERE m.conversation = c.id AND m.text LIKE ?1 ESCAPE '\'))
        ORDER BY pinned DESC, updated DESC, id DESC""",
        (pattern,),
    )
    return [Conversation(i, title, bool(p), updated, leaf) for i, title, p, updated, leaf in rows]


def _cannot_open(path: Path, error: Exception) -> StorageError:
    return StorageError(
        Text("The chats in {0} cannot be opened: {1}.", path, error),
        Text("Free some space there, and check that you may write there; then start again."),
    )


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is broken, and not the disk or the rights to it."""
    return "malformed" in str(error) or "not a database" in str(error)


def _stats(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
