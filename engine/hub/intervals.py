"""A set of byte ranges: half-open, merged, sorted. Not locked: the owner does that."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

Span = tuple[int, int]


class Intervals:
    """Which bytes of a file are there."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.total = 0
        for start, end in spans:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Put start..end in; what was there already counts once."""
        if start >= end:
            return
        first = bisect_left(self._ends, start)  # the first that touches us
        last = bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
            gone = sum(self._ends[i] - self._starts[i] for i in range(first, last))
            self.total -= gone
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]
        self.total += end - start

    def missing(self, size: int) -> list[Span]:
        """The gaps of a file of `size` bytes, in order."""
        starts, ends = [*self._starts, size], [0, *self._ends]
        return [(a, b) for a, b in zip(ends, starts, strict=True) if a < b]

    def prefix(self) -> int:
        """How many bytes are there from the start on."""
        return self._ends[0] if self._starts and self._starts[0] == 0 else 0

    def spans(self) -> list[Span]:
        """All ranges, in order."""
        return list(zip(self._starts, self._ends, strict=True))
