"""Markdown that grows: closed blocks are parsed once, only the open tail is parsed again.

A block is closed when another one starts after it on complete lines; of an open list all items but
the last are closed too, and an open fence is followed line by line without the parser. So the cost
of a flush depends on the tail, not on the answer. Any way of cutting the text into pieces gives
the same blocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token

from app.markdown.blocks import Block
from app.markdown.parser import blocks_from_tokens, make_parser


@dataclass(frozen=True)
class Change:
    """From block `start` on, the message now consists of `blocks`."""

    start: int
    blocks: tuple[Block, ...]


@dataclass
class _Fence:
    closing: re.Pattern[str]
    indent: int
    block: Block
    lines: list[str]


class MarkdownStream:
    """Collects pieces with `push`; `update` says what changed since the last call."""

    def __init__(self) -> None:
        self._parser = make_parser()
        self._tail = ""
        self._carry = ""  # a line's end that may have been cut in two
        self._scanned_lines = 0  # complete lines of the tail already looked at for closing
        self._next_number: int | None = None
        self._fence: _Fence | None = None
        self._closed: list[Block] = []
        self._shown: list[Block] = []

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks of the last update."""
        return self._shown

    def push(self, text: str) -> None:
        """Add a piece of the message."""
        text = self._carry + text
        self._carry = "\r" if text.endswith("\r") else ""
        self._tail += text.removesuffix("\r").replace("\r\n", "\n")

    def update(self, finished: bool = False) -> Change:
        """Parse what is open and return the difference to the last call."""
        kept = len(self._closed)
        self._close_what_is_complete()
        tail = self._open_blocks(finished)
        new = self._closed[kept:] + tail
        start = kept
        while start - kept < len(new) and self._same(start, new[start - kept]):
            start += 1
        self._shown[start:] = new[start - kept :]
        return Change(start, tuple(new[start - kept :]))

    def _same(self, index: int, block: Block) -> bool:
        return index < len(self._shown) and self._shown[index] == block

    def _close_what_is_complete(self) -> None:
        while self._close_step():
            pass

    def _close_step(self) -> bool:
        """Close something; True when there may be more to close."""
        if self._fence is not None:
            return self._follow_fence(self._fence)
        lines = self._tail.count("\n")
        if lines <= self._scanned_lines:
            return False
        self._scanned_lines = lines
        complete = self._tail[: self._tail.rindex("\n") + 1]
        tokens = self._parser.parse(complete)
        starts = [i for i, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
        if not starts:
            return False
        last = starts[-1]
        item = _last_item(tokens, last)
        self._cut(tokens, last, item)
        return self._enter_fence(tokens[last]) if item is None else False

    def _cut(self, tokens: list[Token], last: int, item: int | None) -> None:
        """Close everything before top-level block `last`, or before its item `item`."""
        split = last if item is None else item
        line = (tokens[split].map or [0])[0]
        if line == 0 or (item is not None and _indent(self._tail, line) > 3):
            return
        done = tokens[:split]
        if item is not None:
            done = [*done, _closing(tokens[last])]
        self._closed += blocks_from_tokens(done, self._next_number)
        self._next_number = self._number_after(tokens, last, item)
        self._tail = _after_lines(self._tail, line)
        self._scanned_lines = self._tail.count("\n")

    def _number_after(self, tokens: list[Token], last: int, item: int | None) -> int | None:
        opener = tokens[last]
        if item is None or opener.type != "ordered_list_open":
            return None
        continued = last == 0 and self._next_number is not None
        first = self._next_number if continued else int(opener.attrGet("start") or 1)
        items = sum(t.type == "list_item_open" and t.level == 1 for t in tokens[last:item])
        return (first or 0) + items

    def _enter_fence(self, token: Token) -> bool:
        if token.type != "fence":
            return False
        indent = _indent(self._tail, 0)
        block = replace(blocks_from_tokens([token])[0], text="", closed=False)
        mark = re.escape(token.markup[0])
        closing = re.compile(rf" {{0,3}}{mark}{{{len(token.markup)},}}[ \t]*")
        self._tail = _after_lines(self._tail, 1)
        self._fence = _Fence(closing, indent, block, [])
        return True

    def _follow_fence(self, fence: _Fence) -> bool:
        """Take complete lines; True when the closing line was among them."""
        while (end := self._tail.find("\n")) >= 0:
            line, self._tail = self._tail[:end], self._tail[end + 1 :]
            if fence.closing.fullmatch(line):
                self._closed.append(replace(fence.block, text="\n".join(fence.lines), closed=True))
                self._fence = None
                self._scanned_lines = 0
                return True
            fence.lines.append(_unindent(line, fence.indent))
        return False

    def _open_blocks(self, finished: bool) -> list[Block]:
        if self._fence is not None:
            return [self._open_fence(self._fence, finished)]
        tokens = self._parser.parse(self._tail)
        blocks = blocks_from_tokens(tokens, self._next_number)
        if not finished and blocks and blocks[-1].kind == "code":
            blocks[-1] = replace(blocks[-1], closed=False)
        return blocks

    def _open_fence(self, fence: _Fence, finished: bool) -> Block:
        lines = fence.lines
        if self._tail and not fence.closing.fullmatch(self._tail):
            lines = [*lines, _unindent(self._tail, fence.indent)]
        return replace(fence.block, text="\n".join(lines), closed=finished)


def _last_item(tokens: list[Token], last: int) -> int | None:
    """Index of the last item of the list opened at `last`, when it has more than one item."""
    if not tokens[last].type.endswith("_list_open"):
        return None
    items = [
        i
        for i in range(last, len(tokens))
        if tokens[i].type == "list_item_open" and tokens[i].level == 1
    ]
    return items[-1] if len(items) > 1 else None


def _closing(opener: Token) -> Token:
    return Token(opener.type.replace("_open", "_close"), opener.tag, -1)


def _after_lines(text: str, count: int) -> str:
    position = 0
    for _ in range(count):
        position = text.index("\n", position) + 1
    return text[position:]


def _indent(text: str, line: int) -> int:
    rest = _after_lines(text, line)
    return len(rest) - len(rest.lstrip(" "))


def _unindent(line: str, columns: int) -> str:
    """Take up to so many columns of white space off; a tab that reaches beyond leaves spaces."""
    width = position = 0
    while width < columns and position < len(line) and line[position] in " \t":
        width += 4 - width % 4 if line[position] == "\t" else 1
        position += 1
    return " " * (width - columns) + line[position:]
