"""Texts for people that remember how they were made, so that a front end can say them in another
language. Plain data; any thread.

A `Text` is the English text wherever a str will do. Its template is written out where it is made:
the app's tools collect every template from the sources for translation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Text(str):
    """`template` with `values` in the places {0}, {1}, …; a value may be a Text itself."""

    __slots__ = ("template", "values")
    template: str
    values: tuple[str, ...]

    def __new__(cls, template: str, *values: object) -> Text:
        parts = tuple(value if isinstance(value, str) else str(value) for value in values)
        text = super().__new__(cls, template.format(*parts))
        text.template, text.values = template, parts
        return text

    def __getnewargs__(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.template, *self.values)


def joined(separator: str, texts: Iterable[str]) -> Text:
    """Texts one after the other; the separator is the same in every language."""
    parts = tuple(texts)
    return Text(separator.join(f"{{{place}}}" for place in range(len(parts))), *parts)


def gb(size: float) -> str:
    """Bytes as GB (10^9), or MB below one."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def record(text: str) -> Any:
    """A text for JSON: as it is, or as its template and values."""
    if isinstance(text, Text):
        return [text.template, [record(value) for value in text.values]]
    return text


def text_from_record(value: Any) -> str:
    """The text of a `record`, from another process. Raises ValueError."""
    if isinstance(value, str):
        return value
    try:
        template, values = value
        return Text(str(template), *(text_from_record(item) for item in values))
    except (TypeError, LookupError) as error:
        raise ValueError("not a text") from error


def with_records(value: Any) -> Any:
    """For JSON lines: beside each Text of a dict, or list of them, its record, as `<name>_text`."""
    if isinstance(value, dict):
        records = {f"{k}_text": _records(v) for k, v in value.items() if _has_text(v)}
        return {**{key: with_records(item) for key, item in value.items()}, **records}
    if isinstance(value, list | tuple):
        return [with_records(item) for item in value]
    return value


def _has_text(value: Any) -> bool:
    several = isinstance(value, list | tuple)
    return any(isinstance(item, Text) for item in (value if several else (value,)))


def _records(value: Any) -> Any:
    return record(value) if isinstance(value, str) else [record(item) for item in value]
