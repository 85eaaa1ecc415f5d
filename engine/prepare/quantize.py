"""Quantises float32 matrices to 4-bit tables or int8, one fp16 scale for 32 columns. Any thread.

A 4-bit block tries a few scales around its largest value, of both signs (a negative scale mirrors
the asymmetric table), keeps the one with the least squared error and moves it to the least-squares
optimum. Works in slices that stay in the CPU's cache: memory is the result plus about 2 MB.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.errors import CheckpointError
from engine.formats import BLOCK_COLS, TABLES, Blocks, NumberFormat, blocks
from engine.text import Text

Floats = NDArray[np.float32]

# Where a block's largest value goes, in units of the table's largest; picked greedily, best first,
# on normal and Student-t(5) weights. 8 reach 2 % of the error of a fine search (80 candidates).
CANDIDATES: dict[NumberFormat, tuple[float, ...]] = {
    NumberFormat.NF4: (-1.02, 1.02, 1.1, 0.96, -0.96, 0.74, -1.08, -0.7),
    NumberFormat.INT4: (-1.02, -1.08, 0.9, -0.98, 1.04),
}
FP16_MAX = 65504.0
SLICE_BLOCKS = 2048
TINY = 1e-30  # below this a block is zero: fp16 scales end at 6e-8, and 1 / x must not overflow


def quantize(matrix: Floats, fmt: NumberFormat, name: str) -> Blocks:
    """Blocks of a float32 matrix (rows, cols) in nf4, int4 or int8; `name` is for errors only."""
    rows, cols = matrix.shape
    codes = np.empty((rows, blocks(cols) * BLOCK_COLS), np.uint8)
    scales = np.empty((rows, blocks(cols)), np.float32)
    step = min(rows, max(1, SLICE_BLOCKS // blocks(cols)))
    search = None if fmt is NumberFormat.INT8 else _TableSearch(fmt, step * blocks(cols))
    for start in range(0, rows, step):
        part = _whole_blocks(matrix[start : start + step])
        peak = _peaks(part, fmt, name)
        found = search.best(part, peak) if search else _int8(part, peak)
        codes[start : start + step] = found[0].reshape(-1, codes.shape[1])
        scales[start : start + step] = found[1].reshape(-1, scales.shape[1])
    codes = codes[:, :cols]
    return Blocks(fmt, codes.view(np.int8) if fmt is NumberFormat.INT8 else codes, scales)


def _whole_blocks(rows: Floats) -> Floats:
    """Rows (n, cols) as blocks (n · blocks, 32), zeros behind a ragged end."""
    missing = -rows.shape[1] % BLOCK_COLS
    padded = np.pad(rows, ((0, 0), (0, missing))) if missing else rows
    return np.ascontiguousarray(padded, np.float32).reshape(-1, BLOCK_COLS)


def _peaks(part: Floats, fmt: NumberFormat, name: str) -> Floats:
    """Each block's value of largest magnitude, sign kept; refuses what a block cannot hold."""
    columns = np.ascontiguousarray(part.T)  # numpy is slow along a short last axis
    high, low = columns.max(axis=0), columns.min(axis=0)
    peak: Floats = np.where(high >= -low, high, low)
    limit = FP16_MAX * _table_peak(fmt)
    if not np.isfinite(peak).all():
        raise CheckpointError(
            Text("The weight {0} holds values that are not numbers (NaN or infinity).", name),
            Text("The file is damaged: download it again."),
        )
    if np.abs(peak).max() > limit:
        raise CheckpointError(
            Text(
                "The weight {0} holds values beyond ±{1}, too large for {2}.",
                name,
                f"{limit:.0f}",
                fmt,
            ),
            Text("Convert it in the number format bf16 (--quant bf16)."),
        )
    return peak


def _table_peak(fmt: NumberFormat) -> int:
    return 127 if fmt is NumberFormat.INT8 else max(abs(value) for value in TABLES[fmt])


def _fp16(scales: Floats) -> Floats:
    """Scales as fp16 will hold them."""
    bounded: Floats = np.clip(scales, -FP16_MAX, FP16_MAX)
    return bounded.astype(np.float16).astype(np.float32)


def _inverse(scales: Floats) -> Floats:
    """1 / scale; 0 where the scale is zero."""
    live = np.abs(scales) > TINY
    result = np.zeros_like(scales)
    np.divide(1.0, scales, out=result, where=live)
    return result


def _int8(part: Floats, peak: Floats) -> tuple[NDArray[np.uint8], Floats]:
    scale = _fp16(np.abs(peak / np.float32(127)))
    steps = part * _inverse(scale)[:, None]
    np.rint(np.clip(steps, -127, 127, out=steps), out=steps)
    return steps.astype(np.int8).view(np.uint8), scale


class _TableSearch:
    """Finds scales and codes for one 4-bit table, in buffers of its own.

    Nearest entry by lookup: entries are integers, so their midpoints are multiples of 1/2 and
    floor(2 · x) decides exactly. The lookup reaches beyond the table's ends, so that no candidate
    has to be clipped.
    """

    def __init__(self, fmt: NumberFormat, size: int) -> None:
        self.candidates = CANDIDATES[fmt]
        self.peak = _table_peak(fmt)
        table = np.array(TABLES[fmt], np.float32)
        self.middle = int(2 * self.peak * max(map(abs, self.candidates))) + 2
        halves = np.arange(-self.middle, self.middle + 1) + 0.5
        self.codes = np.searchsorted((table[1:] + table[:-1]) / 2, halves / 2).astype(np.uint8)
        self.values = table[self.codes]
        self.steps = np.empty((size, BLOCK_COLS), np.float32)
        self.entries = np.empty((size, BLOCK_COLS), np.intp)

    def best(self, part: Floats, peak: Floats) -> tuple[NDArray[np.uint8], Floats]:
        """Codes (n, 32) and fp16-exact scales (n,) of blocks (n, 32) with the given peaks."""
        scale = _fp16(self._search(part, _inverse(peak)))
        steps = self._steps(part, _inverse(scale))
        np.clip(steps, 0, 2 * self.middle, out=steps)
        return np.take(self.codes, self._floor(steps), mode="wrap"), scale

    def _search(self, part: Floats, inverse_peak: Floats) -> Floats:
        """Least-squares scales. Entries q leave an error Σx² - (Σxq)² / Σq²: maximise the last."""
        gain = np.zeros(len(part), np.float32)
        scale = np.zeros(len(part), np.float32)
        for position in self.candidates:
            steps = self._steps(part, inverse_peak * np.float32(position * self.peak))
            q = np.take(self.values, self._floor(steps), mode="wrap", out=steps)
            xq, qq = np.vecdot(part, q), np.vecdot(q, q)
            fitted = np.divide(xq, qq, out=np.zeros_like(xq), where=qq > 0)
            better = fitted * xq > gain
            gain = np.where(better, fitted * xq, gain)
            scale = np.where(better, fitted, scale)
        return scale

    def _steps(self, part: Floats, inverse: Floats) -> Floats:
        """Half steps of the table from the lookup's start, not yet whole."""
        steps: Floats = self.steps[: len(part)]
        np.multiply(part, (inverse * np.float32(2))[:, None], out=steps)
        steps += np.float32(self.middle)
        return steps

    def _floor(self, steps: Floats) -> NDArray[np.intp]:
        entries: NDArray[np.intp] = self.entries[: len(steps)]
        np.copyto(entries, steps, casting="unsafe")
        return entries
