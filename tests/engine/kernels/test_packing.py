"""The byte layout of `formats`, checked by naive indexing and by round trips."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CheckpointError
from engine.formats import TABLES, Blocks, NumberFormat, blocks, matrix_bytes, strip_bytes
from engine.kernels.packing import bf16_to_float32, float32_to_bf16, pack, unpack, unpack_blocks

QUANTISED = [fmt for fmt in NumberFormat if fmt is not NumberFormat.BF16]
FOUR_BIT = [fmt for fmt in QUANTISED if fmt is not NumberFormat.INT8]


def random_blocks(fmt: NumberFormat, rows: int, cols: int, seed: int = 0) -> Blocks:
    random = np.random.default_rng(seed)
    if fmt is NumberFormat.INT8:
        codes = random.integers(-127, 128, (rows, cols)).astype(np.int8)
    else:
        codes = random.integers(0, 16, (rows, cols)).astype(np.uint8)
    scales = random.normal(size=(rows, blocks(cols))).astype(np.float32)
    exact = (
        bf16_to_float32(float32_to_bf16(scales))
        if fmt is NumberFormat.E2M1
        else scales.astype(np.float16).astype(np.float32)
    )
    return Blocks(fmt, codes, exact)


def expected(matrix: Blocks) -> np.ndarray:
    values = matrix.codes.astype(np.int64)
    if matrix.format is not NumberFormat.INT8:
        values = np.array(TABLES[matrix.format])[values]
    spread = np.repeat(matrix.scales, 32, axis=1)[:, : values.shape[1]]
    return (values.astype(np.float64) * spread).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(
    fmt=st.sampled_from(QUANTISED),
    rows=st.integers(1, 70),
    cols=st.integers(1, 130),
    seed=st.integers(0, 1000),
)
def test_unpack_gives_table_times_scale(fmt, rows, cols, seed):
    matrix = random_blocks(fmt, rows, cols, seed)
    data = pack(matrix, fmt)
    assert data.dtype == np.uint8 and data.shape == (matrix_bytes(fmt, rows, cols),)
    assert np.array_equal(unpack(data, fmt, rows, cols), expected(matrix))


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 40), cols=st.integers(1, 70), seed=st.integers(0, 1000))
def test_bf16_round_trip(rows, cols, seed):
    values = np.random.default_rng(seed).normal(size=(rows, cols)).astype(np.float32)
    data = pack(values, NumberFormat.BF16)
    assert data.shape == (matrix_bytes(NumberFormat.BF16, rows, cols),)
    rounded = bf16_to_float32(float32_to_bf16(values))
    assert np.array_equal(unpack(data, NumberFormat.BF16, rows, cols), rounded)


@pytest.mark.parametrize("fmt", FOUR_BIT)
def test_four_bit_bytes_lie_where_formats_says(fmt):
    rows, cols = 32, 96
    matrix = random_blocks(fmt, rows, cols)
    strip = pack(matrix, fmt).reshape(2, strip_bytes(fmt, cols))
    for s in range(2):
        for b in range(3):
            for v in range(4):
                for j in range(64):
                    byte = strip[s, b * 256 + v * 64 + j]
                    row = matrix.codes[s * 16 + j // 4, b * 32 : (b + 1) * 32]
                    assert byte & 15 == row[8 * v + j % 4]
                    assert byte >> 4 == row[8 * v + 4 + j % 4]


def test_int8_bytes_lie_where_formats_says():
    matrix = random_blocks(NumberFormat.INT8, 16, 64)
    strip = pack(matrix, NumberFormat.INT8).view(np.int8)
    for b in range(2):
        for v in range(8):
            for j in range(64):
                code = strip[b * 512 + v * 64 + j]
                assert code == matrix.codes[j // 4, b * 32 + 4 * v + j % 4]


def test_bf16_is_column_by_column():
    values = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    bits = pack(values, NumberFormat.BF16).view(np.uint16)
    assert np.array_equal(bits, float32_to_bf16(values.T.copy()).reshape(-1))


@pytest.mark.parametrize("fmt", QUANTISED)
def test_scales_follow_the_codes_of_their_strip(fmt):
    matrix = random_blocks(fmt, 20, 96)  # three blocks: the strip ends in 32 bytes of padding
    strip = pack(matrix, fmt).reshape(2, strip_bytes(fmt, 96))
    start = 3 * (512 if fmt is NumberFormat.INT8 else 256)
    stored = strip[:, start : start + 96].copy().view(np.uint16).reshape(2, 3, 16)
    exact = (
        bf16_to_float32(stored)
        if fmt is NumberFormat.E2M1
        else stored.view(np.float16).astype(np.float32)
    )
    assert np.array_equal(exact[0], matrix.scales[:16].T)
    assert np.array_equal(exact[1, :, :4], matrix.scales[16:].T)
    assert not exact[1, :, 4:].any()
    assert not strip[:, start + 96 :].any()


def test_padded_columns_are_zero_weights():
    matrix = random_blocks(NumberFormat.NF4, 3, 40)
    whole = unpack(pack(matrix, NumberFormat.NF4), NumberFormat.NF4, 3, 64)
    assert not whole[:, 40:].any()


def test_unpack_blocks_gives_the_codes_back():
    matrix = random_blocks(NumberFormat.IQ4_NL, 17, 64)
    back = unpack_blocks(pack(matrix, NumberFormat.IQ4_NL), NumberFormat.IQ4_NL, 17, 64)
    assert np.array_equal(back.codes, matrix.codes)
    assert np.array_equal(back.scales, matrix.scales)


def test_negative_zero_and_subnormal_scales_survive():
    matrix = random_blocks(NumberFormat.INT4, 16, 32)
    matrix.scales[:2, 0] = [-0.0, 2.0**-24]
    back = unpack_blocks(pack(matrix, NumberFormat.INT4), NumberFormat.INT4, 16, 32)
    assert np.array_equal(back.scales.view(np.uint32), matrix.scales.view(np.uint32))


def test_bf16_rounds_to_nearest_even_like_torch():
    torch = pytest.importorskip("torch")
    bits = np.random.default_rng(0).integers(0, 1 << 32, 20000, dtype=np.uint64).astype(np.uint32)
    edge = np.array([0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001], "u4")
    values = np.concatenate([bits, edge]).view(np.float32)
    ours = bf16_to_float32(float32_to_bf16(values))
    theirs = torch.from_numpy(values).to(torch.bfloat16).float().numpy()
    assert np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.parametrize("scale", [np.inf, np.nan, 1e6, 0.1])
def test_scales_that_fp16_cannot_hold_are_refused(scale):
    matrix = random_blocks(NumberFormat.INT8, 16, 32)
    matrix.scales[3, 0] = scale
    with pytest.raises(CheckpointError, match="fp16"):
        pack(matrix, NumberFormat.INT8)


def test_wrong_format_or_size_is_a_programming_error():
    matrix = random_blocks(NumberFormat.NF4, 16, 32)
    with pytest.raises(ValueError):
        pack(matrix, NumberFormat.INT4)
    with pytest.raises(ValueError):
        pack(np.zeros((16, 32), np.float32), NumberFormat.NF4)
    with pytest.raises(ValueError):
        unpack(np.zeros(64, np.uint8), NumberFormat.NF4, 16, 32)
