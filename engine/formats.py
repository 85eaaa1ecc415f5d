"""Number formats of stored weights and their byte layout. Sizes and tables only; packing is in
`kernels`.

A matrix (rows, cols) is cut into strips of 16 rows, a strip into blocks of 32 columns; both are
padded with zeros. A strip is contiguous: all codes block by block, then all scales, padded to 64
bytes.

4-bit block, 256 bytes: byte j of vector v (64 bytes, v = 0..3) holds row j // 4; its low nibble is
column 8v + j % 4, its high nibble column 8v + 4 + j % 4. One 512-bit lookup and one vpdpbusd then
feed 16 row sums with no horizontal adds. int8 block, 512 bytes: byte j of vector v (v = 0..7) is
row j // 4, column 4v + j % 4. bf16 block, 1024 bytes: 16 rows of column 0, 16 rows of column 1, …;
no scales. Scales: 16 values (one a row) for each block; fp16, or bf16 for e2m1 whose powers of two
exceed fp16. Weight value = table[code] * scale (int8: code * scale).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

STRIP_ROWS = 16
BLOCK_COLS = 32
STRIP_ALIGN = 64
RECORD_ALIGN = 4096


class StrEnum(str, Enum):
    """enum.StrEnum, which Python 3.10 does not have yet: a member prints as its value."""

    __str__ = str.__str__


class NumberFormat(StrEnum):
    """How a matrix is stored. All 4-bit kinds share one kernel and differ in the table."""

    NF4 = "nf4"
    INT4 = "int4"
    IQ4_NL = "iq4_nl"
    E2M1 = "e2m1"
    INT8 = "int8"
    BF16 = "bf16"


# 16-entry int8 tables. nf4: QLoRA's normal-float quantiles × 127 (arXiv 2305.14314, appendix E).
# int4: GGUF Q4_0. iq4_nl: GGUF. e2m1: OCP MX FP4 × 2.
TABLES: dict[NumberFormat, tuple[int, ...]] = {
    NumberFormat.NF4: (
        -127, -88, -67, -50, -36, -23, -12, 0, 10, 20, 31, 43, 56, 71, 92, 127,
    ),
    NumberFormat.INT4: tuple(range(-8, 8)),
    NumberFormat.IQ4_NL: (
        -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
    ),
    NumberFormat.E2M1: (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12),
}  # fmt: skip


@dataclass(frozen=True)
class Blocks:
    """A quantised matrix before packing: codes (rows, cols) uint8 for 4-bit or int8, scales
    float32.

    scales (rows, cols // 32) hold values that fp16 (bf16 for e2m1) represents exactly.
    """

    format: NumberFormat
    codes: NDArray[np.uint8] | NDArray[np.int8]
    scales: NDArray[np.float32]


def strips(rows: int) -> int:
    """Strips of 16 rows that hold `rows` rows."""
    return -(-rows // STRIP_ROWS)


def blocks(cols: int) -> int:
    """Blocks of 32 columns that hold `cols` columns."""
    return -(-cols // BLOCK_COLS)


def code_bytes(fmt: NumberFormat) -> int:
    """Bytes of codes in one 16 × 32 block."""
    return {NumberFormat.INT8: 512, NumberFormat.BF16: 1024}.get(fmt, 256)


def scale_bytes(fmt: NumberFormat) -> int:
    """Bytes of scales of one 16 × 32 block."""
    return 0 if fmt is NumberFormat.BF16 else 2 * STRIP_ROWS


def strip_bytes(fmt: NumberFormat, cols: int) -> int:
    """Bytes of one strip, padded to 64."""
    return -(-blocks(cols) * (code_bytes(fmt) + scale_bytes(fmt)) // STRIP_ALIGN) * STRIP_ALIGN


def matrix_bytes(fmt: NumberFormat, rows: int, cols: int) -> int:
    """Bytes of a packed matrix; always a multiple of 64."""
    return strips(rows) * strip_bytes(fmt, cols)


def aligned(size: int, alignment: int = RECORD_ALIGN) -> int:
    """`size` rounded up to a multiple of `alignment`."""
    return -(-size // alignment) * alignment
