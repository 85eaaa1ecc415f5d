"""Attention of the native executor: right in every shape, the same bits however a text is cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.kernels import reference_ops
from engine.model.program import Attention
from tests.helpers.native_program import Floats, NativeProgram, instruction_sets, random_floats

SETS = instruction_sets()
HEAD_DIMS = (16, 32, 48, 64, 80, 96, 112, 128, 256)
SPLIT, TILE = 512, 16  # keys whose partial results are merged; keys of one tile


class Case:
    """Queries, keys and values of one text, and the op that runs over them."""

    def __init__(
        self, op: Attention, tokens: int, seed: int = 0, sinks: bool = False, int8: bool = False
    ) -> None:
        self.op = replace(op, sinks="sinks" if sinks else None)
        self.int8 = int8
        width, kv_width = op.heads * op.head_dim, op.kv_heads * op.head_dim
        self.q = random_floats(tokens, width, seed=seed)
        self.k = random_floats(tokens, kv_width, seed=seed + 1)
        self.v = random_floats(tokens, kv_width, seed=seed + 2)
        self.sinks = 2 * random_floats(op.heads, seed=seed + 3)

    def wanted(self) -> torch.Tensor:
        """The plain maths in float64 over keys and values rounded as the cache holds them."""
        q = torch.from_numpy(self.q).double().view(len(self.q), self.op.heads, -1)
        keys, values = (
            torch.from_numpy(self.stored(x)).double().view(len(x), self.op.kv_heads, -1)
            for x in (self.k, self.v)
        )
        sinks = torch.from_numpy(self.sinks).double() if self.op.sinks else None
        return reference_ops.attend(q, keys, values, self.op, sinks)

    def stored(self, x: Floats) -> Floats:
        """Rounded to fp16, or to int8 with one scale for a head's row."""
        if not self.int8:
            return x.astype(np.float16).astype(np.float32)
        rows = x.reshape(-1, self.op.head_dim)
        scale = np.abs(rows).max(1, keepdims=True) / np.float32(127)
        return (np.rint(rows * (1 / scale)) * scale).reshape(x.shape)

    def program(self, isa: str, threads: int = 2, rows: int = 0) -> NativeProgram:
        """An executor with an empty cache that just holds the text."""
        op, tokens = self.op, len(self.q)
        widths = {"q": self.q.shape[1], "o": self.q.shape[1]}
        widths |= {"k": self.k.shape[1], "v": self.v.shape[1]}
        program = NativeProgram(widths, isa, threads, rows or tokens)
        program.cache(op.layer + 1, op.kv_heads, op.head_dim, tokens, self.int8)
        program.vector("sinks", self.sinks)
        return program

    def feed(self, program: NativeProgram, begin: int, end: int) -> Floats:
        """Attention of tokens [begin, end), whose keys join the cache."""
        inputs = {"q": self.q[begin:end], "k": self.k[begin:end], "v": self.v[begin:end]}
        return program.compute("o", [self.op], inputs, begin)

    def whole(self, isa: str, threads: int = 2) -> Floats:
        """Attention of the whole text in one chunk."""
        with self.program(isa, threads) as program:
            return self.feed(program, 0, len(self.q))


def attention(group: int = 2, kv_heads: int = 2, head_dim: int = 32, **more: object) -> Attention:
    heads = group * kv_heads
    sizes = (heads, kv_heads, head_dim, head_dim**-0.5)
    return Attention("o", "q", "k", "v", 0, *sizes, **more)  # type: ignore[arg-type]


def check(case: Case) -> None:
    first, *others = [case.whole(isa) for isa in SETS]
    for other, isa in zip(others, SETS[1:], strict=True):
        assert np.array_equal(first, other), isa
    torch.testing.assert_close(
        torch.from_numpy(first).double(), case.wanted(), rtol=0, atol=2e-6 * np.abs(case.v).max()
    )


@settings(max_examples=30)
@given(
    group=st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 12, 16]),
    kv_heads=st.integers(1, 3),
    head_dim=st.sampled_from(HEAD_DIMS),
    tokens=st.integers(1, 70),
    window=st.none() | st.integers(1, 80),
    soft_cap=st.none() | st.sampled_from([1.0, 30.0]),
    sinks=st.booleans(),
    int8=st.booleans(),
    seed=st.integers(0, 100),
)
def test_any_shape(
    group: int,
    kv_heads: int,
    head_dim: int,
    tokens: int,
    window: int | None,
    soft_cap: float | None,
    sinks: bool,
    int8: bool,
    seed: int,
) -> None:
    op = attention(group, kv_heads, head_dim, window=window, soft_cap=soft_cap)
    check(Case(op, tokens, seed, sinks, int8))


@pytest.mark.parametrize(
    ("window", "sinks"), [(None, False), (None, True), (17, True), (500, False), (513, True)]
)
def test_texts_longer_than_a_split(window: int | None, sinks: bool) -> None:
    check(Case(attention(2, 1, 16, window=window), 2 * SPLIT + TILE + 5, sinks=sinks))


@settings(max_examples=12)
@given(
    group=st.sampled_from([1, 3, 4, 16]),
    window=st.none() | st.sampled_from([1, 30, 540]),
    cuts=st.lists(st.integers(1, SPLIT + 60), max_size=6),
    isa=st.sampled_from(SETS),
    int8=st.booleans(),
)
@example(4, None, [SPLIT - 1, SPLIT, SPLIT + 1, TILE - 1, TILE, TILE + 1], SETS[0], False)
@example(1, 30, [1, 2, 3, 4, 5, 6], SETS[-1], True)
def test_cutting_a_text_changes_no_bit(
    group: int, window: int | None, cuts: list[int], isa: str, int8: bool
) -> None:
    case = Case(attention(group, 1, 16, window=window), SPLIT + 61, sinks=True, int8=int8)
    borders = sorted({0, len(case.q), *cuts})
    with case.program(isa) as program:
        parts = [case.feed(program, begin, end) for begin, end in pairwise(borders)]
    assert np.array_equal(np.concatenate(parts), case.whole(isa))


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_no_bit(threads: int) -> None:
    case = Case(attention(4, 3, 48), 45)
    assert np.array_equal(case.whole("auto", threads), case.whole("auto", 2))


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("int8", [False, True])
def test_what_a_rewind_left_behind_is_not_seen(isa: str, int8: bool) -> None:
    """Stale keys behind the position, even ones that are no numbers, weigh nothing."""
    case = Case(attention(), 40, int8=int8)
    with case.program(isa) as program:
        whole = case.feed(program, 0, 40)
        nan = np.full_like(case.q, np.nan), np.full_like(case.k, np.nan)
        inputs = {"q": nan[0][20:], "k": nan[1][20:], "v": nan[1][20:]}
        program.compute("o", [case.op], inputs, 20)
        for token in range(20, 40):
            row = case.feed(program, token, token + 1)
            assert np.array_equal(row[0], whole[token])


@pytest.mark.parametrize("int8", [False, True])
def test_discarding_the_cache_keeps_what_lies_before(int8: bool) -> None:
    case = Case(attention(2, 2, 128), 300, int8=int8)
    with case.program("auto") as program:
        whole = case.feed(program, 0, 300)
        program.library.e0_exec_discard_cache(program.context, 150)
        assert np.array_equal(case.feed(program, 150, 300), whole[150:])
        program.library.e0_exec_discard_cache(program.context, 0)
        assert np.array_equal(case.feed(program, 0, 300), whole)


@pytest.mark.parametrize("isa", SETS)
def test_layers_have_caches_of_their_own(isa: str) -> None:
    case = Case(replace(attention(), layer=2), 9)
    with case.program(isa) as program:
        alone = case.feed(program, 0, 9)
        swapped = {"q": case.q, "k": case.v, "v": case.k}
        program.compute("o", [replace(case.op, layer=0)], swapped)
        assert np.array_equal(case.feed(program, 8, 9)[0], alone[8])


@pytest.mark.parametrize("isa", SETS)
def test_large_scores_and_values_saturate(isa: str) -> None:
    """Scores beyond exp's range pick one key; what fp16 cannot hold is its largest number."""
    case = Case(attention(1, 1, 16), 20)
    case.k *= 1000
    case.v[3] = 1e6
    limited = Case(case.op, 20)
    limited.k *= 1000
    limited.v[3] = 65504
    out = case.whole(isa)
    assert np.array_equal(out, limited.whole(isa))
    torch.testing.assert_close(
        torch.from_numpy(out).double(), limited.wanted(), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("int8", [False, True])
def test_bad_numbers_do_not_reach_earlier_tokens(isa: str, bad: float, int8: bool) -> None:
    case = Case(attention(2, 1, 16, soft_cap=20.0), 24, sinks=True, int8=int8)
    clean = case.whole(isa)
    case.q[20] = bad
    case.k[20], case.q[23, ::2] = bad, bad
    assert np.array_equal(case.whole(isa)[:20], clean[:20])


@pytest.mark.parametrize("isa", SETS)
def test_int8_keys_of_any_size(isa: str) -> None:
    """All zero, of one bit, huge, and with something infinite: the cache holds numbers."""
    case = Case(attention(1, 1, 16), 24, int8=True)
    for token, factor in ((2, 0.0), (5, 1e-44), (8, 1e36)):
        case.k[token] *= np.float32(factor)
        case.v[token] *= np.float32(factor)
    case.k[11, 3] = np.inf
    case.v[11, 4] = np.nan
    assert np.isfinite(case.whole(isa)).all()


@settings(max_examples=25)
@given(
    cuts=st.lists(st.integers(0, 70), min_size=2, max_size=2, unique=True).map(sorted),
    head_dim=st.sampled_from([16, 48, 128]),
    int8=st.booleans(),
    isa=st.sampled_from(SETS),
)
@example([0, 33], 64, False, SETS[0])
@example([16, 64], 64, True, SETS[0])
@example([5, 9], 16, True, SETS[-1])
def test_rows_copied_out_and_in_are_the_same_bits(
    cuts: list[int], head_dim: int, int8: bool, isa: str
) -> None:
    """Any range, also one that cuts tiles, comes back whole; nothing beside it is touched."""
    begin, end = cuts
    case = Case(replace(attention(2, 3, head_dim), layer=1), 70, int8=int8)
    row = 2 * 2 * 3 * (head_dim + 4 if int8 else head_dim * 2)
    rows = np.full(row * (end - begin) + 64, 0xA5, np.uint8)
    with case.program(isa) as program:
        for layer in (0, 1):
            whole = feed_layer(case, program, layer)
        program.library.e0_exec_export_cache(program.context, begin, end, rows.ctypes.data)
        lost = np.full((end - begin, case.k.shape[1]), np.nan, np.float32)
        blank = {"q": case.q[begin:end], "k": lost, "v": lost}
        for layer in (0, 1):
            program.compute("o", [replace(case.op, layer=layer)], blank, begin)
        program.library.e0_exec_import_cache(program.context, begin, end, rows.ctypes.data)
        again = [row_of(case, program, layer) for layer in (0, 1)]
    assert np.array_equal(again[1], whole[-1]) and np.array_equal(again[0], again[1])
    assert (rows[-64:] == 0xA5).all()


@pytest.mark.parametrize("int8", [False, True])
def test_rows_go_on_in_another_executor_whatever_its_length(int8: bool) -> None:
    case = Case(attention(2, 2, 32), 150, int8=int8)
    rows = np.empty(2 * 2 * (36 if int8 else 64) * 77, np.uint8)
    with case.program("auto") as program:
        whole = case.feed(program, 0, 150)
        program.library.e0_exec_export_cache(program.context, 0, 77, rows.ctypes.data)
    with case.program("auto", threads=1, rows=73) as fresh:
        fresh.library.e0_exec_import_cache(fresh.context, 0, 77, rows.ctypes.data)
        assert np.array_equal(case.feed(fresh, 77, 150), whole[77:])


def feed_layer(case: Case, program: NativeProgram, layer: int) -> Floats:
    """The whole text through one layer."""
    inputs = {"q": case.q, "k": case.k, "v": case.v}
    return program.compute("o", [replace(case.op, layer=layer)], inputs)


def row_of(case: Case, program: NativeProgram, layer: int) -> Floats:
    """The last token once more, over whatever the layer's cache holds."""
    last = len(case.q) - 1
    inputs = {"q": case.q[last:], "k": case.k[last:], "v": case.v[last:]}
    return program.compute("o", [replace(case.op, layer=layer)], inputs, last)[0]
