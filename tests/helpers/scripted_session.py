"""A session on a model that writes what a test says, and what its events add up to."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chat.session import Session
from engine.chat.template import ChatTemplate, Message
from engine.chat.tokenizer import Tokenizer
from engine.config import GenerateOptions
from engine.events import Finished, ReplyEvent, ReplyStats, TextDelta
from tests.helpers.fake_model import FakeModel
from tests.helpers.tiny_tokenizers import CONFIG, byte_level

TOKENIZER = Tokenizer(byte_level(), CONFIG)
END = 2
GREEDY = GenerateOptions(temperature=0.0, max_tokens=40)
USER = [Message("user", "What is the quick brown fox?")]


def plain(text: str) -> list[int]:
    """Ids of the text as a model writes it: a control token that it quotes is plain text."""
    return TOKENIZER.encode(text.replace("<|", "\U000f0000|"), {"\U000f0000": "<"})


class Script:
    """A model's part in a conversation: after each prompt it writes the next of these texts."""

    def __init__(self, *replies: str) -> None:
        self.replies = [[*plain(reply), END] for reply in replies]

    def __call__(self, ids: list[int]) -> int:
        starts = [place for place, token in enumerate(ids) if token == 1]
        reply = self.replies[len(starts) // 2 - 1]
        written = len(ids) - starts[-1] - len(TOKENIZER.encode("<|im_start|>assistant\n"))
        return reply[written]


def make(*replies: str, context_tokens: int = 4096) -> tuple[Session, FakeModel]:
    script = Script(*replies) if replies else None
    model = FakeModel(TOKENIZER.vocab_size, script, context_tokens)
    return Session(model, TOKENIZER, ChatTemplate()), model


def finish(events: Iterator[ReplyEvent]) -> tuple[str, Finished]:
    got = list(events)
    end = got[-1]
    assert isinstance(end, Finished)
    assert not any(isinstance(event, Finished) for event in got[:-1])
    return text(got), end


def text(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def stats_of(events: Iterator[ReplyEvent]) -> ReplyStats:
    return finish(events)[1].stats
