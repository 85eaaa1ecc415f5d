"""How fast this machine runs our kernels: weights eaten from memory a second, and sums in batches.

Runs the real matrix kernel for a fraction of a second on threads of its own. Memory: one matrix
that no cache holds, freed at the end. Do it while nothing else works.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.formats import NumberFormat, matrix_bytes
from engine.kernels import native
from engine.machine.cpu import compute_threads

ROWS, COLS = 65536, 2048  # 75 MB as nf4: twice the caches of most machines
BATCH = 64

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class KernelSpeed:
    """weights_gb_s: packed weights read a second when one token is computed (decode).

    batch_gops: 10^9 multiplications and additions a second when many are (prefill).
    """

    weights_gb_s: float
    batch_gops: float
    threads: int


def measure_kernels(
    seconds: float = 0.6,
    threads: int | None = None,
    rows: int = ROWS,
    clock: Callable[[], float] = time.perf_counter,
) -> KernelSpeed:
    """Measure for about `seconds`. Raises NativeError."""
    threads = threads or compute_threads()
    size = matrix_bytes(NumberFormat.NF4, rows, COLS)
    weights = np.full(size, 0x11, np.uint8)  # real pages, and scales that are small numbers
    descriptor = native.matrix(NumberFormat.NF4, rows, COLS, weights.ctypes.data)
    with _executor(threads) as context:
        one = _best_s(context, descriptor, 1, seconds / 2, clock)
        many = _best_s(context, descriptor, BATCH, seconds / 2, clock)
    return KernelSpeed(size / one / 1e9, 2 * rows * COLS * BATCH / many / 1e9, threads)


@contextmanager
def _executor(threads: int) -> Iterator[int]:
    context = native.new_executor(threads, "auto")
    try:
        yield context
    finally:
        native.library().e0_exec_free(context)


def _best_s(
    context: int, matrix: native.Matrix, tokens: int, seconds: float, clock: Callable[[], float]
) -> float:
    """The shortest of at least three runs: other programs only ever make one longer."""
    x: Floats = np.ones((tokens, matrix.cols), np.float32)
    y: Floats = np.empty((tokens, matrix.rows), np.float32)
    run, begin = native.library().e0_exec_matmul, clock()
    times: list[float] = []
    while len(times) < 3 or clock() - begin < seconds:
        start = clock()
        run(context, ctypes.byref(matrix), x.ctypes.data, tokens, y.ctypes.data)
        times.append(max(clock() - start, 1e-9))
    return min(times)
