"""Streaming text: joined it is what `tokenizers` decodes, and no piece holds a broken character."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.chat.detokenizer import DecoderRules
from engine.chat.tokenizer import Tokenizer
from engine.errors import ChatError
from tests.helpers.tiny_tokenizers import byte_level, metaspace, sentencepiece

KINDS: dict[str, Callable[[], str]] = {
    "byte level": byte_level,
    "sentencepiece": sentencepiece,
    "sentencepiece without prefix": functools.partial(sentencepiece, prefix=False),
    "metaspace": metaspace,
}
FAMILY = "👩\u200d👩\u200d👧\u200d👦"
WORDS = [
    FAMILY,
    "🏴\U000e0067\U000e007f",
    "é",
    "e\u0301",
    "你好",
    "ไทย",
    " ",
    "  ",
    "\n",
    "the",
    "\ufffd",
    "<think>",
]
texts = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=3)), max_size=12).map("".join)


@functools.cache
def tokenizer(kind: str) -> Tokenizer:
    return Tokenizer(KINDS[kind](), {"eos_token": "</s>"})


def pieces(kind: str, ids: list[int]) -> list[str]:
    stream = tokenizer(kind).detokenizer()
    return [stream.push(token) for token in ids]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150)
@given(texts)
@example(FAMILY * 3)
@example("   three spaces")
@example("\U0010ffff\x00\r\n")
def test_pieces_join_to_what_the_tokenizer_decodes(kind: str, text: str) -> None:
    ids = tokenizer(kind).encode(text)
    streamed = pieces(kind, ids)
    assert "".join(streamed) == tokenizer(kind).decode(ids)
    for piece in streamed:
        piece.encode("utf-8")  # whole characters only
        assert "\ufffd" not in piece or "\ufffd" in text


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150)
@given(texts, st.integers(0, 200))
def test_a_reply_cut_anywhere_shows_a_beginning_of_it(kind: str, text: str, cut: int) -> None:
    """What is shown never changes later, and a character that is not complete is not shown."""
    ids = tokenizer(kind).encode(text)
    shown = "".join(pieces(kind, ids[:cut]))
    assert tokenizer(kind).decode(ids).startswith(shown)
    assert "\ufffd" not in shown or "\ufffd" in text


@settings(max_examples=300)
@given(st.lists(st.integers(0, 500), max_size=30))
def test_any_byte_level_ids_match(ids: list[int]) -> None:
    """A model may write invalid UTF-8. All that is held back is an unfinished end."""
    whole = tokenizer("byte level").decode(ids)
    shown = "".join(pieces("byte level", ids))
    assert whole.startswith(shown)
    assert set(whole[len(shown) :]) <= {"\ufffd"}


@settings(max_examples=300)
@given(st.lists(st.integers(0, 330), max_size=30))
def test_any_byte_fallback_ids_match_but_for_the_broken_bytes(ids: list[int]) -> None:
    whole = tokenizer("sentencepiece").decode(ids)
    shown = "".join(pieces("sentencepiece", ids))
    if "\ufffd" not in whole:
        assert shown == whole


@pytest.mark.parametrize("kind", KINDS)
def test_a_character_appears_with_its_last_byte(kind: str) -> None:
    ids = tokenizer(kind).encode("a🦔b")
    assert len(ids) >= 5  # the hedgehog is several tokens here
    streamed = [piece.strip() for piece in pieces(kind, ids)]
    assert [piece for piece in streamed if piece] == ["a", "🦔", "b"]
    assert streamed.index("🦔") - streamed.index("a") == len(ids) - 2 - streamed.index("a")


def test_control_tokens_are_not_shown_and_do_not_take_the_leading_space() -> None:
    tokens = tokenizer("sentencepiece")
    ids = [1, *tokens.encode("the end"), 2]
    assert "".join(pieces("sentencepiece", ids)) == tokens.decode(ids) == "the end"


def test_ids_that_no_token_has_are_left_out() -> None:
    assert "".join(pieces("byte level", [*tokenizer("byte level").encode("hi"), 99_999])) == "hi"


@pytest.mark.parametrize(
    "decoder",
    [
        None,
        {"type": "WordPiece"},
        {"type": "Sequence", "decoders": [{"type": "CTC"}]},
        {"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""},
        {"type": "Strip", "content": "x", "start": 1, "stop": 0},
        {"type": "Strip", "content": " ", "start": 1, "stop": 1},
        {"type": "Sequence", "decoders": "x"},
        "ByteLevel",
    ],
)
def test_an_unknown_decoder_is_refused(decoder: object) -> None:
    with pytest.raises(ChatError, match="tokenizer"):
        DecoderRules.from_description(decoder)
