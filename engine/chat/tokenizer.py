"""A model's tokenizer: text ↔ ids over the `tokenizers` package, loaded from the model's folder.

Also knows which tokens are control tokens (nothing a user types may become one) and which of them
end a reply. Memory: the vocabulary, some tens of MB. A lock lets sessions share one tokenizer.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import tokenizers
from tokenizers import normalizers

from engine.chat.detokenizer import DecoderRules, Detokenizer
from engine.chat.model_files import read_object, read_text, role_tokens
from engine.errors import ChatError, Edge0Error
from engine.text import Text

_T = TypeVar("_T")

_MAX_BYTES = 128 << 20
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>")
# Control tokens by their look, for files that forget to mark them as special.
_CONTROL = re.compile(r"<[|｜].*[|｜]>", re.DOTALL)
# Marks around a model's thinking are text to us even where they are marked as special.
_THINKING = re.compile(r"[<\[]/?think(ing)?[>\]]", re.IGNORECASE)
_AGAIN = Text("Convert or download the model again.")


class Tokenizer:
    """Text ↔ ids.

    tokens: the texts of bos_token, eos_token, … for the chat template. controls: ids of the control
    tokens by text. stop_ids: ids that end a reply. vocab_size: the largest id + 1.
    """

    def __init__(
        self,
        description: str,
        config: Mapping[str, object] | None = None,
        eos_ids: Iterable[object] = (),
    ) -> None:
        """description: the text of tokenizer.json. Raises ChatError for what cannot be used."""
        self._lock = threading.Lock()
        self._tokenizer = _checked(lambda: _parse(description))
        self._rules = DecoderRules.from_description(_decoder(self._tokenizer))
        self.config = dict(config or {})
        self.tokens = role_tokens(self.config)
        self.vocab_size = 1 + max(self._tokenizer.get_vocab().values(), default=-1)
        self.stop_ids = self._stop_ids(eos_ids)
        added = self._tokenizer.get_added_tokens_decoder()
        special = {i for i, t in added.items() if t.special and not _THINKING.fullmatch(t.content)}
        self._hidden = special | self.stop_ids
        self.controls = {
            token.content: i
            for i, token in added.items()
            if i in self._hidden or _CONTROL.fullmatch(token.content)
        }
        if any(added[i].normalized for i in self.controls.values()):
            raw = _match_raw(description, self.controls)
            self._tokenizer = _checked(lambda: _parse(raw))

    @classmethod
    def load(cls, folder: Path) -> Tokenizer:
        """The tokenizer of a converted model. Raises ChatError, StorageError."""
        description = read_text(folder / "tokenizer.json", _MAX_BYTES)
        if description is None:
            text = Text("{0} has no tokenizer.json, so this model cannot chat.", folder)
            raise ChatError(text, _AGAIN)
        eos_ids: list[object] = []
        for name in ("generation_config.json", "config.json"):
            value = read_object(folder / name).get("eos_token_id")
            eos_ids += value if isinstance(value, list) else [value]
        return cls(description, read_object(folder / "tokenizer_config.json"), eos_ids)

    def _stop_ids(self, eos_ids: Iterable[object]) -> frozenset[int]:
        """What the model's files name as ends, and the well-known ends of a turn."""
        texts = [*_TURN_ENDS, *(t for t in (self.tokens.get("eos_token"),) if t)]
        ids = [*eos_ids, *map(self.token_id, texts)]
        return frozenset(i for i in ids if type(i) is int and 0 <= i < self.vocab_size)

    def token_id(self, token: str) -> int | None:
        """The id of one vocabulary entry."""
        return self._tokenizer.token_to_id(token)

    def encode(self, text: str, disguised: Mapping[str, str] | None = None) -> list[int]:
        """Ids of the text; control tokens in it become control ids, nothing is added.

        disguised: stand-in character → the character it stands for, to keep control tokens in a
        text plain. Stand-ins are put back after control tokens are looked for and before anything
        else, so what a token's neighbours do to it is as if there had been no stand-in.
        """
        with self._lock:
            original = self._tokenizer.normalizer
            try:
                if disguised:
                    self._tokenizer.normalizer = _unveil(disguised, original)
                return _checked(lambda: self._encode(text))
            finally:
                if disguised:
                    self._tokenizer.normalizer = original

    def _encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(whole_characters(text), add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text of the ids without control tokens."""
        shown = [i for i in ids if i not in self._hidden]
        return _checked(lambda: self._tokenizer.decode(shown, skip_special_tokens=False))

    def detokenizer(self) -> Detokenizer:
        """For one reply: turns ids into text as they come, as `decode` does."""
        return Detokenizer(self._rules, self._shown)

    def _shown(self, token_id: int) -> str | None:
        return None if token_id in self._hidden else self._tokenizer.id_to_token(token_id)


def whole_characters(text: str) -> str:
    """The text with � for each lone half of a surrogate pair, which is no character."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _checked(work: Callable[[], _T]) -> _T:
    """The package's result. It raises bare Exceptions, and panics that are not even those."""
    try:
        return work()
    except (Edge0Error, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        text = Text("The tokenizer cannot be used: {0}.", f"{error!s:.200}")
        raise ChatError(text, _AGAIN) from error


def _parse(description: str) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer.from_str(description)
    tokenizer.no_truncation()  # a saved limit would cut the prompt without a word
    tokenizer.no_padding()
    return tokenizer


def _match_raw(description: str, controls: Container[str]) -> str:
    """tokenizer.json with control tokens looked for in the raw text, before it is normalised."""
    value = json.loads(description)
    for token in value["added_tokens"]:
        token["normalized"] = token["normalized"] and token["content"] not in controls
    return json.dumps(value)


def _decoder(tokenizer: tokenizers.Tokenizer) -> object:
    """The description of the tokenizer's decoder."""
    decoder = tokenizer.decoder
    return None if decoder is None else json.loads(decoder.__getstate__())


def _unveil(
    disguised: Mapping[str, str], original: normalizers.Normalizer | None
) -> normalizers.Normalizer:
    steps = [normalizers.Replace(stand_in, real) for stand_in, real in disguised.items()]
    return normalizers.Sequence([*steps, *([] if original is None else [original])])
