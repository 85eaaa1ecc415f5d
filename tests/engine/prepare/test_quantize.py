"""Quantisation: how small the error is, and that odd values never pass silently."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CheckpointError
from engine.formats import NumberFormat
from engine.kernels.packing import dequantize, pack, unpack
from engine.prepare.quantize import quantize

NF4, INT4, INT8 = NumberFormat.NF4, NumberFormat.INT4, NumberFormat.INT8


def normal(rows: int, cols: int, seed: int = 0, freedom: float | None = None) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = (
        random.normal(size=(rows, cols))
        if freedom is None
        else random.standard_t(freedom, size=(rows, cols))
    )
    return (values * 0.02).astype(np.float32)


def error(values: np.ndarray, fmt: NumberFormat) -> float:
    """Squared error relative to the values' own square."""
    return float(((values - dequantize(quantize(values, fmt, "w"))) ** 2).sum() / (values**2).sum())


def q4_0_error(values: np.ndarray) -> float:
    """ggml's quantize_row_q4_0, written out."""
    blocks = values.reshape(-1, 32)
    peak = blocks[np.arange(len(blocks)), np.abs(blocks).argmax(1)]
    scale = (peak / -8)[:, None]
    codes = np.clip(np.floor(blocks / scale + 8.5), 0, 15) - 8
    restored = codes * scale.astype(np.float16).astype(np.float32)
    return float(((blocks - restored) ** 2).sum() / (blocks**2).sum())


@pytest.mark.parametrize("freedom", [None, 5.0])
def test_nf4_beats_q4_0_by_a_fifth(freedom):
    values = normal(256, 1024, freedom=freedom)
    assert error(values, NF4) < 0.8 * q4_0_error(values)
    assert error(values, INT4) < 0.95 * q4_0_error(values)


def test_q4_0_of_the_gguf_package_agrees_with_ours():
    gguf = pytest.importorskip("gguf")
    values = normal(16, 256)
    kind = gguf.GGMLQuantizationType.Q4_0
    restored = gguf.quants.dequantize(gguf.quants.quantize(values, kind), kind)
    theirs = float(((values - restored) ** 2).sum() / (values**2).sum())
    assert theirs == pytest.approx(q4_0_error(values), rel=0.05)


def test_int8_is_within_half_a_step():
    values = normal(64, 256)
    result = quantize(values, INT8, "w")
    step = np.repeat(result.scales, 32, axis=1)
    assert np.all(np.abs(values - dequantize(result)) <= step * 0.5001 + step * 127 * 2**-11)
    assert np.abs(result.codes.astype(int)).max() == 127


def test_codes_are_the_nearest_entries_for_the_chosen_scale():
    values = normal(8, 64)
    for fmt in (NF4, INT4):
        result = quantize(values, fmt, "w")
        chosen = np.abs(values - dequantize(result))
        for code in range(16):
            other = type(result)(fmt, np.full_like(result.codes, code), result.scales)
            assert np.all(chosen <= np.abs(values - dequantize(other)) + 1e-7)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 20),
    cols=st.integers(1, 70),
    fmt=st.sampled_from([NF4, INT4, INT8]),
    exponent=st.integers(-40, 4),
    seed=st.integers(0, 99),
)
def test_any_magnitude_survives_packing(rows, cols, fmt, exponent, seed):
    values = normal(rows, cols, seed) * np.float32(10.0**exponent)
    result = quantize(values, fmt, "w")
    restored = unpack(pack(result, fmt), fmt, rows, cols)
    assert restored.shape == (rows, cols) and np.isfinite(restored).all()
    # an absolute floor: fp16 scales end at 6e-8, int8 and nf4 reach 127 of them
    assert np.abs(values - restored).max() <= 0.2 * np.abs(values).max() + 127 * 6e-8


@pytest.mark.parametrize("fmt", [NF4, INT4, INT8])
def test_zero_blocks_stay_zero(fmt):
    values = normal(4, 96)
    values[1, 32:64] = 0
    values[2] = -0.0
    restored = dequantize(quantize(values, fmt, "w"))
    assert not restored[1, 32:64].any() and not restored[2].any()
    assert restored[0].any()


@pytest.mark.parametrize("fmt", [NF4, INT4, INT8])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_name_the_weight(fmt, bad):
    values = normal(40, 64)
    values[33, 40] = bad
    with pytest.raises(CheckpointError, match=r"layers\.3\.q"):
        quantize(values, fmt, "layers.3.q")


@pytest.mark.parametrize("fmt", [NF4, INT4, INT8])
def test_a_huge_outlier_is_refused_with_a_way_out(fmt):
    values = normal(1, 32)
    values[0, 5] = 3e7
    with pytest.raises(CheckpointError) as caught:
        quantize(values, fmt, "w")
    assert "bf16" in caught.value.next_step


@pytest.mark.parametrize("fmt", [NF4, INT4, INT8])
def test_a_large_outlier_is_kept(fmt):
    values = normal(1, 32)
    values[0, 5] = -400_000.0
    restored = dequantize(quantize(values, fmt, "w"))
    assert restored[0, 5] == pytest.approx(-400_000.0, rel=0.01)


def test_the_result_does_not_depend_on_where_slices_end():
    values = normal(5, 64)
    tall = np.concatenate([normal(3000, 64, 1), values])
    alone, together = quantize(values, NF4, "w"), quantize(tall, NF4, "w")
    assert np.array_equal(alone.codes, together.codes[-5:])
    assert np.array_equal(alone.scales, together.scales[-5:])
