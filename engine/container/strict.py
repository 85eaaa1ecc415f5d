"""Strict JSON → frozen dataclasses: every key present, none unknown, none twice, every type exact.

Owns nothing; any thread. Whatever the bytes are, the only exception is ContainerError.
Supported field types: int, float, str, bool, StrEnum, Literal, X | None, tuple[X, ...],
dict[str, X] and dataclasses of these.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from engine.errors import ContainerError
from engine.text import Text

DAMAGED = Text("The model folder is damaged: convert or download the model again.")
MAX_INTEGER = 1 << 53
MAX_TEXT = 4096

Decoder = Callable[[object, str], Any]
T = TypeVar("T")


def parse_json(data: bytes, name: str) -> object:
    """The value of a JSON file; duplicate keys, NaN and bad UTF-8 are refused."""
    try:
        return json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise ContainerError(Text("{0} is not valid JSON: {1}.", name, error), DAMAGED) from None


def decode(cls: type[T], value: object, where: str) -> T:
    """The dataclass `cls` from a parsed JSON value; `where` names the value in errors."""
    result: T = _decoder(cls)(value, where)
    return result


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return result


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _bad(where: str, expected: Text) -> ContainerError:
    return ContainerError(Text("{0} is not {1}.", where, expected), DAMAGED)


def _decoder(kind: Any) -> Decoder:
    """A function that checks and converts a value of type `kind`."""
    simple = {int: _integer, float: _number, str: _text, bool: _flag}.get(kind)
    if simple is not None:
        return simple
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _sequence(_decoder(arguments[0]))
    if origin is dict:
        return _mapping(_decoder(arguments[1]))
    if origin is Literal:
        return _choice({value: value for value in arguments})
    if origin is types.UnionType:
        return _optional(_decoder(arguments[0]))
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    assert issubclass(kind, Enum)  # a field type this module does not know: our own mistake
    return _choice({member.value: member for member in kind})


def _integer(value: object, where: str) -> int:
    if type(value) is not int or not 0 <= value <= MAX_INTEGER:
        raise _bad(where, Text("a whole number in range"))
    return value


def _number(value: object, where: str) -> float:
    if type(value) is int and abs(value) <= MAX_INTEGER:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise _bad(where, Text("a finite number"))
    return value


def _text(value: object, where: str) -> str:
    if type(value) is not str or len(value) > MAX_TEXT:
        raise _bad(where, Text("a text of reasonable length"))
    return value


def _flag(value: object, where: str) -> bool:
    if type(value) is not bool:
        raise _bad(where, Text("true or false"))
    return value


def _choice(choices: dict[str, Any]) -> Decoder:
    def decode_choice(value: object, where: str) -> Any:
        if type(value) is not str or value not in choices:
            raise _bad(where, Text("one of {0}", ", ".join(choices)))
        return choices[value]

    return decode_choice


def _optional(inner: Decoder) -> Decoder:
    return lambda value, where: None if value is None else inner(value, where)


def _sequence(inner: Decoder) -> Decoder:
    def decode_sequence(value: object, where: str) -> tuple[Any, ...]:
        if type(value) is not list:
            raise _bad(where, Text("a list"))
        return tuple(inner(entry, f"{where}[{i}]") for i, entry in enumerate(value))

    return decode_sequence


def _mapping(inner: Decoder) -> Decoder:
    def decode_mapping(value: object, where: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise _bad(where, Text("an object"))
        return {key: inner(entry, f"{where}.{key}") for key, entry in value.items()}

    return decode_mapping


def _record(cls: Any) -> Decoder:
    hints = get_type_hints(cls)
    decoders = {field.name: _decoder(hints[field.name]) for field in dataclasses.fields(cls)}

    def decode_record(value: object, where: str) -> Any:
        if type(value) is not dict:
            raise _bad(where, Text("an object"))
        if value.keys() != decoders.keys():
            odd = ", ".join(sorted(value.keys() ^ decoders.keys()))[:200]
            raise ContainerError(Text("{0} has missing or unknown keys: {1}.", where, odd), DAMAGED)
        return cls(**{key: inner(value[key], f"{where}.{key}") for key, inner in decoders.items()})

    return decode_record
