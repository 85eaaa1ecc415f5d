"""How fast this machine runs our kernels: weights eaten from memory a second, and sums in batches.

Runs the real matrix kernel for a fraction of a second on threads of its own. Memory: matrices of
twice the largest cache, 151 MB at least and 600 MB at most, freed at the end. Do it while nothing
else works.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.formats import NumberFormat, matrix_bytes
from engine.kernels import native
from engine.machine.cpu import compute_threads, largest_cache
from engine.machine.memory import system_memory

ROWS, COLS = 65536, 2048  # 75 MB as nf4: as much as a small model
FEWEST, MOST = 2, 8  # matrices; a small budget notices more than two
MEMORY_SHARE = 8  # of the free memory, at most this part is used
BATCH = 64

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class KernelSpeed:
    """weights_gb_s: packed weights read a second when one token is computed (decode).

    small_weights_gb_s: the same for weights that processor caches may hold in part.
    batch_gops: 10^9 multiplications and additions a second when many are computed (prefill).
    """

    weights_gb_s: float
    small_weights_gb_s: float
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
    wanted = min(MOST, max(FEWEST, -(-2 * largest_cache() // size)))
    count = max(1, min(wanted, system_memory().available // MEMORY_SHARE // size))
    weights = np.full(count * size, 0x11, np.uint8)  # real pages, and scales that are small numbers
    first = weights.ctypes.data
    many = [native.matrix(NumberFormat.NF4, rows, COLS, first + i * size) for i in range(count)]
    with _executor(threads) as context:
        one_s = _best_s(context, many[:1], 1, seconds / 4, clock)
        all_s = _best_s(context, many, 1, seconds / 4, clock)
        batch_s = _best_s(context, many[:1], BATCH, seconds / 2, clock)
    return KernelSpeed(
        weights_gb_s=count * size / all_s / 1e9,
        small_weights_gb_s=size / one_s / 1e9,
        batch_gops=2 * rows * COLS * BATCH / batch_s / 1e9,
        threads=threads,
    )


@contextmanager
def _executor(threads: int) -> Iterator[int]:
    context = native.new_executor(threads, "auto")
    try:
        yield context
    finally:
        native.library().e0_exec_free(context)


def _best_s(
    context: int,
    matrices: Sequence[native.Matrix],
    tokens: int,
    seconds: float,
    clock: Callable[[], float],
) -> float:
    """The shortest of at least three rounds: other programs only ever make one longer."""
    x: Floats = np.ones((tokens, matrices[0].cols), np.float32)
    y: Floats = np.empty((tokens, matrices[0].rows), np.float32)
    run, begin = native.library().e0_exec_matmul, clock()
    times: list[float] = []
    while len(times) < 3 or clock() - begin < seconds:
        start = clock()
        for matrix in matrices:
            run(context, ctypes.byref(matrix), x.ctypes.data, tokens, y.ctypes.data)
        times.append(max(clock() - start, 1e-9))
    return min(times)
