"""Functions, filters and methods of chat templates that can make much out of a small input.

Each checks with the `Allowance` first and then does what Jinja does (or `transformers`, for those
it adds). Pure functions; the allowance is the running rendering's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from string import Formatter
from typing import Any

from jinja2 import TemplateError, pass_eval_context
from jinja2.exceptions import SecurityError
from jinja2.filters import do_indent, do_join, do_replace, do_round, do_trim
from jinja2.nodes import EvalContext

from engine.chat.template_limits import Allowance
from engine.text import Text

_MAX_INDENT = 64
_MAX_STRIPPED = 256  # characters to strip: str.strip compares each with each
_MAX_TIME_FORMAT = 64
_MAX_DIGITS = 30


class TemplateRefusal(TemplateError):
    """The template itself says that it cannot take these messages."""


def raise_exception(message: object) -> None:
    """What a template calls when the messages do not suit it."""
    raise TemplateRefusal(str(message)[:500])


def strftime_now(time_format: str) -> str:
    """The local time in the given format."""
    if len(time_format) > _MAX_TIME_FORMAT:
        raise SecurityError(Text("a time format is too long"))
    return datetime.now().strftime(time_format)


def new_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    """`dict()`; a function, because the type itself has more to reach."""
    return dict(*args, **kwargs)


def _allowance(context: EvalContext) -> Allowance:
    allowance: Allowance = context.environment.allowance  # type: ignore[attr-defined]
    return allowance


@pass_eval_context
def join(context: EvalContext, value: Iterable[Any], d: str = "", attribute: Any = None) -> str:
    parts = _parts(_allowance(context), value, d)
    return str(do_join(context, parts, d, attribute))


def _parts(allowance: Allowance, values: Iterable[Any], separator: object) -> list[Any]:
    """The values as a list that can be joined."""
    parts = list(values)
    between = len(separator) if isinstance(separator, str) else 1
    allowance.fits(allowance.measure(parts) + between * len(parts))
    return parts


@pass_eval_context
def replace(context: EvalContext, s: Any, old: Any, new: Any, count: int | None = None) -> str:
    s, old, new = str(s), str(old), str(new)
    _check_replace(_allowance(context), s, (old, new))
    return do_replace(context, s, old, new, count)


def _check_replace(allowance: Allowance, text: str, args: tuple[Any, ...]) -> None:
    if len(args) >= 2 and isinstance(args[0], str) and isinstance(args[1], str):
        allowance.fits(len(text) + text.count(args[0]) * len(args[1]))


@pass_eval_context
def indent(
    context: EvalContext, s: str, width: int | str = 4, first: bool = False, blank: bool = False
) -> str:
    by = len(width) if isinstance(width, str) else int(width)
    if by > _MAX_INDENT:
        raise SecurityError(Text("an indentation is too wide"))
    text = str(s)
    _allowance(context).fits(len(text) + by * (1 + len(text.splitlines())))
    return do_indent(text, width, first, blank)


@pass_eval_context
def trim(context: EvalContext, value: Any, chars: str | None = None) -> str:
    _check_strip(_allowance(context), "", (chars,))
    return do_trim(value, chars)


def _check_strip(allowance: Allowance, text: str, args: tuple[Any, ...]) -> None:
    if args and isinstance(args[0], str) and len(args[0]) > _MAX_STRIPPED:
        raise SecurityError(Text("a set of characters to strip is too large"))


@pass_eval_context
def tojson(
    context: EvalContext,
    x: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON without the HTML escapes of Jinja's own filter, as in transformers."""
    by = len(indent) if isinstance(indent, str) else int(indent or 0)
    if by > _MAX_INDENT or sum(map(len, separators or ())) > _MAX_INDENT:
        raise SecurityError(Text("JSON is spread too wide"))
    options: dict[str, Any] = {"ensure_ascii": ensure_ascii, "sort_keys": sort_keys}
    encoder = json.JSONEncoder(indent=indent, separators=separators, **options)
    if indent is None:
        return encoder.encode(x)
    pieces, size = [], 0
    for piece in encoder.iterencode(x):
        size = _allowance(context).fits(size + len(piece))
        pieces.append(piece)
    return "".join(pieces)


def sum_numbers(iterable: Iterable[Any], attribute: Any = None, start: Any = 0) -> Any:
    """Jinja's `sum` for numbers; of lists it takes quadratic time."""
    values = [v if attribute is None else v[attribute] for v in iterable]
    if not all(isinstance(value, (int, float)) for value in (*values, start)):
        raise SecurityError(Text("sum may only add numbers"))
    return sum(values, start)


def round_number(value: float, precision: int = 0, method: Any = "common") -> float:
    if abs(precision) > _MAX_DIGITS:
        raise SecurityError(Text("a number is rounded too finely"))
    return do_round(value, precision, method)


CHECKED_FILTERS: dict[str, Callable[..., Any]] = {
    "join": join,
    "replace": replace,
    "indent": indent,
    "trim": trim,
    "tojson": tojson,
    "sum": sum_numbers,
    "round": round_number,
}


def check_method(
    allowance: Allowance, name: str, text: str, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The arguments for a string's method, once its result is known to fit."""
    if name == "join" and len(args) == 1:
        return (_parts(allowance, args[0], text),)
    if name == "replace":
        _check_replace(allowance, text, args)
    elif name in ("strip", "lstrip", "rstrip"):
        _check_strip(allowance, text, args)
    return args


def check_format(text: str) -> int:
    """Number of fields of a format string that has plain ones only: no widths, no conversions."""
    fields = [
        (spec, conversion)
        for _, name, spec, conversion in Formatter().parse(text)
        if name is not None
    ]
    if any(spec or conversion for spec, conversion in fields):
        raise SecurityError(Text("str.format may not use widths or conversions"))
    return len(fields)
