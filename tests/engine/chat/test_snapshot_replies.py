"""Snapshots under whole replies: what a new session finds of an old one, and what it says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.chat.prefix_cache import PrefixCache
from engine.chat.session import Session
from engine.chat.snapshots import BLOCK
from engine.chat.template import ChatTemplate, Message
from engine.config import GenerateOptions
from engine.events import Finished, PrefillProgress, ReplyStats
from tests.engine.chat.conftest import GREEDY, LONG, TOKENIZER, files, opened
from tests.helpers.fake_model import FakeModel


def reply(cache: PrefixCache, chat: list[Message], template: ChatTemplate | None = None) -> str:
    """The reply, added to the chat."""
    session = Session(cache, TOKENIZER, template or ChatTemplate())
    events = list(session.reply(chat, GREEDY))
    written = "".join(getattr(event, "text", "") for event in events)
    chat.append(Message("assistant", written))
    return written


def stats(cache: PrefixCache, chat: list[Message]) -> tuple[ReplyStats, PrefillProgress]:
    events = list(Session(cache, TOKENIZER, ChatTemplate()).reply(chat, GREEDY))
    assert isinstance(events[0], PrefillProgress) and isinstance(events[-1], Finished)
    return events[-1].stats, events[0]


def test_the_second_session_reports_what_it_did_not_compute(
    caches: list[PrefixCache], tmp_path: Path
) -> None:
    chat = [Message("system", LONG), Message("user", "Who jumps?")]
    first = opened(caches, tmp_path)
    words = reply(first, chat)
    first.close()
    again = [*chat, Message("user", "Over whom?")]
    model = FakeModel(TOKENIZER.vocab_size)
    numbers, progress = stats(opened(caches, tmp_path, model=model), again)
    assert numbers.reused_tokens == progress.done > len(TOKENIZER.encode(LONG)) - BLOCK
    assert len(model.computed) < numbers.prompt_tokens - numbers.reused_tokens + 10
    plain = PrefixCache(FakeModel(TOKENIZER.vocab_size))
    assert reply(plain, chat[:2]) == words


def test_a_new_chat_finds_the_system_prompt(caches: list[PrefixCache], tmp_path: Path) -> None:
    system = Message("system", LONG)
    cache = opened(caches, tmp_path)
    reply(cache, [system, Message("user", "Who jumps?")])
    cache.close()
    numbers, _ = stats(opened(caches, tmp_path), [system, Message("user", "A new question")])
    assert numbers.reused_tokens > len(TOKENIZER.encode(LONG)) - BLOCK


FORGETFUL = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['role'] != 'assistant' or loop.index0 > messages|length - 2 %}{{ m['content'] }}"
    "{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.mark.parametrize("forgetful", [True, False])
def test_what_the_template_drops_later_is_not_written(
    caches: list[PrefixCache], tmp_path: Path, forgetful: bool
) -> None:
    """Templates leave thoughts out of later prompts: their rows would never be read."""
    template = ChatTemplate(FORGETFUL) if forgetful else ChatTemplate()
    (letter,) = TOKENIZER.encode("q")
    model = FakeModel(TOKENIZER.vocab_size, lambda ids: letter)
    cache = opened(caches, tmp_path, model=model)
    session = Session(cache, TOKENIZER, template)
    chat = [Message("user", LONG)]
    prompt = session.count_tokens(chat)
    list(session.reply(chat, GenerateOptions(temperature=0.0, max_tokens=4 * BLOCK)))
    cache.close()
    assert (files(tmp_path) == prompt // BLOCK) == forgetful
