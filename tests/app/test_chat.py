"""The chat model: what is said, saved, asked again, edited, deleted, and where a reply belongs."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.core import Core
from app.history import Conversation, History, StoredMessage
from app.sampling import Sampling
from app.settings import Settings
from app.viewmodels.chat import prompt_messages, title_from
from engine import ChatError, GenerateOptions
from tests.app.conftest import reply_to
from tests.app.fake_engine import Script


def shown(core: Core) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in core.chat.path]


def stored(core: Core, conversation: int) -> list[StoredMessage]:
    return core.archive.fetch(History.messages, conversation)


def listed(core: Core) -> list[Conversation]:
    return core.archive.fetch(History.conversations)


def test_a_first_prompt_makes_a_conversation_and_a_reply(qtbot: QtBot, core: Core) -> None:
    reply_to(qtbot, core, "What is it?\nTell me.")
    assert shown(core) == [("user", "What is it?\nTell me."), ("assistant", "Hello there.")]
    (conversation,) = listed(core)
    assert conversation.title == "What is it?"
    prompt, reply = stored(core, conversation.id)
    assert (reply.state, reply.text, reply.parent) == ("complete", "Hello there.", prompt.id)
    assert reply.stats["first_token_s"] == 0.42


def test_the_prompt_is_on_disk_before_the_engine_sees_it(
    qtbot: QtBot, core: Core, script: Script
) -> None:
    seen: list[list[str]] = []

    def pieces(messages: object) -> list[str]:
        (conversation,) = listed(core)
        seen.append([message.text for message in stored(core, conversation.id)])
        return ["ok"]

    script.pieces = pieces
    reply_to(qtbot, core, "mine")
    assert seen == [["mine", ""]]


def test_the_engine_gets_system_prompt_path_and_sampling(
    qtbot: QtBot, core: Core, script: Script
) -> None:
    core.keep(Settings(system_prompt="Be brief.", sampling=Sampling(temperature=0)))
    script.own = GenerateOptions(temperature=0.2, top_p=0.9)
    reply_to(qtbot, core, "one")
    reply_to(qtbot, core, "two")
    assert [(m.role, m.content) for m in script.replies[-1]] == [
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "Hello there."),
        ("user", "two"),
    ]
    assert script.options[-1] == GenerateOptions(temperature=0, top_p=0.9)


def test_neighbours_of_one_role_are_joined_and_empty_replies_left_out() -> None:
    def message(role: str, text: str) -> StoredMessage:
        return StoredMessage(1, 1, None, role, text)  # type: ignore[arg-type]

    path = [message("user", "a"), message("assistant", ""), message("user", "b")]
    assert prompt_messages(path, "  ") == (("user", "a\n\nb"),)


@pytest.mark.parametrize(
    ("text", "title"),
    [("  hi \n there", "hi"), ("x" * 80, "x" * 59 + "…"), ("字 " * 10, "字 " * 9 + "字")],
)
def test_titles(text: str, title: str) -> None:
    assert title_from(text) == title


def test_another_reply_is_a_variant_and_the_old_one_stays(
    qtbot: QtBot, core: Core, script: Script
) -> None:
    reply_to(qtbot, core, "question")
    first = core.chat.path[-1].id
    script.pieces = lambda messages: ["Other"]
    core.chat.regenerate(first)
    qtbot.waitUntil(lambda: core.chat.reply is None)
    second = core.chat.path[-1].id
    assert shown(core)[-1] == ("assistant", "Other")
    assert core.chat.variants(second) == (2, 2)
    core.chat.choose_variant(second, -1)
    assert shown(core)[-1] == ("assistant", "Hello there.")
    core.chat.open(listed(core)[0])
    assert core.chat.path[-1].id == first


def test_an_edited_prompt_is_a_variant_with_its_own_reply(
    qtbot: QtBot, core: Core, script: Script
) -> None:
    reply_to(qtbot, core, "first")
    reply_to(qtbot, core, "more")
    prompt = core.chat.path[0].id
    assert core.chat.edit(prompt, "changed")
    qtbot.waitUntil(lambda: core.chat.reply is None)
    assert shown(core) == [("user", "changed"), ("assistant", "Hello there.")]
    assert [m.content for m in script.replies[-1]] == ["changed"]
    core.chat.choose_variant(core.chat.path[0].id, -1)
    assert [text for _, text in shown(core)] == ["first", "Hello there.", "more", "Hello there."]


def test_deleting_a_prompt_takes_its_reply_and_keeps_the_rest(qtbot: QtBot, core: Core) -> None:
    for text in ("one", "two", "three"):
        reply_to(qtbot, core, text)
    core.chat.delete(core.chat.path[2].id)
    assert [text for _, text in shown(core)] == ["one", "Hello there.", "three", "Hello there."]
    core.chat.delete(core.chat.path[-1].id)
    assert shown(core)[-1] == ("user", "three")
    core.chat.open(listed(core)[0])
    assert [text for _, text in shown(core)] == ["one", "Hello there.", "three"]
    core.chat.regenerate(core.chat.path[-1].id)
    qtbot.waitUntil(lambda: core.chat.reply is None)
    assert shown(core)[-1] == ("assistant", "Hello there.")


def test_a_reply_goes_on_while_another_conversation_is_shown(
    qtbot: QtBot, core: Core, script: Script
) -> None:
    reply_to(qtbot, core, "elsewhere")
    elsewhere = listed(core)[0]
    core.chat.open(None)
    script.pieces = lambda messages: [f"{i} " for i in range(60)]
    script.piece_s = 0.004
    core.chat.send("count")
    here = core.chat.conversation
    qtbot.waitUntil(lambda: core.chat.reply is not None and "5 " in core.chat.reply.text)
    core.chat.open(elsewhere)
    assert not core.chat.send("while busy")
    assert [text for _, text in shown(core)] == ["elsewhere", "Hello there."]
    core.chat.open(next(c for c in listed(core) if c.id == here))
    assert core.chat.replying_here
    number = core.chat.path[-1].id
    half = core.chat.message(number)
    assert half is not None and half.text.startswith("0 1 2")
    qtbot.waitUntil(lambda: core.chat.reply is None, timeout=5000)
    assert stored(core, here)[-1].text == "".join(f"{i} " for i in range(60))


def test_stop_keeps_what_was_written(qtbot: QtBot, core: Core, script: Script) -> None:
    script.pieces = lambda messages: ["word "] * 100_000
    script.piece_s = 0.002
    core.chat.send("go")
    qtbot.waitUntil(lambda: core.chat.reply is not None and bool(core.chat.reply.pieces))
    core.chat.stop()
    qtbot.waitUntil(lambda: core.chat.reply is None, timeout=2000)
    last = stored(core, core.chat.conversation)[-1]
    assert last.state == "stopped" and last.text.startswith("word ")
    reply_to_again = core.chat.regenerate(last.id)
    assert reply_to_again
    core.chat.stop()
    qtbot.waitUntil(lambda: core.chat.reply is None, timeout=2000)


def test_a_failed_reply_says_why_and_can_be_tried_again(
    qtbot: QtBot, core: Core, script: Script
) -> None:
    script.fail_reply = ChatError("The template is broken.", "Convert the model again.")
    reply_to(qtbot, core, "hello")
    number = core.chat.path[-1].id
    assert core.chat.errors[number].next_step == "Convert the model again."
    assert stored(core, core.chat.conversation)[-1].state == "failed"
    script.fail_reply = None
    core.chat.regenerate(number)
    qtbot.waitUntil(lambda: core.chat.reply is None)
    assert shown(core)[-1] == ("assistant", "Hello there.")


def test_drafts_belong_to_their_conversation(qtbot: QtBot, core: Core) -> None:
    core.chat.keep_draft("for a new chat")
    reply_to(qtbot, core, "said")
    assert core.chat.draft() == ""
    core.chat.keep_draft("half a thought")
    core.chat.open(None)
    assert core.chat.draft() == ""  # it was used for the chat that now exists
    core.chat.open(listed(core)[0])
    assert core.chat.draft() == "half a thought"


def test_many_replies_leave_nothing_behind(qtbot: QtBot, core: Core) -> None:
    from PySide6.QtCore import QObject

    for _ in range(5):
        reply_to(qtbot, core, "again")
    before = len(core.findChildren(QObject))
    for _ in range(40):
        reply_to(qtbot, core, "again")
    assert len(core.findChildren(QObject)) == before
    assert not core.engine.busy
