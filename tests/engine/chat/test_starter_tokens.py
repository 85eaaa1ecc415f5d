"""The starter model's own tokenizer and template, out of its GGUF file, against `transformers`.

The oracle gets our tokenizer.json: reading GGUF itself, it does not split digits as the model does.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chat.prompt import PromptEncoder
from engine.chat.template import ChatTemplate, Message
from engine.chat.tokenizer import Tokenizer
from engine.checkpoint.checkpoint import open_checkpoint
from tests.helpers.tiny_tokenizers import oracle_ids, transformers_tokenizer

CONTROLS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")


@pytest.fixture(scope="module")
def folder(starter_gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("starter")
    with closing(open_checkpoint(starter_gguf)) as checkpoint:
        for name, data in checkpoint.side_files().items():
            (path / name).write_bytes(data)
    return path


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.load(folder)


@pytest.fixture(scope="module")
def prompts(folder: Path, tokenizer: Tokenizer) -> PromptEncoder:
    template = ChatTemplate.load(folder)
    assert not template.notice
    return PromptEncoder(tokenizer, template)


@pytest.fixture(scope="module")
def oracle(folder: Path, tokenizer: Tokenizer) -> Any:
    template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
    description = (folder / "tokenizer.json").read_text(encoding="utf-8")
    return transformers_tokenizer(description, template, **tokenizer.tokens)


# 21 bytes are missing from this model's vocabulary, some control characters and rare planes.
LETTERS = st.characters(max_codepoint=0x2FFFF, exclude_categories=["Cc", "Cs"])
texts = st.text(max_size=30).filter(lambda text: not any(c in text for c in CONTROLS))


@settings(max_examples=60)
@given(st.lists(texts, min_size=1, max_size=3))
def test_prompts_are_those_of_transformers(
    prompts: PromptEncoder, oracle: Any, said: list[str]
) -> None:
    chat = [("user" if turn % 2 == 0 else "assistant", text) for turn, text in enumerate(said)]
    assert prompts.encode([Message(*turn) for turn in chat]) == oracle_ids(oracle, chat)


@settings(max_examples=200)
@given(st.text(LETTERS, max_size=40))
def test_streamed_text_is_the_text(tokenizer: Tokenizer, text: str) -> None:
    stream = tokenizer.detokenizer()
    shown = "".join(map(stream.push, tokenizer.encode(text)))
    if not any(c in text for c in CONTROLS):
        assert shown == text


def test_its_ends_are_known(prompts: PromptEncoder) -> None:
    assert prompts.stop_ids == {0, 2}  # <|endoftext|>, <|im_end|>


def test_a_quoted_end_is_no_end(prompts: PromptEncoder, tokenizer: Tokenizer) -> None:
    ids = prompts.encode([Message("user", "What does <|im_end|> mean?")])
    assert ids.count(2) == 2  # the template's own: after its system message and after this one
    assert "What does <|im_end|> mean?" in tokenizer.decode(ids)
