"""How much one rendering of a chat template may do. Jinja code asks here before every step.

Every value is measured before an operation walks over it, so no single step is long; the limit on
processor time is looked at between steps; everything created is added up, so memory is bounded too.
One object per rendering, used by one thread.
"""

from __future__ import annotations

import time
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Sequence, ValuesView
from dataclasses import dataclass

from jinja2 import TemplateError
from jinja2.utils import Namespace

from engine.text import Text

_MAX_INT_BITS = 1024
_LARGE = 4096  # a value whose walk takes as long as many steps
_WALKED = (list, tuple, set, frozenset, KeysView, ValuesView, ItemsView)


class TemplateLimitError(TemplateError):
    """The template does more than a chat template has any reason to do."""


@dataclass(frozen=True)
class TemplateLimits:
    """Bounds of one template. Sizes count characters and list entries.

    value: the largest single value; created: all values made in one rendering, together. They and
    the time grow with the size of what is rendered (some templates are quadratic).
    """

    source: int = 128 * 1024
    cpu_seconds: float = 5.0
    value: int = 200_000
    created: int = 50_000_000


class Allowance:
    """What is left of the limits in one rendering. inputs: what the template is given."""

    def __init__(self, limits: TemplateLimits, inputs: Sequence[object] = ()) -> None:
        self._known: dict[int, int] = {}  # sizes of the input's containers, which cannot change
        total = sum(self._learn(value) for value in inputs)
        self._seconds = limits.cpu_seconds * (1 + total / 100_000)
        self._deadline = time.thread_time() + self._seconds
        self._steps = 0
        self._value = limits.value + 4 * total
        # A text that grows turn by turn is made anew in each.
        self._created = limits.created + total * (100 + len(self._known))

    def _learn(self, value: object) -> int:
        if isinstance(value, str):
            return len(value)
        children = [*value, *value.values()] if isinstance(value, dict) else value
        if not isinstance(children, (list, tuple)):
            return 1
        size = 1 + sum(self._learn(child) for child in children)
        self._known[id(value)] = size
        return size

    def tick(self) -> None:
        """One step was taken. Reading the clock costs more than most steps, hence not each time."""
        self._steps += 1
        if self._steps % 32 == 0:
            self._check_time()

    def _check_time(self) -> None:
        if time.thread_time() > self._deadline:
            raise TemplateLimitError(
                Text(
                    "it was still not done after {0} s of processor time",
                    f"{self._seconds:.3g}",
                )
            )

    def fits(self, size: int) -> int:
        """`size`, which one value may have; raises TemplateLimitError when it may not."""
        if size > self._value:
            raise TemplateLimitError(Text("it makes a value that is too large"))
        return size

    def create(self, size: int) -> None:
        """A new value of `size` comes into being."""
        self._created -= self.fits(size)
        if self._created < 0:
            raise TemplateLimitError(Text("it makes too much text"))

    def measure(self, *values: object) -> int:
        """Size of the values and all they hold; what is held twice counts twice, as work does."""
        self.tick()
        size, waiting = 0, list(values)
        while waiting:
            value = waiting.pop()
            known = self._known.get(id(value))
            size += self._flat(value, waiting) if known is None else known
            if size + len(waiting) > self._value:
                self.fits(size + len(waiting))
        if size > _LARGE:
            self._check_time()
        return size

    @staticmethod
    def _flat(value: object, waiting: list[object]) -> int:
        """The value's own size; what it holds is put on the waiting list."""
        if isinstance(value, str):
            return len(value)
        if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
            raise TemplateLimitError(Text("it computes with a number that is too large"))
        if isinstance(value, range):
            return len(value)
        if isinstance(value, dict):
            waiting.extend((*value, *value.values()))
        elif isinstance(value, _WALKED):
            waiting.extend(value)
        elif isinstance(value, Namespace):
            waiting.extend(object.__getattribute__(value, "_Namespace__attrs").values())
        return 1

    def each(self, values: Iterator[object]) -> Iterator[object]:
        """The values of a lazy filter, measured one by one and together."""
        size = 0
        for value in values:
            size = self.fits(size + 1 + self.measure(value))
            yield value

    def whole(self, pieces: Iterable[str]) -> str:
        """The rendered pieces as one text, no longer than a value may be."""
        text = "".join(pieces)
        self.fits(len(text))
        return text
