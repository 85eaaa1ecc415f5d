"""Reads values of a config.json or GGUF header, which may be damaged or hostile: each is checked
for type and range before use, and a bad one raises CheckpointError naming its key."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Mapping

from engine.errors import CheckpointError, UnsupportedModelError
from engine.text import Text

_NEXT_STEP = Text("The file is damaged or incomplete; fetch the model again.")


def _shown(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"a huge {type(value).__name__}"


class Fields:
    """Typed access to a mapping; `where` names the file in messages. null counts as absent."""

    def __init__(self, values: Mapping[str, object], where: str) -> None:
        self.where = where
        self._values = values

    def has(self, key: str) -> bool:
        """Whether the key is there with a value."""
        return self._values.get(key) is not None

    def first(self, *keys: str) -> str:
        """The first key that has a value, or the first of all."""
        return next((key for key in keys if self.has(key)), keys[0])

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number in low..high."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise self._bad(key, value, Text("a whole number from {0} to {1}", low, high))
        number = int(value)
        if not low <= number <= high:
            raise self._bad(key, value, Text("a whole number from {0} to {1}", low, high))
        return number

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        """A finite number in low..high."""
        value = self._value(key, default)
        expected = Text("a number from {0} to {1}", f"{low:g}", f"{high:g}")
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise self._bad(key, value, expected)
        try:
            number = float(value)
        except OverflowError:
            raise self._bad(key, value, expected) from None
        if not low <= number <= high:  # false for NaN too
            raise self._bad(key, value, expected)
        return number

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self._bad(key, value, Text("a text"))
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise self._bad(key, value, Text("true or false"))
        return value

    def length(self, key: str) -> int:
        """How many entries a list has."""
        value = self._value(key, None)
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__"):
            raise self._bad(key, value, Text("a list"))
        return len(value)

    def numbers(self, key: str, count: int, low: float, high: float) -> tuple[float, ...]:
        """A list of `count` finite numbers in low..high."""
        if self.length(key) != count:
            raise self._bad(key, self._values[key], Text("a list of {0} numbers", count))
        entries = list(self._values[key])  # type: ignore[call-overload]
        each = Fields({f"{key}[{i}]": entry for i, entry in enumerate(entries)}, self.where)
        return tuple(each.number(f"{key}[{i}]", low, high) for i in range(count))

    def section(self, key: str) -> Fields:
        """A nested object; an absent one is empty."""
        value = self._values.get(key)
        if value is None:
            return Fields({}, f"{self.where}, {key}")
        if not isinstance(value, Mapping):
            raise self._bad(key, value, Text("an object"))
        return Fields(value, f"{self.where}, {key}")

    def refuse(self, key: str, why: Text) -> UnsupportedModelError:
        """The error for an option we know of but cannot run."""
        value = _shown(self._values.get(key))
        return UnsupportedModelError(
            Text("{0}: {1} is {2}: {3}.", self.where, key, value, why),
            Text("Choose another version of the model."),
        )

    def _value(self, key: str, default: object) -> object:
        value = self._values.get(key)
        value = default if value is None else value
        if value is None:
            raise CheckpointError(Text("{0} has no {1}.", self.where, key), _NEXT_STEP)
        return value

    def _bad(self, key: str, value: object, expected: Text) -> CheckpointError:
        message = Text("{0}: {1} is {2}, expected {3}.", self.where, key, _shown(value), expected)
        return CheckpointError(message, _NEXT_STEP)
