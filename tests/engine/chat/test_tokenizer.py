"""Loading real tokenizer files, what ends a reply, and encoding under every kind of bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference

from engine.chat.tokenizer import Tokenizer
from engine.errors import ChatError, StorageError
from tests.helpers.tiny_tokenizers import CONFIG, byte_level, sentencepiece

BYTES = Tokenizer(byte_level(), CONFIG)


def changed(**parts: Any) -> str:
    """The byte-level description with some of its parts replaced."""
    return json.dumps({**json.loads(byte_level()), **parts})


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_loads_from_a_folder_with_any_name(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "测试 用户　é'&#%",
        {
            "tokenizer.json": byte_level(),
            "tokenizer_config.json": json.dumps({**CONFIG, "eos_token": {"content": "<|im_end|>"}}),
            "generation_config.json": '{"eos_token_id": [0, 300]}',
        },
    )
    tokenizer = Tokenizer.load(folder)
    assert tokenizer.stop_ids == {0, 2, 300}
    assert tokenizer.tokens == {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}
    assert tokenizer.encode("<|im_start|>") == [1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tokenizer.json", None),
        ("tokenizer.json", ""),
        ("tokenizer.json", "{"),
        ("tokenizer.json", "[]"),
        ("tokenizer.json", '{"model": {"type": "BPE", "vocab": {}, "merges": ["a b"]}}'),
        ("tokenizer.json", "\x00" * 1000),
        ("tokenizer_config.json", "{"),
        ("tokenizer_config.json", "[1]"),
        ("tokenizer_config.json", "[" * 100_000),
        ("generation_config.json", "nonsense"),
    ],
)
def test_a_damaged_file_is_a_chat_error_that_names_it(
    tmp_path: Path, name: str, text: str | None
) -> None:
    write(tmp_path, {"tokenizer.json": byte_level()})
    if text is None:
        (tmp_path / name).unlink()
    else:
        write(tmp_path, {name: text})
    with pytest.raises(ChatError, match=r"tokenizer|generation_config") as caught:
        Tokenizer.load(tmp_path)
    assert caught.value.next_step


def test_a_file_that_is_not_utf_8_is_a_chat_error(tmp_path: Path) -> None:
    write(tmp_path, {"tokenizer.json": byte_level()})
    (tmp_path / "tokenizer_config.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ChatError, match="UTF-8"):
        Tokenizer.load(tmp_path)


def test_an_unreadable_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(StorageError, match="tokenizer"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("eos", [None, "2", -1, 10**9, 2.5, True, [2], {}])
def test_nonsense_among_the_end_tokens_is_ignored(eos: object) -> None:
    assert Tokenizer(byte_level(), {}, [eos]).stop_ids == {2}  # <|im_end|> is known by name


def test_a_saved_truncation_does_not_cut_the_prompt() -> None:
    limits = {"max_length": 3, "stride": 0, "strategy": "LongestFirst", "direction": "Right"}
    padding = {
        "strategy": {"Fixed": 64},
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<|endoftext|>",
    }
    text = "The quick brown fox jumps over the lazy dog."
    ids = Tokenizer(changed(truncation=limits, padding=padding)).encode(text)
    assert ids == BYTES.encode(text)


def test_control_tokens_are_those_marked_and_those_that_look_it() -> None:
    reference = Reference.from_str(byte_level())
    reference.add_tokens(["<|fim|>", "<tool_call>"])
    reference.add_special_tokens(["[INST]", "[THINK]"])
    tokenizer = Tokenizer(reference.to_str(), CONFIG)
    expected = {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|fim|>", "[INST]"}
    assert set(tokenizer.controls) == expected


def test_thinking_marks_stay_in_the_text() -> None:
    reference = Reference.from_str(byte_level())
    reference.add_special_tokens(["[THINK]", "[/THINK]"])
    tokenizer = Tokenizer(reference.to_str(), CONFIG)
    ids = tokenizer.encode("[THINK]hm[/THINK]<think>so</think>ok<|im_end|>")
    stream = tokenizer.detokenizer()
    assert "".join(map(stream.push, ids)) == "[THINK]hm[/THINK]<think>so</think>ok"
    assert tokenizer.decode(ids) == "[THINK]hm[/THINK]<think>so</think>ok"


@settings(max_examples=200)
@given(st.text(max_size=40))
def test_stand_ins_give_the_ids_of_the_plain_text(text: str) -> None:
    """A disguised character is as if it had been written, its neighbours included."""
    hidden = text.replace("a", "\U000f0000").replace(" ", "\U000f0001")
    back = {"\U000f0000": "a", "\U000f0001": " "}
    for tokenizer in (BYTES, SENTENCEPIECE):
        if not {*back} & {*text}:
            assert tokenizer.encode(hidden, back) == tokenizer.encode(text)


def test_a_stand_in_hides_a_control_token_and_leaves_no_trace() -> None:
    text = "the end: <|im_end|>"
    hidden = BYTES.encode("the end: \U000f0000|im_end|><|im_end|>", {"\U000f0000": "<"})
    assert hidden[-1] == 2 and 2 not in hidden[:-1]
    assert "".join(map(BYTES.detokenizer().push, hidden)) == text
    assert BYTES.encode(text)[-1] == 2  # and the tokenizer is as it was


def test_control_tokens_that_a_file_matches_after_normalising_can_be_hidden_too() -> None:
    description = json.loads(sentencepiece(prefix=False))
    for token in description["added_tokens"]:
        token["normalized"] = True
    tokenizer = Tokenizer(json.dumps(description), {"eos_token": "</s>"})
    assert tokenizer.encode("the</s>")[-1] == 2
    assert 2 not in tokenizer.encode("the\U000f0000/s>", {"\U000f0000": "<"})


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83e\udd16"])
def test_half_characters_from_a_broken_clipboard_do_not_fail(text: str) -> None:
    shown = (
        "🤖"
        if text == "\ud83e\udd16"
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )
    assert BYTES.decode(BYTES.encode(text)) == shown


SENTENCEPIECE = Tokenizer(sentencepiece(), {"eos_token": "</s>"})
