"""Tokenizers rebuilt from GGUF metadata cut and join text as the originals do."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from engine.checkpoint.gguf_tokenizer import tokenizer_files
from engine.errors import CheckpointError
from tests.helpers.checkpoint_files import byte_letters

CORPUS = [
    "the cat sat on the mat, isn't it?",
    "   def f(x):\n\treturn x ** 2",
    "你好，世界 你好",
    "1234567 3.14",
]
TEXTS = [
    *CORPUS,
    "",
    " ",
    "\n\n  \t",
    "Hello, World! I'LL we've  two  spaces ",
    "今天天气不错。日本語テキスト 한국어",
    "🦙🚀 👨‍👩‍👧‍👦 é e\u0301 ½ ①",
    "for (int i = 0; i < 10; i++) { a[i] += 0x1F; }\r\n",
    "مرحبا بالعالم नमस्ते ไทย",
    "<|im_start|>user\nhi<|im_end|>\n<|im_end|><tool>x</tool>",
]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def original(pre: str) -> Tokenizer:
    """A byte-level tokenizer trained on a little text, put together as the hub's of each kind."""
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pre != "qwen2")
    before: dict[str, list[Any]] = {
        "gpt-2": [],
        "smollm": [pre_tokenizers.Digits(individual_digits=True)],
        "qwen2": [pre_tokenizers.Split(Regex(QWEN2), "isolated")],
    }
    tokenizer = Tokenizer(models.BPE())
    if pre == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*before[pre], byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=byte_letters(), show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken("<tool>", special=False, normalized=False)])
    return tokenizer


def as_metadata(tokenizer: Tokenizer, pre: str) -> dict[str, Any]:
    """What llama.cpp's converter writes for a byte-level tokenizer."""
    size = tokenizer.get_vocab_size()
    tokens = [tokenizer.id_to_token(i) for i in range(size)]
    kinds = {**dict.fromkeys(SPECIAL, 3), "<tool>": 4}
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [kinds.get(token, 1) for token in tokens],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in merges],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }


def load(metadata: dict[str, Any]) -> tuple[Tokenizer, list[str]]:
    files, warnings = tokenizer_files(metadata)
    return Tokenizer.from_str(files["tokenizer.json"].decode("utf-8")), warnings


@pytest.mark.parametrize("pre", ["gpt-2", "smollm", "qwen2"])
def test_byte_level_text_is_cut_as_by_the_original(pre: str) -> None:
    expected = original(pre)
    rebuilt, warnings = load(as_metadata(expected, pre))
    assert warnings == []
    for text in TEXTS:
        ids = rebuilt.encode(text).ids
        assert ids == expected.encode(text).ids, text
        composed = unicodedata.normalize("NFC", text) if pre == "qwen2" else text
        assert rebuilt.decode(ids, skip_special_tokens=False) == composed
    assert rebuilt.encode("<|im_start|>a").ids[0] == 1
    assert (
        rebuilt.decode([1, *rebuilt.encode("a<tool>").ids, 2]) == "a<tool>"
    )  # only special ones go


# (pre-tokenizer, text, pieces): what tells the kinds apart, from their tokenizer.json.
PIECES = [
    ("gpt-2", "It's 12345 ok", ["It", "'s", "Ġ12345", "Ġok"]),
    ("default", "It's 12345 ok", ["It", "'s", "Ġ12345", "Ġok"]),
    ("smollm", "a 12", ["a", "Ġ", "1", "2"]),
    ("refact", "a 12", ["a", "Ġ", "1", "2"]),
    ("qwen2", "I'M 12\n\nx", ["I", "'M", "Ġ", "1", "2", "ĊĊ", "x"]),
    ("llama-bpe", "I'M 12345", ["I", "'M", "Ġ", "123", "45"]),
    ("glm4", "12345", ["123", "45"]),
    ("qwen35", "nx\u0301y", ["nxÌģy"]),
    ("qwen2", "nx\u0301y", ["nx", "Ìģy"]),
    ("gpt-4o", "fooBar's 1234", ["foo", "Bar's", "Ġ", "123", "4"]),
    ("tekken", "fooBar 12", ["foo", "Bar", "Ġ", "1", "2"]),
    ("deepseek-v3", "abc 1234,x", ["abc", "Ġ", "123", "4", ",x"]),
    ("deepseek-llm", "abc def12", ["abc", "Ġdef", "1", "2"]),
    ("deepseek-coder", "a.b 12", ["a", ".", "b", "Ġ", "1", "2"]),
    ("falcon", "a+b 12345", ["a", "+", "b", "Ġ", "123", "45"]),
    ("bailingmoe", "It's 12", ["It", "'s", "Ġ", "1", "2"]),
]


@pytest.mark.parametrize(("pre", "text", "pieces"), PIECES)
def test_each_pre_tokenizer_cuts_its_own_way(pre: str, text: str, pieces: list[str]) -> None:
    tokenizer, warnings = load(as_metadata(original("gpt-2"), pre))
    assert [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)] == pieces
    assert bool(warnings) == (pre == "default")


def test_an_unknown_pre_tokenizer_warns_and_falls_back() -> None:
    metadata = as_metadata(original("gpt-2"), "brand-new")
    tokenizer, warnings = load(metadata)
    assert tokenizer.encode("12345").ids == original("gpt-2").encode("12345").ids
    assert "unknown pre-tokenizer 'brand-new'; gpt-2 is used" in warnings[0]
    del metadata["tokenizer.ggml.pre"]
    metadata["general.architecture"] = "qwen3moe"
    tokenizer, warnings = load(metadata)
    assert "names no pre-tokenizer; qwen2 is used" in warnings[0]
    assert len(tokenizer.encode("12345").ids) == 5


def test_a_whole_piece_that_is_a_token_stays_whole_where_the_model_says_so() -> None:
    metadata = as_metadata(original("gpt-2"), "gpt-2")
    metadata["tokenizer.ggml.tokens"].append("xyzzy")  # no merge leads to it
    metadata["tokenizer.ggml.token_type"].append(1)
    assert len(load(metadata)[0].encode("xyzzy").ids) == 5
    ids = load(metadata | {"tokenizer.ggml.pre": "llama-bpe"})[0].encode("xyzzy").ids
    assert ids == [1, len(metadata["tokenizer.ggml.tokens"]) - 1]


@pytest.mark.parametrize(
    ("pre", "told", "expected"),
    [
        ("gpt-2", None, False),
        ("llama-bpe", None, True),
        ("llama-bpe", False, False),
        ("gpt-2", True, True),
    ],
)
def test_the_first_token(pre: str, told: bool | None, expected: bool) -> None:
    metadata = as_metadata(original("gpt-2"), pre)
    if told is not None:
        metadata["tokenizer.ggml.add_bos_token"] = told
    files, _ = tokenizer_files(metadata)
    assert json.loads(files["tokenizer_config.json"])["add_bos_token"] is expected
    ids = Tokenizer.from_str(files["tokenizer.json"].decode("utf-8")).encode("a").ids
    assert (ids[0] == 1) is expected


def generation(**tokens: int) -> list[int]:
    """eos_token_id for a vocabulary of these tokens and types; the first is the file's eos."""
    metadata = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": list(tokens),
        "tokenizer.ggml.token_type": list(tokens.values()),
        "tokenizer.ggml.merges": [],
        "tokenizer.ggml.eos_token_id": 0,
    }
    files, _ = tokenizer_files(metadata)
    return list(json.loads(files["generation_config.json"])["eos_token_id"])


def test_every_token_that_ends_a_turn_stops_generation() -> None:
    assert generation(**{"<|endoftext|>": 3, "a": 1, "<|im_end|>": 3}) == [0, 2]
    assert generation(**{"</s>": 3, "a": 1, "<|eot_id|>": 1, "<|eom_id|>": 3}) == [0, 2, 3]
    assert generation(**{"<|return|>": 3, "<|end|>": 3, "<|call|>": 3}) == [0, 2]  # gpt-oss


def test_a_turn_end_typed_as_plain_text_is_still_one_token() -> None:
    metadata = as_metadata(original("gpt-2"), "gpt-2")
    metadata["tokenizer.ggml.token_type"][2] = 1
    assert load(metadata)[0].encode("<|im_end|>").ids == [2]


def test_template_and_licence_come_from_the_metadata() -> None:
    metadata = as_metadata(original("gpt-2"), "gpt-2")
    metadata |= {"tokenizer.chat_template": "{{ '好' }}", "general.license": "apache-2.0"}
    files, _ = tokenizer_files(metadata)
    assert files["chat_template.jinja"].decode("utf-8") == "{{ '好' }}"
    assert b"apache-2.0" in files["LICENSE"]
    config = json.loads(files["tokenizer_config.json"])
    assert (config["bos_token"], config["eos_token"]) == ("<|im_start|>", "<|im_end|>")


def test_repeated_and_empty_tokens_keep_their_ids() -> None:
    metadata = as_metadata(original("gpt-2"), "gpt-2")
    tokens = metadata["tokenizer.ggml.tokens"]
    tokens += ["", "a", "[UNUSED_0]", ""]
    metadata["tokenizer.ggml.token_type"] += [1] * 4
    tokenizer, warnings = load(metadata)
    assert tokenizer.get_vocab_size() == len(tokens)
    assert tokenizer.encode("a").ids == original("gpt-2").encode("a").ids
    assert "repeated or empty" in warnings[0]


def test_what_cannot_be_used_is_told() -> None:
    metadata = as_metadata(original("gpt-2"), "gpt-2")
    metadata["tokenizer.ggml.merges"].append("nosuch token")
    metadata["tokenizer.ggml.eot_token_id"] = 10**6
    warnings = load(metadata)[1]
    assert any("1 merges" in warning for warning in warnings)
    assert any("eot token 1000000" in warning for warning in warnings)
    files, warnings = tokenizer_files(metadata | {"tokenizer.ggml.model": "bert"})
    assert "tokenizer.json" not in files and "'bert' are not known" in warnings[0]
    assert "has no tokenizer" in tokenizer_files({})[1][0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tokens", "abc"),
        ("tokens", [1, 2]),
        ("tokens", ["a", 2]),
        ("token_type", [1]),
        ("token_type", "abc"),
        ("token_type", [[]] * 403),
        ("merges", 7),
        ("merges", [["a", "b"]]),
    ],
)
def test_lists_of_the_wrong_kind_are_refused(key: str, value: object) -> None:
    metadata = as_metadata(original("gpt-2"), "gpt-2") | {f"tokenizer.ggml.{key}": value}
    with pytest.raises(CheckpointError, match=r"tokenizer\.ggml\."):
        tokenizer_files(metadata)
