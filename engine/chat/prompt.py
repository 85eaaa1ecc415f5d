"""Messages → the prompt's token ids. What a template writes becomes control tokens, what a person
or the model wrote never does: somebody may quote "<|im_end|>" and the conversation goes on.

How: where a message contains the text of a control token, the text's first character is disguised
as a private-use character that occurs nowhere else. The template sees a text of the same length,
and the tokenizer puts the character back after it has looked for control tokens. All other prompts
take the plain path and are exactly what `transformers` makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.chat.template import ChatTemplate, Message
from engine.chat.tokenizer import Tokenizer, whole_characters
from engine.errors import ChatError
from engine.text import Text

_FIRST_STAND_IN, _LAST_STAND_IN = 0xF0000, 0xFFFFD  # private use, plane 15
_MARK = "marks-the-reply"


@dataclass(frozen=True)
class _Disguise:
    """Stand-in characters by the character they stand for."""

    stand_ins: Mapping[str, str]

    def apply(self, text: str, places: Iterable[int]) -> str:
        letters = list(text)
        for place in places:
            letters[place] = self.stand_ins[letters[place]]
        return "".join(letters)

    @property
    def back(self) -> dict[str, str]:
        return {stand_in: real for real, stand_in in self.stand_ins.items()}


class PromptEncoder:
    """One model's template and tokenizer. `stop_ids`: every id that ends a reply."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: ChatTemplate,
        variables: Mapping[str, object] | None = None,
    ) -> None:
        """variables: what the template understands besides messages, such as enable_thinking."""
        self._tokenizer = tokenizer
        self._template = template
        self._variables = dict(variables or {})
        self._controls = [text for text in tokenizer.controls if text]
        self._known = frozenset(self._controls)
        self._lengths = sorted({len(text) for text in self._controls})
        firsts = "".join(sorted({text[0] for text in self._controls}))
        self._start = re.compile(f"[{re.escape(firsts)}]") if firsts else None
        self.stop_ids = tokenizer.stop_ids | self._turn_end()

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Ids of the prompt for the next reply. Raises ChatError."""
        if not messages:
            raise ChatError(
                Text("There is no message to reply to."), Text("Write a message first.")
            )
        clean = [Message(m.role, whole_characters(m.content)) for m in messages]
        places = [list(self._controls_in(m.content)) for m in clean]
        if not any(places):
            return self._tokenizer.encode(self._render(clean))
        disguise = self._disguise(clean)
        hidden = [
            Message(m.role, disguise.apply(m.content, where))
            for m, where in zip(clean, places, strict=True)
        ]
        return self._tokenizer.encode(self._render(hidden), disguise.back)

    def _render(self, messages: Sequence[Message]) -> str:
        return self._template.render(messages, variables=self._variables)

    def _controls_in(self, text: str) -> Iterator[int]:
        """Where a control token begins, or where the text's end could begin one."""
        if self._start is None:
            return
        longest, end = self._lengths[-1], len(text.rstrip())
        for match in self._start.finditer(text):
            at = match.start()
            whole = any(text[at : at + length] in self._known for length in self._lengths)
            if whole or (end - at <= longest and self._is_beginning(text[at:end])):
                yield at

    def _is_beginning(self, tail: str) -> bool:
        """Whether what a template puts after the text could make it a control token."""
        return any(control.startswith(tail) for control in self._controls)

    def _disguise(self, messages: Sequence[Message]) -> _Disguise:
        used = set(self._template.source).union(*(m.content for m in messages))
        firsts = sorted({text[0] for text in self._controls})
        free = (c for c in map(chr, range(_FIRST_STAND_IN, _LAST_STAND_IN + 1)) if c not in used)
        return _Disguise(dict(zip(firsts, free, strict=False)))

    def _turn_end(self) -> frozenset[int]:
        """The control token the template writes right after a reply, if it writes one."""
        turn = [Message("user", "Hello"), Message("assistant", _MARK)]
        try:
            text = self._template.render(turn, False, self._variables)
        except ChatError:
            return frozenset()
        _, found, after = text.rpartition(_MARK)
        ends = [c for c in self._controls if after.lstrip().startswith(c)] if found else []
        return frozenset({self._tokenizer.controls[max(ends, key=len)]} if ends else ())
