"""One piece of a checkpoint → the bytes the container stores. Pure functions, any thread; memory: a
few times the piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.container.embedding import encode_q8_rows
from engine.formats import Blocks, NumberFormat
from engine.kernels.packing import code_values, dequantize, float32_to_bf16, pack
from engine.prepare.quantize import quantize

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


def encode(piece: Blocks | Floats, fmt: str, name: str) -> Bytes:
    """Stored bytes of rows of a weight; `fmt` as in TensorEntry, `name` is for errors only."""
    if fmt == "f32":
        return np.ascontiguousarray(_floats(piece)).reshape(-1).view(np.uint8)
    if fmt == "bf16_rows":
        return float32_to_bf16(_floats(piece)).reshape(-1).view(np.uint8)
    if fmt == "q8_rows":
        return _encode_q8_rows(piece, name)
    number = NumberFormat(fmt)
    if isinstance(piece, Blocks) and piece.format is number:
        return pack(piece, number)
    values = _floats(piece)
    return pack(values if number is NumberFormat.BF16 else quantize(values, number, name), number)


def _floats(piece: Blocks | Floats) -> Floats:
    return dequantize(piece) if isinstance(piece, Blocks) else piece


def _encode_q8_rows(piece: Blocks | Floats, name: str) -> Bytes:
    """Embedding rows; 4-bit kinds are kept exactly: their table entries are int8 already."""
    if not isinstance(piece, Blocks):
        piece = quantize(piece, NumberFormat.INT8, name)
    return encode_q8_rows(code_values(piece), piece.scales)
