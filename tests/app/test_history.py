"""Chats on disk: damage, kills, search, the tree of variants, and how little is written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.archive import Archive
from app.conversation_tree import newest_leaf, path_to, siblings
from app.history import History, StoredMessage, search_conversations
from engine import StorageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "测试 用户　é'&#%" / "chats.sqlite3"


@pytest.fixture
def history(path: Path) -> Iterator[History]:
    opened = History(path)
    yield opened
    opened.close()


def add(history: History, conversation: int, parent: int | None, role: str, text: str) -> int:
    number = history.new_id()
    history.add_message(StoredMessage(number, conversation, parent, role, text))  # type: ignore[arg-type]
    return number


def talk(history: History, title: str = "Title") -> tuple[int, int, int]:
    conversation = history.new_id()
    history.add_conversation(conversation, title)
    prompt = add(history, conversation, None, "user", "What is é?")
    reply = add(history, conversation, prompt, "assistant", "A letter 字 😀")
    return conversation, prompt, reply


def test_what_was_said_is_there_after_a_restart(path: Path) -> None:
    history = History(path)
    conversation, prompt, reply = talk(history)
    history.finish(reply, "Done", "stopped", {"decode_tok_s": 3.5})
    history.close()
    again = History(path)
    (listed,) = again.conversations()
    assert (listed.title, listed.leaf) == ("Title", reply)
    first, second = again.messages(conversation)
    assert (first.text, first.parent, second.parent) == ("What is é?", None, prompt)
    assert (second.text, second.state, second.stats) == ("Done", "stopped", {"decode_tok_s": 3.5})
    assert again.new_id() > reply
    again.close()


def test_a_reply_cut_off_by_a_kill_keeps_its_pieces(path: Path) -> None:
    history = History(path)
    conversation, prompt, _ = talk(history)
    number = history.new_id()
    history.add_message(StoredMessage(number, conversation, prompt, "assistant", "", "streaming"))
    for piece in ("one ", "二 ", "😀"):
        history.append(number, piece)
    copy = path.with_name("copy.sqlite3")  # what a kill leaves: file and log, never closed
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).write_bytes(
            path.with_name(path.name + suffix).read_bytes()
        )
    after = History(copy)
    last = after.messages(conversation)[-1]
    assert (last.text, last.state) == ("one 二 😀", "interrupted")
    after.close()
    history.close()


@pytest.mark.parametrize("damage", ["junk", "cut", "middle", "zeros"])
def test_a_damaged_file_is_kept_aside_and_a_new_one_made(path: Path, damage: str) -> None:
    history = History(path)
    for i in range(60):
        talk(history, f"chat {i} " + "x" * 200)
    history.close()
    data = path.read_bytes()
    spoiled = {
        "junk": b"not a database at all" * 500,
        "cut": data[: len(data) // 2],
        "middle": data[:4096] + os.urandom(len(data) - 4096),
        "zeros": bytes(len(data)),
    }[damage]
    path.write_bytes(spoiled)
    again = History(path)
    assert again.conversations() == []
    assert again.moved_to is not None and again.moved_to.read_bytes() == spoiled
    talk(again)
    assert len(again.conversations()) == 1
    again.close()


def test_an_empty_file_is_not_damage(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    history = History(path)
    assert history.moved_to is None
    talk(history)
    history.close()


def test_chats_of_a_newer_version_are_left_alone(path: Path) -> None:
    History(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="newer"):
        History(path)
    assert path.read_bytes() == before


def test_a_folder_in_the_way_is_an_error_and_not_damage(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot be opened"):
        History(path)
    assert path.is_dir()


def test_what_cannot_be_tidied_up_at_the_start_is_told(path: Path) -> None:
    """Opening works; pieces of a reply that was cut off are the first that is written."""
    history = History(path)
    history.append(1, "a piece")
    history.close()
    db = sqlite3.connect(path)
    full = "SELECT RAISE(ABORT, 'database or disk is full')"
    db.execute(f"CREATE TRIGGER t BEFORE DELETE ON piece BEGIN {full}; END")
    db.close()
    with pytest.raises(StorageError, match="disk is full") as caught:
        History(path)
    assert "Free some space" in caught.value.next_step


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", 3),
        ("50%", 1),
        ("5_%", 0),
        ("字", 3),
        ("LETTER", 3),
        ("\\", 1),
        ("nothing", 0),
        ("'", 1),
    ],
)
def test_search_takes_text_literally(history: History, search: str, found: int) -> None:
    for title in ("50% off", "back\\slash", "it's"):
        talk(history, title)
    assert len(search_conversations(history.path, search)) == found


def test_pinned_chats_come_first_and_deleted_ones_come_back_until_the_next_start(
    path: Path,
) -> None:
    history = History(path)
    first, *_ = talk(history, "first")
    second, *_ = talk(history, "second")
    assert [c.title for c in history.conversations()] == ["second", "first"]
    history.pin(first, True)
    history.rename(second, "renamed")
    assert [c.title for c in history.conversations()] == ["first", "renamed"]
    history.set_draft(first, "typed")
    history.set_deleted(first, True)
    assert [c.title for c in history.conversations()] == ["renamed"]
    history.set_deleted(first, False)
    assert len(history.conversations()) == 2
    history.set_deleted(first, True)
    history.close()
    again = History(path)
    assert again.messages(first) == [] and again.draft(first) == ""
    again.close()


def test_deleting_a_message_joins_its_neighbours(history: History) -> None:
    conversation, prompt, reply = talk(history)
    more = add(history, conversation, reply, "user", "and?")
    history.delete_message(reply, more)
    messages = {m.id: m for m in history.messages(conversation)}
    assert [m.id for m in path_to(messages, more)] == [prompt, more]


def test_the_tree_finds_paths_and_variants_and_survives_bad_links() -> None:
    messages = {
        1: StoredMessage(1, 9, None, "user", "a"),
        2: StoredMessage(2, 9, 1, "assistant", "b"),
        3: StoredMessage(3, 9, 1, "assistant", "b2"),
        4: StoredMessage(4, 9, 3, "user", "c"),
        5: StoredMessage(5, 9, 6, "user", "loop"),
        6: StoredMessage(6, 9, 5, "user", "loop"),
        7: StoredMessage(7, 9, 99, "user", "orphan"),
    }
    assert [m.id for m in path_to(messages, 4)] == [1, 3, 4]
    assert siblings(messages, 2) == [2, 3]
    assert newest_leaf(messages, 1) == 4
    assert newest_leaf(messages, None) == 4
    assert [m.id for m in path_to(messages, 5)] == [6, 5]
    assert [m.id for m in path_to(messages, 7)] == [7]
    assert path_to(messages, None) == []


def test_a_growing_reply_writes_little(path: Path) -> None:
    """1,000 tokens at 10 a second, one flush a second, on top of a long chat."""
    history = History(path)
    conversation, prompt, _ = talk(history, "x" * 50)
    number = history.new_id()
    history.add_message(StoredMessage(number, conversation, prompt, "assistant", "", "streaming"))
    before = path.with_name(path.name + "-wal").stat().st_size
    for _ in range(100):
        history.append(number, "forty characters of text, ten tokens. " * 2)
    written = path.with_name(path.name + "-wal").stat().st_size - before
    assert written < 1_000_000
    history.close()


def test_the_archive_keeps_the_order_and_tells_failures(path: Path) -> None:
    failures: list[str] = []
    archive = Archive(path, failures.append)
    conversation = archive.new_id()
    archive.do(History.add_conversation, conversation, "a")
    for i in range(50):
        archive.do(History.rename, conversation, f"name {i}")
    assert archive.fetch(History.conversations)[0].title == "name 49"
    archive.do(History.add_conversation, conversation, "same id")
    archive.fetch(History.conversations)
    assert len(failures) == 1 and "UNIQUE" in failures[0]
    archive.close()
