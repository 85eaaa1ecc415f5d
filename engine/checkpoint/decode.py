"""Stored bytes of a matrix → float32, or `Blocks` where our formats hold the values losslessly.
Pure functions; memory: the result plus temporaries for a few rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.errors import UnsupportedModelError
from engine.formats import BLOCK_COLS, TABLES, Blocks, NumberFormat
from engine.text import Text

Raw = NDArray[np.uint8]  # (rows, bytes of a row)
Floats = NDArray[np.float32]

_VALUES_AT_ONCE = 1 << 20


def decode(raw: Raw, dtype: str) -> Blocks | Floats:
    """raw (rows, row bytes) of a stored type → Blocks or float32 (rows, cols)."""
    if dtype in _FLOATS:
        return _FLOATS[dtype](raw)
    if dtype in _BLOCKS:
        return _BLOCKS[dtype](raw)
    return _dequantise(raw, dtype)


def to_float(piece: Blocks | Floats) -> Floats:
    """float32 (rows, cols) of a piece: table[code] · scale, or code · scale for int8."""
    if not isinstance(piece, Blocks):
        return piece
    rows, cols = piece.codes.shape
    if piece.format is NumberFormat.INT8:
        values = piece.codes.astype(np.float32)
    else:
        values = np.array(TABLES[piece.format], np.float32)[piece.codes]
    blocks = values.reshape(rows, cols // BLOCK_COLS, BLOCK_COLS)
    blocks *= piece.scales[:, :, None]
    return values


def is_finite(piece: Blocks | Floats) -> bool:
    """Whether no value is infinite or NaN."""
    values = piece.scales if isinstance(piece, Blocks) else piece
    with np.errstate(all="ignore"):
        return bool(
            np.isfinite(values.sum(dtype=np.float64))
        )  # no temporary as large as the values


def _f32(raw: Raw) -> Floats:
    return raw.view("<f4").astype(np.float32, copy=False)


def _f16(raw: Raw) -> Floats:
    return raw.view("<f2").astype(np.float32)


def _bf16(raw: Raw) -> Floats:
    bits = raw.view("<u2").astype(np.uint32)
    bits <<= 16
    return bits.view(np.float32)


def _split(raw: Raw, size: int, scale: int) -> tuple[Raw, Raw]:
    """(scale bytes, code bytes) of each block, shaped (rows, blocks, bytes)."""
    blocks = raw.reshape(raw.shape[0], -1, size)
    return blocks[:, :, :scale], blocks[:, :, scale:]


def _half_scales(scales: Raw) -> Floats:
    return np.ascontiguousarray(scales).view("<f2")[:, :, 0].astype(np.float32)


def _nibbles(packed: Raw) -> Raw:
    """Low nibbles are columns 0..15 of a block, high nibbles 16..31 (ggml `block_q4_0`)."""
    rows, count, half = packed.shape
    codes = np.empty((rows, count, 2 * half), np.uint8)
    np.bitwise_and(packed, 15, out=codes[:, :, :half])
    np.right_shift(packed, 4, out=codes[:, :, half:])
    return codes.reshape(rows, -1)


def _q4_0(raw: Raw) -> Blocks:
    scales, packed = _split(raw, 18, 2)
    return Blocks(NumberFormat.INT4, _nibbles(packed), _half_scales(scales))


def _iq4_nl(raw: Raw) -> Blocks:
    scales, packed = _split(raw, 18, 2)
    return Blocks(NumberFormat.IQ4_NL, _nibbles(packed), _half_scales(scales))


def _q8_0(raw: Raw) -> Blocks:
    scales, codes = _split(raw, 34, 2)
    whole = np.ascontiguousarray(codes).view(np.int8).reshape(raw.shape[0], -1)
    return Blocks(NumberFormat.INT8, whole, _half_scales(scales))


def _mxfp4(raw: Raw) -> Blocks:
    """Scale 2^(e - 127), halved because our e2m1 table holds doubled values (OCP MX 1.0, ggml)."""
    exponents, packed = _split(raw, 17, 1)
    scales = np.ldexp(np.float32(1), exponents[:, :, 0].astype(np.int32) - 128)
    return Blocks(NumberFormat.E2M1, _nibbles(packed), scales.astype(np.float32))


def _dequantise(raw: Raw, dtype: str) -> Floats:
    from gguf import GGMLQuantizationType
    from gguf.constants import GGML_QUANT_SIZES
    from gguf.quants import dequantize

    kind = GGMLQuantizationType.__members__.get(dtype)
    if kind is None:
        raise _unknown(dtype)
    values, size = GGML_QUANT_SIZES[kind]
    rows, cols = raw.shape[0], raw.shape[1] // size * values
    result = np.empty((rows, cols), np.float32)
    step = max(1, _VALUES_AT_ONCE // max(cols, 1))
    try:
        with np.errstate(all="ignore"):
            for row in range(0, rows, step):
                result[row : row + step] = dequantize(raw[row : row + step], kind)
    except NotImplementedError as error:
        raise _unknown(dtype) from error
    return result


def _unknown(dtype: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        Text("Weights stored as {0} cannot be read.", dtype),
        Text("Choose a version stored as BF16, F16 or F32, or a common GGUF type such as Q4_K_M."),
    )


_FLOATS: dict[str, Callable[[Raw], Floats]] = {"F32": _f32, "F16": _f16, "BF16": _bf16}
_BLOCKS: dict[str, Callable[[Raw], Blocks]] = {
    "Q4_0": _q4_0,
    "IQ4_NL": _iq4_nl,
    "Q8_0": _q8_0,
    "MXFP4": _mxfp4,
}
