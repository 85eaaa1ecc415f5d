"""What the machine gives at best: a plain read of memory, and torch's bf16 matrix product.

python -m tests.bench.roofline [--threads N] [--mib 1024]      prints one JSON object
"""

from __future__ import annotations

import argparse
import json
import time
from ctypes import c_double, c_int, c_int64, c_void_p

import numpy as np
import torch

from engine.kernels import native
from engine.machine.cpu import compute_threads
from engine.machine.pages import huge_pages

_TOKENS, _COLS, _ROWS = 512, 2048, 4096
PASSES = 5


class PlainRead:
    """Memory of `size` bytes, 1 MiB at least; below the processor's caches it measures those."""

    def __init__(self, size: int) -> None:
        self._memory = np.frombuffer(huge_pages(size), np.uint8)
        self._memory[:] = 1  # real pages
        self._measure = native.library().e0_read_bandwidth
        self._measure.restype, self._measure.argtypes = c_double, (c_void_p, c_int64, c_int)

    def bytes_s(self, threads: int) -> float:
        """Bytes a second that so many compute threads read of it, best of a few passes."""
        return float(self._measure(self._memory.ctypes.data, self._memory.size, threads))


def matmul_gflops(threads: int) -> float:
    """torch's bf16 product of 512 tokens with a (4096, 2048) weight, best of a few passes."""
    torch.set_num_threads(threads)
    x = torch.randn(_TOKENS, _COLS).bfloat16()
    weight = torch.randn(_ROWS, _COLS).bfloat16()
    best = float("inf")
    for _ in range(PASSES):
        begin = time.perf_counter()
        torch.nn.functional.linear(x, weight)
        best = min(best, time.perf_counter() - begin)
    return 2 * _TOKENS * _COLS * _ROWS / best / 1e9


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=compute_threads())
    parser.add_argument("--mib", type=int, default=1024, help="memory to read")
    options = parser.parse_args()
    result = {
        "threads": options.threads,
        "read_gb_s": round(PlainRead(options.mib << 20).bytes_s(options.threads) / 1e9, 2),
        "bf16_gflops": round(matmul_gflops(options.threads), 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
