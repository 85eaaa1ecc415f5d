"""Which experts stay: policies over (layer, expert) keys, as arrays of numbers and pure functions of them.

A policy sees uses and answers with an order of victims. No I/O, no memory of records, no clock but its own:
the same uses give the same order, so any policy can be replayed on a routing trace without a model.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int32]


class Policy(Protocol):
    """Decides the order in which resident experts are replaced."""

    def touch(self, keys: Keys) -> None:
        """These experts were used by one token or prefill chunk, in this order."""
        ...

    def victims(self, resident: Keys, wanted: int) -> Keys:
        """Up to `wanted` of the resident experts, the first to be replaced first."""
        ...


def coldest(resident: Keys, score: NDArray[np.float64], wanted: int) -> Keys:
    """The `wanted` resident keys of the lowest scores, lowest first; ties by key."""
    values = score[resident]
    if wanted < len(resident):
        nearest = np.argpartition(values, wanted)[:wanted]
        resident, values = resident[nearest], values[nearest]
    return np.ascontiguousarray(resident[np.lexsort((resident, values))])


class LeastRecentlyUsed:
    """Evicts what was used longest ago."""

    def __init__(self, keys: int) -> None:
        self._last_use = np.full(keys, -1, np.float64)
        self._clock = 0

    def touch(self, keys: Keys) -> None:
        """Stamp the keys in their order."""
        self._last_use[keys] = self._clock + np.arange(len(keys))
        self._clock += len(keys)

    def victims(self, resident: Keys, wanted: int) -> Keys:
        """The least recently used first."""
        return coldest(resident, self._last_use, wanted)
