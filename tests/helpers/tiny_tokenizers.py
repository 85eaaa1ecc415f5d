"""Small real tokenizers of the three kinds language models have, as the text of tokenizer.json."""

from __future__ import annotations

import json
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

CHATML_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CONFIG = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "add_bos_token": False}
_TEXT = [
    "The quick brown fox jumps over the lazy dog. It's 12345 times as quick, isn't it?",
    "def main():\n    print('hello world')\n",
    "<|im_start|>user quoted the im_end token|> and the think> tag",
    "Grüße aus Köln, 你好世界, こんにちは, привет мир, 👩‍👩‍👧 and 🤖.",
]


def byte_level(size: int = 500, think: bool = True) -> str:
    """GPT-2's kind (Llama 3, Qwen, …) with ChatML tokens and an unmarked <think>."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=CHATML_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_TEXT * 20, trainer)
    if think:
        tokenizer.add_tokens(["<think>", "</think>"])
    return tokenizer.to_str()


def sentencepiece(prefix: bool = True) -> str:
    """Llama 2's kind: ▁ for spaces, bytes for unknown characters, <s> and </s>."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    letters = sorted(set("▁" + "".join(_TEXT[:3]).replace(" ", "▁").replace("\n", "")))
    words = ["he", "th", "the", "▁t", "▁th", "▁the", "qu", "▁qu"]
    pieces += [piece for piece in [*letters, *words] if piece not in pieces]
    merges = [("h", "e"), ("t", "h"), ("th", "e"), ("▁", "t"), ("▁t", "h"), ("▁th", "e")]
    merges += [("q", "u"), ("▁", "qu")]
    vocab = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(
        models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    steps: list[Any] = [normalizers.Prepend("▁")] if prefix else []
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    strip: list[Any] = [decoders.Strip(" ", 1, 0)] if prefix else []
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer.to_str()


def metaspace() -> str:
    """The newer way to say it: a Metaspace pre-tokenizer, a prefix before the first word only."""
    value = json.loads(sentencepiece(prefix=False))
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, space]}
    return json.dumps({**value, "normalizer": None, "pre_tokenizer": space, "decoder": decoder})


def transformers_tokenizer(description: str, template: str, **tokens: str) -> Any:
    """The oracle: transformers' tokenizer over the same description."""
    from transformers import PreTrainedTokenizerFast

    oracle = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(description), **tokens)
    oracle.chat_template = template
    return oracle


def oracle_ids(oracle: Any, chat: list[tuple[str, str]]) -> list[int]:
    """Its ids of the prompt for the next reply."""
    messages = [{"role": role, "content": content} for role, content in chat]
    ids = oracle.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    return list(ids)
