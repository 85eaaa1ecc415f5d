"""markdown-it tokens → flat blocks. Raw HTML stays text, images become links, only safe
addresses link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.markdown.blocks import Align, Block, Cell, Span

SAFE_SCHEMES = ("http://", "https://", "mailto:")
BULLETS = ("•", "◦", "▪")
CHECK_BOXES = {"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"}


def make_parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; raw HTML off."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def safe_link(address: object) -> str:
    """The address when it may be opened, else nothing."""
    text = str(address or "")
    return text if text.lower().startswith(SAFE_SCHEMES) else ""


@dataclass
class _List:
    number: int | None  # next item's number; None in a bullet list


@dataclass
class _Walk:
    blocks: list[Block] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    quote: int = 0
    marker: str = ""

    def add(self, block: Block) -> None:
        placed = replace(block, indent=len(self.lists), quote=self.quote, marker=self.marker)
        self.blocks.append(placed)
        self.marker = ""


def blocks_from_tokens(tokens: Sequence[Token], first_number: int | None = None) -> list[Block]:
    """Flatten block tokens. `first_number` renumbers an ordered list that opens the text."""
    walk = _Walk()
    index = 0
    while index < len(tokens):
        number = first_number if index == 0 else None
        index = _step(walk, tokens, index, number)
    return walk.blocks


def _step(walk: _Walk, tokens: Sequence[Token], index: int, first_number: int | None) -> int:
    token = tokens[index]
    kind = token.type
    if kind in ("bullet_list_open", "ordered_list_open"):
        walk.lists.append(_open_list(token, first_number))
    elif kind in ("bullet_list_close", "ordered_list_close"):
        walk.lists.pop()
    elif kind == "list_item_open":
        walk.marker = _next_marker(walk.lists)
    elif kind == "list_item_close":
        if walk.marker:
            walk.add(Block("paragraph"))
    elif kind in ("blockquote_open", "blockquote_close"):
        walk.quote += token.nesting
    elif kind == "table_open":
        return _table(walk, tokens, index)
    else:
        _leaf(walk, tokens, index)
    return index + 1


def _open_list(token: Token, first_number: int | None) -> _List:
    if token.type == "bullet_list_open":
        return _List(None)
    return _List(first_number if first_number is not None else int(token.attrGet("start") or 1))


def _next_marker(lists: list[_List]) -> str:
    current = lists[-1]
    if current.number is None:
        return BULLETS[min(len(lists), len(BULLETS)) - 1]
    current.number += 1
    return f"{current.number - 1}."


def _leaf(walk: _Walk, tokens: Sequence[Token], index: int) -> None:
    token = tokens[index]
    if token.type == "inline":
        opener = tokens[index - 1]
        spans = spans_from_inline(token.children or [])
        if opener.type == "heading_open":
            walk.add(Block("heading", spans, level=int(opener.tag[1:])))
        else:
            walk.add(Block("paragraph", _take_check_box(walk, spans)))
    elif token.type in ("fence", "code_block"):
        words = token.info.split()
        text = token.content.removesuffix("\n")
        walk.add(Block("code", text=text, language=words[0] if words else ""))
    elif token.type == "hr":
        walk.add(Block("rule"))


def _take_check_box(walk: _Walk, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    if not walk.marker or not spans:
        return spans
    box = CHECK_BOXES.get(spans[0].text[:4])
    if box is None:
        return spans
    walk.marker = box
    return (replace(spans[0], text=spans[0].text[4:]), *spans[1:])


def _table(walk: _Walk, tokens: Sequence[Token], index: int) -> int:
    rows: list[tuple[Cell, ...]] = []
    cells: list[Cell] = []
    aligns: list[Align] = []
    while tokens[index].type != "table_close":
        token = tokens[index]
        if token.type == "th_open":
            aligns.append(_align(str(token.attrGet("style") or "")))
        elif token.type == "inline":
            cells.append(spans_from_inline(token.children or []))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
            cells = []
        index += 1
    walk.add(Block("table", rows=tuple(rows), aligns=tuple(aligns)))
    return index + 1


def _align(style: str) -> Align:
    if "center" in style:
        return "center"
    return "right" if "right" in style else "left"


def spans_from_inline(tokens: Sequence[Token]) -> tuple[Span, ...]:
    """Inline tokens → spans; neighbours of one style are joined."""
    spans: list[Span] = []
    style = Span("")
    for token in tokens:
        name = token.type.rpartition("_")[0]
        if name in ("strong", "em", "s"):
            style = _toggled(style, name, token.nesting > 0)
        elif name == "link":
            style = replace(
                style, link=safe_link(token.attrGet("href")) if token.nesting > 0 else ""
            )
        else:
            _append(spans, _inline_leaf(token, style))
    return tuple(spans)


def _toggled(style: Span, name: str, on: bool) -> Span:
    if name == "strong":
        return replace(style, bold=on)
    return replace(style, italic=on) if name == "em" else replace(style, strike=on)


def _inline_leaf(token: Token, style: Span) -> Span:
    if token.type == "code_inline":
        return replace(style, text=token.content, code=True)
    if token.type in ("softbreak", "hardbreak"):
        return replace(style, text="\n")
    if token.type == "image":
        return replace(style, text=f"🖼 {token.content}", link=safe_link(token.attrGet("src")))
    return replace(style, text=token.content)


def _append(spans: list[Span], span: Span) -> None:
    if not span.text:
        return
    if spans and replace(spans[-1], text="") == replace(span, text=""):
        span = replace(span, text=spans.pop().text + span.text)
    spans.append(span)
