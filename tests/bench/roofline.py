"""What the machine gives at best: a plain read of memory, and torch's bf16 matrix product.

python -m tests.bench.roofline [--threads N] [--mib 1024]      prints one JSON object
"""

from __future__ import annotations

import argparse
import json
import time
from ctypes import c_double, c_int, c_int64

import torch

from engine.kernels import native
from engine.machine.cpu import compute_threads

_TOKENS, _COLS, _ROWS = 512, 2048, 4096
_PASSES = 5


def read_bandwidth(threads: int, size: int) -> float:
    """Bytes a second that compute threads read from `size` bytes of memory, best of a few passes.

    A size below the processor's caches measures those. 0 where memory is too short to measure it.
    """
    measure = native.library().e0_read_bandwidth
    measure.restype, measure.argtypes = c_double, (c_int, c_int64)
    return float(measure(threads, size))


def matmul_gflops(threads: int) -> float:
    """torch's bf16 product of 512 tokens with a (4096, 2048) weight, best of a few passes."""
    torch.set_num_threads(threads)
    x = torch.randn(_TOKENS, _COLS).bfloat16()
    weight = torch.randn(_ROWS, _COLS).bfloat16()
    best = float("inf")
    for _ in range(_PASSES):
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
        "read_gb_s": round(read_bandwidth(options.threads, options.mib << 20) / 1e9, 2),
        "bf16_gflops": round(matmul_gflops(options.threads), 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
