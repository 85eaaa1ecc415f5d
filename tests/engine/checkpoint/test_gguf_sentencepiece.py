"""SentencePiece tokenizers rebuilt from GGUF scores cut text as llama.cpp does."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer

from engine.checkpoint.gguf_tokenizer import tokenizer_files
from engine.errors import CheckpointError


def load(metadata: dict[str, Any]) -> tuple[Tokenizer, list[str]]:
    files, warnings = tokenizer_files(metadata)
    return Tokenizer.from_str(files["tokenizer.json"].decode("utf-8")), warnings


def pieces() -> dict[str, float]:
    """A SentencePiece vocabulary: a few words and all their prefixes, longer ones better."""
    words = ["▁the", "▁cat", "▁sat", "▁on", "▁mat", "at", "▁▁▁▁", "▁你好", "世界", "att", "ttt"]
    words += ["▁a", "aaaa"]
    texts = [word[:end] for word in words for end in range(1, len(word) + 1)]
    texts += list("abcdefghijklmnopqrstuvwxyz▁,.!你好世界")
    ranked = sorted(set(texts), key=lambda text: (-len(text), text))
    return {text: -float(rank) for rank, text in enumerate(ranked)}


def sentencepiece_metadata(**changes: Any) -> dict[str, Any]:
    normal = pieces()
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), *normal, "<|user|>"]
    kinds = [2, 3, 3, *[6] * 256, *[1] * len(normal), 3]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.scores": [0.0] * 259 + list(normal.values()) + [0.0],
        **{f"tokenizer.ggml.{key}": value for key, value in changes.items()},
    }


def sentencepiece_ids(text: str, tokens: list[str], scores: list[float]) -> list[int]:
    """llama.cpp's `llm_tokenizer_spm`: joins the best-scored pair, leftmost first, to the end."""
    ids = {token: index for index, token in enumerate(tokens)}
    symbols = list(text.replace(" ", "▁"))
    while True:
        pairs = [(i, ids.get(symbols[i] + symbols[i + 1])) for i in range(len(symbols) - 1)]
        known = [(scores[index], -i) for i, index in pairs if index is not None]
        if not known:
            break
        at = -max(known)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    result = []
    for symbol in symbols:
        spelled = [ids[f"<0x{byte:02X}>"] for byte in symbol.encode("utf-8")]
        result += [ids[symbol]] if symbol in ids else spelled
    return result


@pytest.mark.parametrize(
    "text",
    [
        "the cat sat on the mat",
        "attt  at    aaaaa aaa",
        "你好世界, 🦙!",
        "Ünïcode\n\ttabs",
        "a",
        " the",
        "ttttt",
    ],
)
def test_sentencepiece_merges_the_best_pair_first(text: str) -> None:
    metadata = sentencepiece_metadata()
    tokens, scores = (metadata[f"tokenizer.ggml.{key}"] for key in ("tokens", "scores"))
    tokenizer, warnings = load(metadata)
    assert warnings == []
    ids = tokenizer.encode(text).ids
    assert ids == [1, *sentencepiece_ids(f" {text}", tokens, scores)]
    assert tokenizer.decode(ids) == text


def test_sentencepiece_without_the_leading_space() -> None:
    tokenizer, _ = load(sentencepiece_metadata(add_space_prefix=False, add_bos_token=False))
    assert tokenizer.encode("cat").tokens == ["c", "at"]
    assert tokenizer.encode("the<|user|> the").tokens == ["t", "h", "e", "<|user|>", "▁the"]
    assert tokenizer.decode(tokenizer.encode(" the cat").ids) == " the cat"


@pytest.mark.parametrize("scores", [[], "x", [1.0], ["a"] * 302])
def test_sentencepiece_needs_a_score_for_each_token(scores: object) -> None:
    with pytest.raises(CheckpointError, match=r"tokenizer\.ggml\.scores"):
        tokenizer_files(sentencepiece_metadata(scores=scores))
