"""Matrix products of the native kernels: right, the same bits on every path and for any batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.formats import BLOCK_COLS, Blocks, NumberFormat
from engine.kernels.packing import bf16_to_float32, float32_to_bf16
from engine.kernels.reference_int8 import block_linear
from tests.helpers.native_program import (
    Floats,
    NativeProgram,
    instruction_sets,
    random_blocks,
    random_floats,
)

QUANTISED = [fmt for fmt in NumberFormat if fmt is not NumberFormat.BF16]
KINDS = [*QUANTISED, NumberFormat.BF16, "f32"]
SETS = instruction_sets()
PANEL_EDGES = (1, 2, 4, 5, 11, 12, 13, 24, 25, 36, 37, 40)

Program = dict[tuple[str, int], NativeProgram]


@pytest.fixture(scope="module")
def programs() -> Iterator[Program]:
    """One executor for every instruction set with 2 threads, and the best with 1 and 3."""
    wanted = [(isa, 2) for isa in SETS] + [(SETS[0], 1), (SETS[0], 3)]
    with ExitStack() as stack:
        yield {
            (isa, threads): stack.enter_context(NativeProgram({}, isa, threads))
            for isa, threads in wanted
        }


def random_weight(kind: str, rows: int, cols: int, seed: int) -> Blocks | Floats:
    if kind in QUANTISED:
        return random_blocks(NumberFormat(kind), rows, cols, seed)
    weight = random_floats(rows, cols, seed=seed)
    return weight if kind == "f32" else bf16_to_float32(float32_to_bf16(weight))


def padded(values: np.ndarray) -> np.ndarray:
    return np.pad(values, ((0, 0), (0, -values.shape[1] % BLOCK_COLS)))


def expected(weight: Blocks | Floats, x: Floats) -> np.ndarray:
    """The kernels' own arithmetic, a block at a time; floats exactly."""
    if not isinstance(weight, Blocks):
        return x.astype(np.float64) @ weight.astype(np.float64).T
    whole = Blocks(weight.format, padded(weight.codes), weight.scales)
    return block_linear(torch.from_numpy(padded(x)), whole).numpy()


def row_scale(weight: Blocks | Floats, x: Floats) -> np.ndarray:
    """What rounding errors are measured against: Σ |x| |w| of each output."""
    if not isinstance(weight, Blocks):
        return np.abs(x) @ np.abs(weight).T
    largest = np.repeat(np.abs(weight.scales) * 127, BLOCK_COLS, 1)[:, : x.shape[1]]
    return np.abs(x) @ largest.T


def products(programs: Program, kind: str, weight: Blocks | Floats, x: Floats) -> list[Floats]:
    """The product on every path, in the order of `programs`."""
    bf16 = kind == NumberFormat.BF16
    return [p.matmul(p.describe(weight, bf16), x) for p in programs.values()]


def check(programs: Program, kind: str, rows: int, cols: int, tokens: int, seed: int) -> None:
    weight, x = random_weight(kind, rows, cols, seed), random_floats(tokens, cols, seed=seed + 1)
    first, *others = products(programs, kind, weight, x)
    error = np.abs(first - expected(weight, x)) / row_scale(weight, x)
    assert error.max() < 1e-6
    for other, where in zip(others, list(programs)[1:], strict=True):
        assert np.array_equal(first, other), where


@settings(max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    rows=st.integers(1, 100),
    cols=st.integers(1, 200),
    tokens=st.integers(1, 40),
    seed=st.integers(0, 1000),
)
def test_any_shape(
    programs: Program, kind: str, rows: int, cols: int, tokens: int, seed: int
) -> None:
    check(programs, kind, rows, cols, tokens, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_panel_edges(programs: Program, kind: str) -> None:
    for tokens in PANEL_EDGES:
        check(programs, kind, 33, 70, tokens, tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_long_rows_are_decoded_in_chunks(programs: Program, kind: str) -> None:
    """More than 16 blocks of 32 columns, in one panel and in several."""
    for tokens in (1, 12, 30):
        check(programs, kind, 20, 32 * 16 * 2 + 40, tokens, tokens)


@pytest.mark.parametrize("kind", [NumberFormat.NF4, NumberFormat.INT8, NumberFormat.BF16, "f32"])
def test_more_panels_than_one_pass_takes(programs: Program, kind: str) -> None:
    """Over 48 panels of 12 tokens."""
    check(programs, kind, 40, 96, 600, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("isa", SETS)
def test_a_row_does_not_depend_on_its_batch(isa: str, kind: str) -> None:
    rows, cols, tokens = 50, 90, 29
    weight, x = random_weight(kind, rows, cols, 3), random_floats(tokens, cols, seed=4)
    with NativeProgram({}, isa, 2) as program:
        described = program.describe(weight, kind == NumberFormat.BF16)
        together = program.matmul(described, x)
        for begin, end in ((0, 1), (28, 29), (5, 10), (1, 14), (3, 28)):
            assert np.array_equal(program.matmul(described, x[begin:end]), together[begin:end])


@pytest.mark.parametrize("kind", QUANTISED)
def test_extreme_activations(programs: Program, kind: str) -> None:
    """Zero, tiny, huge and lonely values keep every path at the same bits."""
    weight = random_weight(kind, 16, 128, 5)
    weight.scales[:] = 1024
    x = np.zeros((5, 128), np.float32)
    x[1] = 1e-44 * random_floats(128, seed=6)  # below float32's smallest normal number
    x[2] = 1e30 * random_floats(128, seed=7)
    x[3, ::40] = (1e-30, -3.0, 1e20, 5.0)
    x[4, :32] = np.linspace(-1.7e-43, 2.5e-43, 32)  # absmax / 127 rounds down to the last bit
    first, *others = products(programs, kind, weight, x)
    assert not first[0].any() and np.isfinite(first).all()
    for other in others:
        assert np.array_equal(first, other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_token_spoils_only_itself(programs: Program, kind: str, bad: float) -> None:
    weight = random_weight(kind, 33, 100, 8)
    x = random_floats(14, 100, seed=9)
    clean = products(programs, kind, weight, x)[0]
    x[3, 40] = bad
    x[5] = bad
    keep = [t for t in range(14) if t not in (3, 5)]
    for product in products(programs, kind, weight, x):
        assert np.array_equal(product[keep], clean[keep])
