"""Records for rendered Markdown: a message is a flat list of blocks, lists and quotes are depths
on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["paragraph", "heading", "code", "table", "rule"]
Align = Literal["left", "center", "right"]


@dataclass(frozen=True)
class Span:
    """A run of text in one style; `link` is empty or an http, https or mailto address."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    strike: bool = False
    link: str = ""


Cell = tuple[Span, ...]


@dataclass(frozen=True)
class Block:
    """One paragraph, heading, code block, table or rule.

    indent: depth of lists around it; quote: depth of quotes.
    marker: "•", "3." or "☐" on the first block of a list item.
    level: heading level.
    text, language, closed: code only; closed is False while its fence is open.
    rows, aligns: table only; the first row is the header.
    """

    kind: BlockKind
    spans: tuple[Span, ...] = ()
    indent: int = 0
    quote: int = 0
    marker: str = ""
    level: int = 0
    text: str = ""
    language: str = ""
    closed: bool = True
    rows: tuple[tuple[Cell, ...], ...] = ()
    aligns: tuple[Align, ...] = ()
