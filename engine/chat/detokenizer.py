"""Token ids → text while they come, in constant time a token. Never gives out half a character.

Joined, the pieces are what `tokenizers` decodes the same ids to. One difference, on purpose: where
a model with byte tokens writes invalid UTF-8, `tokenizers` turns the whole run of bytes into �; we
keep its good characters, which were shown already. One object per reply, used by one thread.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from engine.errors import ChatError
from engine.text import Text

_BYTE_TOKEN = re.compile(r"<0x[0-9A-Fa-f]{2}>")


@dataclass(frozen=True)
class DecoderRules:
    """How a token's entry in the vocabulary becomes text, from the tokenizer's "decoder".

    byte_level: GPT-2's letters for bytes. byte_fallback: "<0x0A>" is a byte. replacements: made in
    order. strip_spaces: so many spaces go from the start of the text. bare_start: the character
    that is dropped from the first token instead of replaced (SentencePiece's ▁).
    """

    byte_level: bool = False
    byte_fallback: bool = False
    replacements: tuple[tuple[str, str], ...] = ()
    strip_spaces: int = 0
    bare_start: str = ""

    @classmethod
    def from_description(cls, decoder: object) -> DecoderRules:
        """Raises ChatError for a decoder we do not know."""
        steps = decoder.get("decoders") if isinstance(decoder, dict) else None
        rules = cls()
        for step in steps if isinstance(steps, list) else [decoder]:
            change = _STEPS.get(_kind(step))
            if change is None or not isinstance(step, dict):
                return _unknown(_kind(step))
            rules = change(rules, step)
        return rules


def _kind(step: object) -> str:
    return str(step.get("type")) if isinstance(step, dict) else str(step)


def _unknown(kind: str) -> DecoderRules:
    raise ChatError(
        Text("The tokenizer turns tokens into text by {0}, which is not known.", f"{kind[:60]!r}"),
        Text("Choose another version of the model."),
    )


def _replace(rules: DecoderRules, step: Mapping[str, object]) -> DecoderRules:
    pattern, content = step.get("pattern"), step.get("content")
    old = pattern.get("String") if isinstance(pattern, dict) else None
    if not isinstance(old, str) or not old or not isinstance(content, str):
        return _unknown("Replace by pattern")
    return replace(rules, replacements=(*rules.replacements, (old, content)))


def _strip(rules: DecoderRules, step: Mapping[str, object]) -> DecoderRules:
    start, stop = step.get("start"), step.get("stop")
    if step.get("content") != " " or not isinstance(start, int) or stop != 0:
        return _unknown("Strip of another kind")
    return replace(rules, strip_spaces=start)


def _metaspace(rules: DecoderRules, step: Mapping[str, object]) -> DecoderRules:
    mark = str(step.get("replacement") or "▁")
    prefixed = step.get("prepend_scheme", "always") != "never"
    prefixed = prefixed and step.get("add_prefix_space", True) is not False
    return replace(
        rules,
        replacements=(*rules.replacements, (mark, " ")),
        bare_start=mark if prefixed else "",
    )


_STEPS: dict[str, Callable[[DecoderRules, Mapping[str, object]], DecoderRules]] = {
    "ByteLevel": lambda rules, _: replace(rules, byte_level=True),
    "ByteFallback": lambda rules, _: replace(rules, byte_fallback=True),
    "Fuse": lambda rules, _: rules,
    "Replace": _replace,
    "Strip": _strip,
    "Metaspace": _metaspace,
}


def byte_letters() -> dict[str, int]:
    """GPT-2's alphabet: each byte's letter. Printable bytes stand for themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(256 + index): byte for index, byte in enumerate(others)}


class Detokenizer:
    """Turns one reply's ids into text. token_of: the vocabulary's entry; None leaves an id out."""

    def __init__(self, rules: DecoderRules, token_of: Callable[[int], str | None]) -> None:
        self._rules = rules
        self._token_of = token_of
        self._letters = byte_letters() if rules.byte_level else {}
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._spaces = rules.strip_spaces
        self._first = True

    def push(self, token_id: int) -> str:
        """The text that is complete with this token; often "" inside a character of many bytes."""
        token = self._token_of(token_id)
        if token is None:
            return ""
        text = self._utf8.decode(self._bytes(token))
        self._first = False
        while self._spaces and text:
            if not text.startswith(" "):
                self._spaces = 0
                break
            text, self._spaces = text[1:], self._spaces - 1
        return text

    def _bytes(self, token: str) -> bytes:
        rules = self._rules
        if rules.byte_level and all(letter in self._letters for letter in token):
            return bytes(self._letters[letter] for letter in token)
        if rules.byte_fallback and _BYTE_TOKEN.fullmatch(token):
            return bytes([int(token[3:5], 16)])
        if self._first and rules.bare_start:
            token = token.replace(rules.bare_start, "")
        for old, new in rules.replacements:
            token = token.replace(old, new)
        return token.encode("utf-8", "replace")
