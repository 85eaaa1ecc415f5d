"""Stored embedding rows and their values. Pure functions, any thread.

bf16_rows: bf16 as is. q8_rows: blocks of 34 bytes, an fp16 scale and 32 int8, as in GGUF Q8_0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.formats import BLOCK_COLS, blocks

_BLOCK = np.dtype([("scale", "<f2"), ("codes", "i1", (BLOCK_COLS,))])


def decode_rows(stored: NDArray[np.uint8], fmt: str, hidden: int) -> NDArray[np.float32]:
    """Values (n, hidden) of stored rows (n, bytes of a row)."""
    if fmt == "bf16_rows":
        bits = stored.view(np.uint16).astype(np.uint32) << np.uint32(16)
        return bits.view(np.float32)
    cells = stored.view(_BLOCK)  # (n, blocks)
    scales = cells["scale"].astype(np.float32)[:, :, None]
    values: NDArray[np.float32] = cells["codes"].astype(np.float32) * scales
    return values.reshape(len(stored), -1)[:, :hidden]


def encode_q8_rows(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Stored bytes of int8 codes (n, hidden) and fp16-exact scales (n, blocks)."""
    count, hidden = codes.shape
    cells = np.zeros((count, blocks(hidden)), _BLOCK)
    padded = np.pad(codes, ((0, 0), (0, -hidden % BLOCK_COLS)))
    cells["codes"] = padded.reshape(count, -1, BLOCK_COLS)
    cells["scale"] = scales
    return cells.view(np.uint8).reshape(-1)
