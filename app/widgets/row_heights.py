"""Heights of a long list's rows, measured or guessed, and where each row stands. No Qt."""

from __future__ import annotations

import bisect
import itertools


class RowHeights:
    """Offsets are summed again only after a change."""

    def __init__(self, heights: list[int], gap: int) -> None:
        self._heights = heights
        self._gap = gap
        self._tops: list[int] | None = None

    def __len__(self) -> int:
        return len(self._heights)

    def height(self, row: int) -> int:
        """A row's height."""
        return self._heights[row]

    def set(self, row: int, height: int) -> bool:
        """Store a measured height; True when it is another one."""
        if self._heights[row] == height:
            return False
        self._heights[row] = height
        self._tops = None
        return True

    def top(self, row: int) -> int:
        """Where a row starts; `len` gives the end of the list."""
        return self._all_tops()[row]

    @property
    def total(self) -> int:
        """Height of the whole list."""
        return max(self._all_tops()[-1] - self._gap, 0) if self._heights else 0

    def rows_between(self, top: int, bottom: int) -> range:
        """The rows that touch [top, bottom)."""
        tops = self._all_tops()
        first = max(bisect.bisect_right(tops, top) - 1, 0)
        last = bisect.bisect_left(tops, bottom)
        return range(first, min(last, len(self._heights)))

    def _all_tops(self) -> list[int]:
        if self._tops is None:
            steps = (height + self._gap for height in self._heights)
            self._tops = list(itertools.accumulate(steps, initial=0))
        return self._tops
