"""Prompts: exactly the ids of `transformers`, except that nothing typed becomes a control token."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chat.prompt import PromptEncoder
from engine.chat.template import CHATML, ChatTemplate, Message
from engine.chat.tokenizer import Tokenizer
from engine.errors import ChatError
from tests.helpers.tiny_tokenizers import (
    CONFIG,
    byte_level,
    metaspace,
    oracle_ids,
    sentencepiece,
    transformers_tokenizer,
)

LLAMA = """{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}
{{ ' ' + m.content | trim + ' ' + eos_token }}{% else %}{{ '[INST] ' + m.content + ' [/INST]' }}
{% endif %}{% endfor %}"""
THINKING = """{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}
{%- set text = m.content %}
{%- if m.role == 'assistant' %}{% set text = text.split('</think>')[-1].lstrip('\\n') %}{% endif %}
{{- text | trim + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"""
S_TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
CASES = {
    "chatml": (byte_level, CHATML, {}),
    "thinking": (byte_level, THINKING, {}),
    "llama": (sentencepiece, LLAMA, S_TOKENS),
    "llama, newer": (metaspace, LLAMA, S_TOKENS),
}
CONTROLS = ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "</s>", "<s>", "<unk>"]
ordinary = st.text(max_size=20).filter(lambda text: not any(c in text for c in CONTROLS))
chats = st.lists(ordinary, min_size=1, max_size=5).map(
    lambda texts: [("user" if i % 2 == 0 else "assistant", t) for i, t in enumerate(texts)]
)


@functools.cache
def encoder(case: str) -> PromptEncoder:
    describe, template, tokens = CASES[case]
    return PromptEncoder(Tokenizer(describe(), tokens), ChatTemplate(template, tokens))


def encode(case: str, *chat: tuple[str, str]) -> list[int]:
    return encoder(case).encode([Message(role, text) for role, text in chat])


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=60)
@given(chats)
def test_ordinary_prompts_are_those_of_transformers(case: str, chat: list[tuple[str, str]]) -> None:
    assert encode(case, *chat) == oracle_ids(oracle(case), chat)


@functools.cache
def oracle(case: str) -> object:
    describe, template, tokens = CASES[case]
    return transformers_tokenizer(describe(), template, **tokens)


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(["<|im_", "end|>", *CONTROLS[:3], "<", "|>", " ", "a", "\n"]), max_size=6
    )
)
def test_nothing_typed_becomes_a_control_token(parts: list[str]) -> None:
    """And nothing typed is lost: between the template's own tokens it reads as it was typed."""
    text = "".join(parts)
    tokenizer = Tokenizer(byte_level(), CONFIG)
    for case in ("chatml", "thinking"):
        ids = encode(case, ("user", text), ("assistant", text), ("user", text))
        controls = [i for i in ids if i in tokenizer.controls.values()]
        assert controls == [1, 2, 1, 2, 1, 2, 1]
        shown = text.strip() if case == "thinking" else text
        assert tokenizer.decode(ids).startswith(
            f"user\n{shown}\nassistant\n{shown}\nuser\n{shown}\n"
        )


def test_two_messages_cannot_make_a_control_token_together() -> None:
    """Some templates put texts side by side, after trimming them."""
    joined = "{% for m in messages %}{{ m.content | trim }}{% endfor %}"
    tokenizer = Tokenizer(byte_level(), CONFIG)
    prompts = PromptEncoder(tokenizer, ChatTemplate(joined))
    for first, second in (("a <|im_", "end|>"), ("<" + " " * 99, "|im_end|>"), ("<|im_end|", ">")):
        ids = prompts.encode([Message("system", first), Message("user", second)])
        assert 2 not in ids
        assert tokenizer.decode(ids) == (first.strip() + second).strip()


def test_quoting_works_with_private_use_characters_in_the_text() -> None:
    text = "\U000f0000 \U000f0001 <|im_end|>"
    ids = encode("chatml", ("user", text))
    tokenizer = Tokenizer(byte_level(), CONFIG)
    assert tokenizer.decode(ids) == f"user\n{text}\nassistant\n"
    assert ids.count(2) == 1


def test_the_template_sees_the_text_it_looks_for() -> None:
    """Disguising a quoted control token leaves <think> in the same message as it is."""
    chat = [("user", "a"), ("assistant", "<think>x <|im_end|></think>\nb"), ("user", "c")]
    assert encode("thinking", *chat) == encode("thinking", chat[0], ("assistant", "b"), chat[2])


def test_many_control_tokens_and_a_text_full_of_brackets_stay_fast() -> None:
    from tokenizers import Tokenizer as Reference

    reference = Reference.from_str(byte_level())
    reference.add_special_tokens([f"<|reserved_{n}|>" for n in range(2000)])
    prompts = PromptEncoder(Tokenizer(reference.to_str(), CONFIG), ChatTemplate())
    html = "<p>" * 20_000
    assert len(prompts.encode([Message("user", html + "<|im_end|>")])) > 20_000


def test_the_end_of_a_turn_is_learnt_from_the_template() -> None:
    from tokenizers import Tokenizer as Reference

    reference = Reference.from_str(byte_level())
    reference.add_special_tokens(["<|end|>", "<|call|>"])
    template = "{% for m in messages %}<|im_start|>{{ m.content }}<|end|>{% endfor %}"
    tokenizer = Tokenizer(reference.to_str())
    end = tokenizer.token_id("<|end|>")
    assert end not in tokenizer.stop_ids
    assert PromptEncoder(tokenizer, ChatTemplate(template)).stop_ids == {2, end}


def test_an_empty_conversation_is_refused() -> None:
    with pytest.raises(ChatError):
        encoder("chatml").encode([])
