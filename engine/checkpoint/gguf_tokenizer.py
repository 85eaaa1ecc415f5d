"""GGUF tokenizer metadata → the files Hugging Face's `tokenizers` reads: tokenizer.json, its
configuration, chat template, generation defaults. Pure; memory: a few times the token list."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from engine.checkpoint import gguf_pretokenizers
from engine.checkpoint.gguf_vocabulary import (
    CONTROL,
    KEY,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Vocabulary,
    generation_defaults,
    read_list,
    read_vocabulary,
)
from engine.checkpoint.side_files import CHAT_TEMPLATE, GENERATION, TOKENIZER, TOKENIZER_CONFIG
from engine.text import Text

Json = dict[str, object]

_MAX_MERGED = 256  # characters of a token that scores can build; real ones have under 100


def tokenizer_files(metadata: Mapping[str, object]) -> tuple[dict[str, bytes], list[Text]]:
    """(files by name, warnings). Raises CheckpointError when the metadata contradict themselves."""
    files = _texts(metadata)
    if KEY + "tokens" not in metadata:
        return files, [Text("The GGUF file has no tokenizer; this model cannot chat.")]
    vocabulary = read_vocabulary(metadata)
    kind = metadata.get(KEY + "model")
    build = _BUILDERS.get(kind) if isinstance(kind, str) else None
    if build is None:
        unknown = Text(
            "Tokenizers of type {0} are not known; this model cannot chat.", f"{kind!r:.80}"
        )
        return files, [unknown]
    tokenizer = build(vocabulary, metadata)
    tokenizer["added_tokens"] = _added_tokens(vocabulary)
    tokenizer["post_processor"] = _bos_processor(vocabulary, metadata)
    files[TOKENIZER] = _dump(tokenizer)
    files[TOKENIZER_CONFIG] = _dump(_config(vocabulary, metadata))
    files[GENERATION] = _dump(generation_defaults(vocabulary))
    return files, vocabulary.warnings


def _texts(metadata: Mapping[str, object]) -> dict[str, bytes]:
    files = {}
    template, licence = metadata.get("tokenizer.chat_template"), metadata.get("general.license")
    if isinstance(template, str):
        files[CHAT_TEMPLATE] = template.encode("utf-8", "replace")
    if isinstance(licence, str):
        link = metadata.get("general.license.link")
        note = f"According to the GGUF file's metadata: {licence}\n"
        note += f"{link}\n" if isinstance(link, str) else ""
        files["LICENSE"] = note.encode("utf-8", "replace")
    return files


def _byte_level(vocabulary: Vocabulary, metadata: Mapping[str, object]) -> Json:
    """GPT-2's way: text is cut by expressions, bytes become letters, pairs merge by rank."""
    name, architecture = metadata.get(KEY + "pre"), metadata.get("general.architecture")
    kind, warning = gguf_pretokenizers.find(name, architecture)
    vocabulary.warnings += [] if warning is None else [warning]
    byte_level: Json = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    cuts = [_split(pattern) for pattern in kind.patterns]
    steps = [*cuts, {**byte_level, "use_regex": False}]
    return {
        **_EMPTY,
        "normalizer": {"type": "NFC"} if kind.nfc else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "decoder": {**byte_level, "use_regex": True},
        "model": _bpe(
            vocabulary, _listed_merges(vocabulary, metadata), ignore_merges=kind.ignore_merges
        ),
    }


def _sentencepiece(vocabulary: Vocabulary, metadata: Mapping[str, object]) -> Json:
    """SentencePiece BPE: spaces become ▁, the best-scored token is merged first, rest as bytes."""
    prefix = metadata.get(KEY + "add_space_prefix", True) is True
    normalizers: list[Json] = [{"type": "Prepend", "prepend": "▁"}] if prefix else []
    normalizers.append({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})
    return {
        **_EMPTY,
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "decoder": _byte_fallback_decoder(strip=prefix),
        "model": _bpe(vocabulary, _scored_merges(vocabulary, metadata), byte_fallback=True),
    }


def _gemma4(vocabulary: Vocabulary, metadata: Mapping[str, object]) -> Json:
    """Like SentencePiece's, with the merges listed and no space put before the text."""
    return {
        **_EMPTY,
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "decoder": _byte_fallback_decoder(strip=False),
        "model": _bpe(vocabulary, _listed_merges(vocabulary, metadata), byte_fallback=True),
    }


def _split(pattern: str) -> Json:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _byte_fallback_decoder(strip: bool) -> Json:
    steps: list[Json] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if strip:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}


def _bpe(
    vocabulary: Vocabulary,
    merges: list[tuple[str, str]],
    ignore_merges: bool = False,
    byte_fallback: bool = False,
) -> Json:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": vocabulary.text("unknown") if byte_fallback else None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": byte_fallback,
        "byte_fallback": byte_fallback,
        "ignore_merges": ignore_merges,
        "vocab": {token: index for index, token in enumerate(vocabulary.tokens)},
        "merges": merges,
    }


def _listed_merges(vocabulary: Vocabulary, metadata: Mapping[str, object]) -> list[tuple[str, str]]:
    """The file's merges, best first; ones that name no tokens are left out."""
    known = set(vocabulary.tokens)
    result = []
    for line in read_list(metadata, "merges", str):
        left, _, right = line[1:].partition(" ")
        left = line[:1] + left
        if left in known and right in known and left + right in known:
            result.append((left, right))
    dropped = len(read_list(metadata, "merges", str)) - len(result)
    if dropped:
        text = Text("{0} merges of the GGUF file name unknown tokens.", dropped)
        vocabulary.warnings.append(text)
    return result


def _scored_merges(vocabulary: Vocabulary, metadata: Mapping[str, object]) -> list[tuple[str, str]]:
    """Every way to build a normal token from two others, best-scored token first."""
    scores = read_list(metadata, "scores", float, len(vocabulary.tokens))
    normal = {
        token: index
        for index, (token, kind) in enumerate(zip(vocabulary.tokens, vocabulary.types, strict=True))
        if kind == NORMAL and len(token) <= _MAX_MERGED
    }
    ranked = []
    for token, index in normal.items():
        for cut in range(1, len(token)):
            left, right = token[:cut], token[cut:]
            if left in normal and right in normal:
                ranked.append((-scores[index], index, normal[left], left, right))
    return [(left, right) for *_, left, right in sorted(ranked)]


def _added_tokens(vocabulary: Vocabulary) -> list[Json]:
    """Tokens found in text before anything else: control ones (special) and user-defined ones."""
    return [
        {
            "id": index,
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": kind != USER_DEFINED,
        }
        for index, (token, kind) in enumerate(zip(vocabulary.tokens, vocabulary.types, strict=True))
        if kind in (CONTROL, USER_DEFINED, UNKNOWN)
    ]


def _adds_bos(metadata: Mapping[str, object]) -> bool:
    """Whether texts start with the bos token: as the file says, else as llama.cpp assumes."""
    told = metadata.get(KEY + "add_bos_token")
    if isinstance(told, bool):
        return told
    if metadata.get(KEY + "model") != "gpt2":
        return True
    return gguf_pretokenizers.find(metadata.get(KEY + "pre"), None)[0].add_bos


def _bos_processor(vocabulary: Vocabulary, metadata: Mapping[str, object]) -> Json | None:
    bos = vocabulary.text("bos")
    if bos is None or not _adds_bos(metadata):
        return None
    special: Json = {"SpecialToken": {"id": bos, "type_id": 0}}
    first: Json = {"Sequence": {"id": "A", "type_id": 0}}
    second: Json = {"Sequence": {"id": "B", "type_id": 1}}
    return {
        "type": "TemplateProcessing",
        "single": [special, first],
        "pair": [special, first, second],
        "special_tokens": {bos: {"id": bos, "ids": [vocabulary.ids["bos"]], "tokens": [bos]}},
    }


def _config(vocabulary: Vocabulary, metadata: Mapping[str, object]) -> Json:
    roles = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
    texts = {f"{name}_token": vocabulary.text(role) for name, role in roles.items()}
    return {
        **{name: text for name, text in texts.items() if text is not None},
        "add_bos_token": vocabulary.text("bos") is not None and _adds_bos(metadata),
        "add_eos_token": metadata.get(KEY + "add_eos_token") is True,
        "clean_up_tokenization_spaces": False,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def _dump(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


_EMPTY: Json = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
}
_BUILDERS: dict[str, Callable[[Vocabulary, Mapping[str, object]], Json]] = {
    "gpt2": _byte_level,
    "llama": _sentencepiece,
    "gemma4": _gemma4,
}
