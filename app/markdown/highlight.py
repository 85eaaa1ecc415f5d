"""Source code → coloured runs by line, with Pygments, as a generator that can be worked off in
slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound

TokenStyle = Literal["keyword", "name", "string", "number", "comment", "operator", "builtin"]
Run = tuple[int, int, TokenStyle]  # start in the line, length, style
LONGEST = 200_000  # characters; longer code stays plain

_STYLES: tuple[tuple[_TokenType, TokenStyle], ...] = (
    (Token.Comment, "comment"),
    (Token.Keyword, "keyword"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Name.Builtin, "builtin"),
    (Token.Name.Function, "name"),
    (Token.Name.Class, "name"),
    (Token.Name.Decorator, "name"),
    (Token.Name.Tag, "keyword"),
    (Token.Name.Attribute, "name"),
    (Token.Operator.Word, "keyword"),
    (Token.Generic.Heading, "keyword"),
    (Token.Generic.Deleted, "keyword"),
    (Token.Generic.Inserted, "string"),
)


def highlight_lines(source: str, language: str) -> Iterator[list[Run]]:
    """Yield the coloured runs of each line in turn; nothing when the language is unknown."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return
    if len(source) > LONGEST:
        return
    line: list[Run] = []
    column = 0
    for kind, text in lexer.get_tokens(source):
        style = _style(kind)
        first, *following = text.split("\n")
        column = _add(line, column, first, style)
        for part in following:
            yield line
            line = []
            column = _add(line, 0, part, style)
    yield line


def _add(line: list[Run], column: int, text: str, style: TokenStyle | None) -> int:
    width = len(text.encode("utf-16-le")) // 2  # Qt counts UTF-16 units
    if style is not None and text.strip():
        line.append((column, width, style))
    return column + width


def _style(kind: _TokenType) -> TokenStyle | None:
    for parent, style in _STYLES:
        if kind in parent:
            return style
    return None
