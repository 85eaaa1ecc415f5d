"""How far to trust the prediction of the next layer's experts: reads ahead while they pay, stops
while they lose.

A pure state machine over counters; no I/O. One thread.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = 32  # tokens between two judgements
PAUSE = 8  # windows without reading ahead after one that lost


@dataclass(frozen=True)
class PredictionTotals:
    """Running totals of reads made ahead that were, or were evicted before being, used."""

    used: int = 0
    wasted: int = 0


class ReadAhead:
    """Decides how many predicted misses a layer may read ahead; 0 only keeps what is there."""

    def __init__(self, reads: int) -> None:
        self._most = reads
        self._tokens = 0
        self._paused = 0
        self._before = PredictionTotals()

    def after_token(self, totals: PredictionTotals) -> int:
        """Judge a window's reads when it is over; the reads allowed from now on."""
        self._tokens += 1
        if self._tokens % WINDOW == 0:
            used = totals.used - self._before.used
            wasted = totals.wasted - self._before.wasted
            self._before = totals
            self._paused = max(0, self._paused - 1) if wasted <= used else PAUSE
        return 0 if self._paused else self._most
