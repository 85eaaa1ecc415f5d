"""The token list of a GGUF header, checked: texts, types and special tokens. Pure functions;
memory: a few times the token list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from engine.checkpoint.files import FETCH_AGAIN
from engine.errors import CheckpointError
from engine.text import Text

KEY = "tokenizer.ggml."
MAX_TOKENS = 1 << 20
NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4  # gguf TokenType
_T = TypeVar("_T")
_SENTENCEPIECE_IDS = {"unknown": 0, "bos": 1, "eos": 2}  # where the file names none
# Tokens that end a turn, whatever type the file gives them (llama.cpp `special_eog_ids`).
_TURN_ENDS = (
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>",
    "<|endoftext|>", "<|eom_id|>", "<EOT>", "[EOT]", "<|end_of_text|>", "<end_of_utterance>",
    "<turn|>", "<｜end▁of▁sentence｜>", "[e~[",
)  # fmt: skip
_HARMONY_ENDS = ("<|return|>", "<|call|>")  # where these exist, <|end|> only separates messages


@dataclass
class Vocabulary:
    """tokens[id] are distinct and not empty; types[id] as in GGUF; ids: special tokens by role."""

    tokens: list[str]
    types: list[int]
    ids: dict[str, int] = field(default_factory=dict)
    warnings: list[Text] = field(default_factory=list)

    def text(self, role: str) -> str | None:
        """The special token of a role, if there is one."""
        return self.tokens[self.ids[role]] if role in self.ids else None


def read_vocabulary(metadata: Mapping[str, object]) -> Vocabulary:
    """The vocabulary of a header. Raises CheckpointError when its lists do not fit together."""
    tokens = read_list(metadata, "tokens", str)
    types = read_list(metadata, "token_type", int, len(tokens), [NORMAL] * len(tokens))
    vocabulary = Vocabulary(_distinct(tokens), types)
    if vocabulary.tokens != tokens:
        odd = Text("The GGUF file's token list has repeated or empty entries.")
        vocabulary.warnings.append(odd)
    usual = _SENTENCEPIECE_IDS if metadata.get(KEY + "model") == "llama" else {}
    for role in ("bos", "eos", "eot", "eom", "unknown", "padding"):
        value = metadata.get(f"{KEY}{role}_token_id", usual.get(role))
        if type(value) is int and 0 <= value < len(tokens):
            vocabulary.ids[role] = value
        elif value is not None:
            lost = Text("The {0} token {1} is not in the vocabulary.", role, f"{value!r:.40}")
            vocabulary.warnings.append(lost)
    for index, token in enumerate(vocabulary.tokens):
        if types[index] == NORMAL and token in _TURN_ENDS:
            types[index] = CONTROL
    return vocabulary


def read_list(
    metadata: Mapping[str, object],
    name: str,
    kind: type[_T],
    count: int | None = None,
    default: list[_T] | None = None,
) -> list[_T]:
    """A list of the metadata, copied, all of one kind and of `count` entries."""
    value = metadata.get(KEY + name, default)
    if isinstance(value, list) and len(value) <= 2 * MAX_TOKENS and count in (None, len(value)):
        items = [item for item in value if type(item) is kind]
        if len(items) == len(value):
            return items
    text = Text("The GGUF file's {0} is not a list that fits.", KEY + name)
    raise CheckpointError(text, FETCH_AGAIN)


def _distinct(tokens: list[str]) -> list[str]:
    """Token texts as keys: empty and repeated ones get a name of their own."""
    seen: set[str] = set()
    result = []
    for index, token in enumerate(tokens):
        text = token if token and token not in seen else f"[UNUSED_{index}]"
        while text in seen:
            text += "_"
        seen.add(text)
        result.append(text)
    return result


def generation_defaults(vocabulary: Vocabulary) -> dict[str, object]:
    """eos_token_id: every token that ends a reply, the file's own eos first."""
    ends = [vocabulary.ids[role] for role in ("eos", "eot", "eom") if role in vocabulary.ids]
    known = {token: index for index, token in enumerate(vocabulary.tokens)}
    texts = [text for text in _TURN_ENDS if text in known]
    if any(text in known for text in _HARMONY_ENDS):
        texts = [text for text in texts if text != "<|end|>"]
        ends = [index for index in ends if vocabulary.tokens[index] != "<|end|>"]
    result: dict[str, object] = {
        "eos_token_id": list(dict.fromkeys(ends + [known[text] for text in texts]))
    }
    if "bos" in vocabulary.ids:
        result["bos_token_id"] = vocabulary.ids["bos"]
    return result
