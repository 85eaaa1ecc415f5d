"""The archive on a full disk: nothing that was said is lost once there is room again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.archive import Archive
from app.conversation_tree import path_to
from app.core import Core
from app.history import History, StoredMessage
from engine import StorageError
from tests.app.fake_engine import FakeEngine

LONG = "word " * 20_000


def limit(history: History, pages: int) -> None:
    history._db.execute(f"PRAGMA max_page_count = {pages}")


def fill(archive: Archive) -> None:
    archive.fetch(limit, 1)  # SQLite takes the size there is: no page more


def make_room(archive: Archive) -> None:
    archive.fetch(limit, 1 << 20)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    opened = Archive(tmp_path / "chats.sqlite3")
    yield opened
    opened.close()


def say(archive: Archive, chat: int, parent: int | None, text: str) -> tuple[int, Future[Any]]:
    message = StoredMessage(archive.new_id(), chat, parent, "user", text)
    return message.id, archive.do(History.add_message, message)


def texts(archive: Archive, chat: int) -> list[str]:
    messages = {m.id: m for m in archive.fetch(History.messages, chat)}
    leaf = next(c.leaf for c in archive.fetch(History.conversations) if c.id == chat)
    return [m.text for m in path_to(messages, leaf)]


def test_a_message_that_found_the_disk_full_is_saved_before_the_next(archive: Archive) -> None:
    told: list[str] = []
    archive.failed = told.append
    chat = archive.new_id()
    archive.do(History.add_conversation, chat, "chat").result()
    first, _ = say(archive, chat, None, "first")
    fill(archive)
    second, saved = say(archive, chat, first, LONG)
    with pytest.raises(StorageError, match=r"cannot be saved now.*Free some space"):
        saved.result()
    assert texts(archive, chat) == ["first"] and len(told) == 1
    make_room(archive)
    _, saved = say(archive, chat, second, "third")
    saved.result()
    assert texts(archive, chat) == ["first", LONG, "third"]


def test_a_new_chat_on_a_full_disk_lives_on(archive: Archive) -> None:
    chat = archive.new_id()
    fill(archive)
    archive.do(History.add_conversation, chat, LONG)
    _, saved = say(archive, chat, None, "first")
    with pytest.raises(StorageError):
        saved.result()
    make_room(archive)
    assert texts(archive, chat) == ["first"]


def test_what_is_owed_is_written_at_the_end(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "chats.sqlite3")
    chat = archive.new_id()
    archive.do(History.add_conversation, chat, "chat").result()
    fill(archive)
    say(archive, chat, None, LONG)
    archive._thread.submit(limit, archive._history, 1 << 20)
    archive.close()
    again = Archive(tmp_path / "chats.sqlite3")
    assert texts(again, chat) == [LONG]
    again.close()


def test_what_the_engine_keeps_of_deleted_chats_goes_with_them(
    qtbot: QtBot, engine: FakeEngine, folder: Path
) -> None:
    archive = Archive(folder / "chats.sqlite3")
    chat = archive.new_id()
    archive.do(History.add_conversation, chat, "chat").result()
    archive.close()
    for deleted, forgotten in ((False, 0), (True, 0), (False, 1)):
        core = Core(engine, folder)
        assert engine.forgotten == forgotten
        core.archive.do(History.set_deleted, chat, deleted).result()
        core.close()
