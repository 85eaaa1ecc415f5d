"""Packs matrices into the byte layout of `formats` and back, in numpy. Owns nothing; any thread.

Never requantises: codes and scales go in as they are and come out bit for bit. Padding decodes
to zero weights: padded rows and blocks have scale 0, padded columns the code nearest to zero.
Memory: about twice the codes of one matrix.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import CheckpointError
from engine.formats import (
    BLOCK_COLS,
    STRIP_ROWS,
    TABLES,
    Blocks,
    NumberFormat,
    blocks,
    matrix_bytes,
    strip_bytes,
    strips,
)
from engine.text import Text

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Code = TypeVar("Code", np.uint8, np.uint16)


def pack(matrix: Blocks | Floats, fmt: NumberFormat) -> Bytes:
    """Bytes (matrix_bytes,) of a matrix (rows, cols): Blocks of that format, or float32 (bf16)."""
    if isinstance(matrix, Blocks):
        if matrix.format is not fmt or fmt is NumberFormat.BF16:
            raise ValueError(f"{matrix.format} blocks cannot be packed as {fmt}")
        return _pack_blocks(matrix)
    if fmt is not NumberFormat.BF16:
        raise ValueError(f"float32 must be quantised before it is packed as {fmt}")
    return _pack_bf16(matrix)


def unpack(data: Bytes, fmt: NumberFormat, rows: int, cols: int) -> Floats:
    """Weights (rows, cols) of a packed matrix: table[code] * scale, exact in float32."""
    if fmt is NumberFormat.BF16:
        strip = _strips(data, fmt, rows, cols)["codes"]  # (strips, blocks * 32, 16)
        values = bf16_to_float32(np.ascontiguousarray(strip.transpose(0, 2, 1)))
        return values.reshape(strips(rows) * STRIP_ROWS, -1)[:rows, :cols].copy()
    return dequantize(unpack_blocks(data, fmt, rows, cols))[:, :cols]


def unpack_blocks(data: Bytes, fmt: NumberFormat, rows: int, cols: int) -> Blocks:
    """The codes (rows, cols padded to 32) and scales of a packed 4-bit or int8 matrix."""
    strip = _strips(data, fmt, rows, cols)
    words = np.ascontiguousarray(strip["codes"].transpose(0, 2, 1))  # 4 columns a word
    flat = words.view(np.uint8) if fmt is NumberFormat.INT8 else _split_nibbles(words)
    codes = flat.reshape(-1, blocks(cols) * BLOCK_COLS)[:rows]
    scales = strip["scales"].transpose(0, 2, 1).reshape(-1, blocks(cols))
    signed = fmt is NumberFormat.INT8
    return Blocks(fmt, codes.view(np.int8) if signed else codes, _decode_scales(scales[:rows], fmt))


def dequantize(matrix: Blocks) -> Floats:
    """Weights (rows, cols) of a quantised matrix, exact in float32."""
    rows, cols = matrix.codes.shape
    values = code_values(matrix)
    scales = np.repeat(matrix.scales, BLOCK_COLS, axis=1)[:, :cols]
    return np.multiply(values, scales, dtype=np.float32).reshape(rows, cols)


def code_values(matrix: Blocks) -> NDArray[np.int8]:
    """The integers (rows, cols) that scales multiply: table[code], or the int8 code itself."""
    if matrix.format is NumberFormat.INT8:
        return matrix.codes.view(np.int8)
    return np.take(np.array(TABLES[matrix.format], np.int8), matrix.codes)


def float32_to_bf16(values: Floats) -> NDArray[np.uint16]:
    """bf16 bits, rounded to nearest even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = bits >> np.uint32(16)
    rounded &= np.uint32(1)
    rounded += np.uint32(0x7FFF)
    rounded += bits
    rounded >>= np.uint32(16)
    result = rounded.astype(np.uint16)
    missing = np.isnan(values)
    if missing.any():
        result[missing] = 0x7FC0
    return result


def bf16_to_float32(bits: NDArray[np.uint16]) -> Floats:
    """float32 of bf16 bits, same shape."""
    wide = bits.astype(np.uint32)
    wide <<= np.uint32(16)
    return wide.view(np.float32)


def _strip_dtype(fmt: NumberFormat, cols: int) -> np.dtype[np.void]:
    """One strip as a structure; a code word is 4 columns of a row (bf16: one column)."""
    count = blocks(cols)
    per_block, word = {NumberFormat.INT8: (8, "<u4"), NumberFormat.BF16: (32, "<u2")}.get(
        fmt, (4, "<u4")
    )
    codes = ("codes", word, (count * per_block, STRIP_ROWS))
    fields = (
        [codes] if fmt is NumberFormat.BF16 else [codes, ("scales", "<u2", (count, STRIP_ROWS))]
    )
    used = np.dtype(fields).itemsize
    return np.dtype([*fields, ("padding", "u1", (strip_bytes(fmt, cols) - used,))])


def _strips(data: Bytes, fmt: NumberFormat, rows: int, cols: int) -> NDArray[np.void]:
    if data.size != matrix_bytes(fmt, rows, cols):
        raise ValueError(f"{data.size} bytes are not a {rows} x {cols} {fmt} matrix")
    return np.ascontiguousarray(data, np.uint8).reshape(-1).view(_strip_dtype(fmt, cols))


def _pack_blocks(matrix: Blocks) -> Bytes:
    fmt = matrix.format
    rows, cols = matrix.codes.shape
    out = np.zeros(strips(rows), _strip_dtype(fmt, cols))
    codes = _padded(matrix.codes.view(np.uint8), _zero_code(fmt))
    words = codes.view("<u4") if fmt is NumberFormat.INT8 else _join_nibbles(codes)
    words = words.reshape(strips(rows), STRIP_ROWS, -1)
    out["codes"] = words.transpose(0, 2, 1)
    out["scales"] = _strip_scales(matrix.scales, rows, cols, fmt).transpose(0, 2, 1)
    return out.view(np.uint8)


def _pack_bf16(matrix: Floats) -> Bytes:
    rows, cols = matrix.shape
    out = np.zeros(strips(rows), _strip_dtype(NumberFormat.BF16, cols))
    bits = _padded(float32_to_bf16(matrix), 0).reshape(strips(rows), STRIP_ROWS, -1)
    out["codes"] = bits.transpose(0, 2, 1)
    return out.view(np.uint8)


def _padded(values: NDArray[Code], fill: int) -> NDArray[Code]:
    """(rows, cols) padded to whole strips and blocks; contiguous, copied only when needed."""
    rows, cols = values.shape
    missing = -rows % STRIP_ROWS, -cols % BLOCK_COLS
    if missing == (0, 0):
        return np.ascontiguousarray(values)
    return np.pad(values, ((0, missing[0]), (0, missing[1])), constant_values=fill)


def _zero_code(fmt: NumberFormat) -> int:
    """The code whose value is nearest to zero."""
    if fmt is NumberFormat.INT8:
        return 0
    return min(range(16), key=lambda code: abs(TABLES[fmt][code]))


def _join_nibbles(codes: Bytes) -> NDArray[np.uint32]:
    """Words of 8 columns: 0-3 in the low nibbles of the four bytes, 4-7 in the high ones."""
    pairs = codes.view(np.uint64)
    return (pairs | (pairs >> np.uint64(28))).astype(np.uint32)


def _split_nibbles(words: NDArray[np.uint32]) -> Bytes:
    wide = words.astype(np.uint64)
    wide |= wide << np.uint64(28)
    wide &= np.uint64(0x0F0F0F0F_0F0F0F0F)
    return wide.view(np.uint8)


def _strip_scales(scales: Floats, rows: int, cols: int, fmt: NumberFormat) -> NDArray[np.uint16]:
    """Scale bits (strips, 16, blocks), rows padded with zero scales."""
    if scales.shape != (rows, blocks(cols)):
        raise ValueError(f"scales {scales.shape} do not fit codes {(rows, cols)}")
    padded = np.zeros((strips(rows) * STRIP_ROWS, blocks(cols)), np.uint16)
    padded[:rows] = _encode_scales(scales, fmt)
    return padded.reshape(strips(rows), STRIP_ROWS, -1)


def _encode_scales(scales: Floats, fmt: NumberFormat) -> NDArray[np.uint16]:
    """The stored 16 bits of each scale; refuses one that 16 bits cannot hold exactly."""
    narrow = fmt is NumberFormat.E2M1
    with np.errstate(over="ignore"):
        bits = float32_to_bf16(scales) if narrow else scales.astype("<f2").view(np.uint16)
    if not (np.isfinite(scales).all() and np.array_equal(_decode_scales(bits, fmt), scales)):
        raise CheckpointError(
            Text("A weight has block scales that {0} cannot hold.", "bf16" if narrow else "fp16"),
            Text("The file is damaged: download it again."),
        )
    return bits


def _decode_scales(bits: NDArray[np.uint16], fmt: NumberFormat) -> Floats:
    if fmt is NumberFormat.E2M1:
        return bf16_to_float32(bits)
    return np.ascontiguousarray(bits).view("<f2").astype(np.float32)
