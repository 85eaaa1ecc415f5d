"""Cutting weights out of stored tensors: the same values as cutting the whole, for fewer bytes."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.checkpoint import files
from engine.checkpoint.decode import to_float
from engine.checkpoint.tensors import cut_shape, read_weight
from engine.errors import CheckpointError, UnsupportedModelError
from engine.formats import Blocks, NumberFormat
from engine.model.weights import Source
from tests.helpers.checkpoint_files import random_stored, read_whole, store

LOSSLESS = {
    Type.Q4_0: NumberFormat.INT4,
    Type.IQ4_NL: NumberFormat.IQ4_NL,
    Type.Q8_0: NumberFormat.INT8,
    Type.MXFP4: NumberFormat.E2M1,
}
OTHERS = (
    Type.F32, Type.F16, Type.BF16, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q2_K, Type.Q3_K, Type.Q4_K,
    Type.Q5_K, Type.Q6_K,
)  # fmt: skip


def naive(whole: Any, source: Source) -> Any:
    """The cuts in the order of the fields, on the whole tensor."""
    piece = whole if source.index is None else whole[source.index]
    piece = piece.T if source.transpose else piece
    piece = piece[slice(*source.rows)] if source.rows else piece
    piece = piece[:, slice(*source.cols)] if source.cols else piece
    if source.unpermute_heads:
        pairs = piece.reshape(source.unpermute_heads, -1, 2, *piece.shape[1:])
        piece = pairs.swapaxes(1, 2).reshape(piece.shape)
    return piece


@st.composite
def cuts(draw: st.DrawFn, kind: Type) -> tuple[tuple[int, ...], Source]:
    """(stored shape, a source that fits it)."""
    step = 256 if kind.name.endswith("_K") else 32
    experts, rows, cols = draw(st.integers(1, 3)), 8 * draw(st.integers(1, 3)), 2 * step
    stacked = draw(st.booleans())
    transpose = draw(st.booleans())
    height, width = (cols, rows) if transpose else (rows, cols)
    grain = 32 if kind in LOSSLESS else 4
    tall, wide = (grain, 4) if transpose else (4, grain)

    def span(length: int, unit: int) -> tuple[int, int] | None:
        count = length // unit
        start = draw(st.integers(0, count - 1))
        end = draw(st.integers(start + 1, count))
        return (start * unit, end * unit) if draw(st.booleans()) else None

    source = Source(
        "w",
        index=draw(st.integers(0, experts - 1)) if stacked else None,
        transpose=transpose,
        rows=span(height, tall),
        cols=span(width, wide),
        unpermute_heads=draw(st.sampled_from([None, 1, 2])),
    )
    return ((experts, rows, cols) if stacked else (rows, cols)), source


@pytest.mark.parametrize("kind", [*LOSSLESS, *OTHERS], ids=lambda kind: kind.name)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_cut_equals_the_cut_whole(kind: Type, tmp_path: Path, data: st.DataObject) -> None:
    shape, source = data.draw(cuts(kind))
    tensor = store(tmp_path / "w", kind, shape, seed=3)
    expected = naive(read_whole(tensor), source)
    piece = read_weight(tensor, source)
    if kind in LOSSLESS and not source.transpose:
        assert isinstance(piece, Blocks) and piece.format is LOSSLESS[kind]
    actual = to_float(piece)
    assert actual.dtype == np.float32
    assert cut_shape(tensor, source) == actual.shape
    np.testing.assert_array_equal(actual, expected)


def test_cutting_reads_little_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_CHUNK", 1 << 10)  # so that a small matrix needs many reads
    tensor = store(tmp_path / "w", Type.Q8_0, (50, 96))
    source = Source("w", rows=(3, 47), cols=(32, 64))
    np.testing.assert_array_equal(
        to_float(read_weight(tensor, source)), naive(read_whole(tensor), source)
    )


@pytest.mark.parametrize("kind", [Type.Q4_0, Type.IQ4_NL, Type.Q8_0, Type.MXFP4])
def test_blocks_hold_every_stored_bit(kind: Type, tmp_path: Path) -> None:
    tensor = store(tmp_path / "w", kind, (16, 128))
    piece = read_weight(tensor, Source("w"))
    assert isinstance(piece, Blocks)
    codes = piece.codes.reshape(16, 4, 32)
    if kind is Type.MXFP4:
        scales = (np.log2(piece.scales) + 128).astype(np.uint8)[..., None]
    else:
        scales = piece.scales.astype("<f2")[..., None].view(np.uint8)
    nibbles = codes[..., :16] | codes[..., 16:] << 4
    packed = codes.view(np.uint8) if kind is Type.Q8_0 else nibbles
    stored = np.concatenate([scales, packed], axis=-1).tobytes()
    assert stored == random_stored(kind, (16, 128)).tobytes()


def test_rows_return_from_llama_cpp_order(tmp_path: Path) -> None:
    """llama.cpp `LlamaModel.permute`, undone for matrices and biases, floats and blocks."""

    def permute(weights: Any, heads: int) -> Any:
        pairs = weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:])
        return pairs.swapaxes(1, 2).reshape(weights.shape)

    original = np.arange(48 * 32, dtype=np.float32).reshape(48, 32)
    tensor = store(tmp_path / "w", Type.F32, (48, 32))
    (tmp_path / "w").write_bytes(b"start" + permute(original, 3).tobytes())
    np.testing.assert_array_equal(read_weight(tensor, Source("w", unpermute_heads=3)), original)

    bias = store(tmp_path / "b", Type.F32, (48,))
    (tmp_path / "b").write_bytes(b"start" + permute(original[:, 0], 3).tobytes())
    actual = read_weight(bias, Source("w", unpermute_heads=3))
    np.testing.assert_array_equal(actual, original[:, 0])

    stored = random_stored(Type.Q8_0, (48, 32))
    quantised = store(tmp_path / "q", Type.Q8_0, (48, 32))
    expected = to_float(read_weight(quantised, Source("w")))
    (tmp_path / "q").write_bytes(b"start" + permute(stored, 3).tobytes())
    actual = to_float(read_weight(quantised, Source("w", unpermute_heads=3)))
    np.testing.assert_array_equal(actual, expected)


def test_one_expert_costs_one_expert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = store(tmp_path / "w", Type.BF16, (64, 128, 256))
    counts: list[int] = []
    real = files.read_range

    def counted(path: Path, offset: int, count: int) -> Any:
        counts.append(count)
        return real(path, offset, count)

    monkeypatch.setattr(files, "read_range", counted)
    tracemalloc.start()
    read_weight(tensor, Source("w", index=63, rows=(0, 64)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts == [64 * 256 * 2]
    assert peak < 6 * counts[0]  # the piece as stored, and as float32 twice as wide


def test_a_stack_is_read_whole_only_when_asked(tmp_path: Path) -> None:
    tensor = store(tmp_path / "w", Type.F16, (4, 1, 32))  # such as a convolution's weight
    np.testing.assert_array_equal(read_weight(tensor, Source("w")), read_whole(tensor))
    with pytest.raises(CheckpointError, match="no cut"):
        read_weight(tensor, Source("w", rows=(0, 1)))


def test_scalars_and_vectors(tmp_path: Path) -> None:
    vector = store(tmp_path / "v", Type.F32, (10,))
    np.testing.assert_array_equal(
        read_weight(vector, Source("w", rows=(2, 5))), read_whole(vector)[2:5]
    )
    scalar = replace(vector, shape=(), nbytes=4)
    np.testing.assert_array_equal(read_weight(scalar, Source("w")), read_whole(vector)[0])


@pytest.mark.parametrize(
    "source",
    [
        Source("w", rows=(0, 65)),
        Source("w", rows=(5, 5)),
        Source("w", rows=(-1, 5)),
        Source("w", cols=(0, 96)),
        Source("w", index=0, cols=(0, 1)),
        Source("w", index=64),
        Source("w", index=-1),
        Source("w", index=0, transpose=True),
        Source("w", unpermute_heads=7),
        Source("w", unpermute_heads=0),
        Source("w", cols=(16, 48)),
    ],
    ids=str,
)
def test_a_cut_that_does_not_fit_is_refused(source: Source, tmp_path: Path) -> None:
    tensor = store(tmp_path / "w", Type.Q8_0, (64, 64))
    with pytest.raises(CheckpointError, match="Tensor w"):
        read_weight(tensor, source)


@pytest.mark.parametrize("kind", [Type.F32, Type.F16, Type.Q8_0, Type.Q4_1])
def test_values_that_are_not_numbers_are_refused(kind: Type, tmp_path: Path) -> None:
    tensor = store(tmp_path / "w", kind, (2, 32))
    raw = bytearray((tmp_path / "w").read_bytes())
    size = 4 if kind is Type.F32 else 2
    raw[5 : 5 + size] = np.array([np.inf], f"<f{size}").tobytes()
    (tmp_path / "w").write_bytes(raw)
    with pytest.raises(CheckpointError, match="not numbers"):
        read_weight(tensor, Source("w"))


def test_a_file_that_became_shorter_is_told(tmp_path: Path) -> None:
    tensor = store(tmp_path / "w", Type.F32, (4, 32))
    (tmp_path / "w").write_bytes(b"start")
    with pytest.raises(CheckpointError, match="ends before byte"):
        read_weight(tensor, Source("w"))


@pytest.mark.parametrize("kind", [Type.I32, Type.F64, Type.Q8_K])
def test_types_we_cannot_read_are_named(kind: Type, tmp_path: Path) -> None:
    tensor = store(tmp_path / "w", Type.F32, (4, 256))
    odd = replace(tensor, dtype=kind.name, unit=(1, 4))
    with pytest.raises(UnsupportedModelError, match=kind.name):
        read_weight(odd, Source("w"))
