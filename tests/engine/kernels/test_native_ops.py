"""Single ops of the native executor against plain maths in float64, on every instruction set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kernels import reference_ops
from engine.model.program import Add, GatedActivation, Linear, RmsNorm, Rotary, Router
from engine.model.shape import Activation
from tests.helpers.native_program import Floats, NativeProgram, instruction_sets, random_floats

SETS = instruction_sets()


@pytest.fixture(params=SETS)
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


def double(values: Floats) -> torch.Tensor:
    return torch.from_numpy(values).double()


def close(actual: Floats, wanted: torch.Tensor, rtol: float = 2e-6, atol: float = 1e-6) -> None:
    torch.testing.assert_close(torch.from_numpy(actual).double(), wanted, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    ("width", "group"), [(1, 1), (15, 15), (16, 16), (100, 100), (128, 32), (60, 20), (96, 8)]
)
def test_rms_norm_of_rows_and_heads(isa: str, width: int, group: int) -> None:
    x, weight = 3 * random_floats(5, width), random_floats(group, seed=1)
    wanted = reference_ops.rms_norm(double(x), double(weight), group, 1e-5)
    with NativeProgram({"x": width, "y": width}, isa) as program:
        program.vector("w", weight)
        close(program.compute("y", [RmsNorm("y", "x", "w", group, 1e-5)], {"x": x}), wanted)
        close(program.compute("x", [RmsNorm("x", "x", "w", group, 1e-5)], {"x": x}), wanted)


def test_rms_norm_of_tiny_and_large_rows(isa: str) -> None:
    x = np.stack([np.zeros(32), np.full(32, 1e-30), np.full(32, 1e15)]).astype(np.float32)
    with NativeProgram({"x": 32}, isa) as program:
        program.vector("w", np.ones(32))
        y = program.compute("x", [RmsNorm("x", "x", "w", 32, 1e-6)], {"x": x})
    assert not y[0].any()
    assert y[1] == pytest.approx(1e-27) and y[2] == pytest.approx(1.0)


@pytest.mark.parametrize("tokens", [1, 3, 4, 37])
def test_add_is_exact_and_in_place(isa: str, tokens: int) -> None:
    a, b = random_floats(tokens, 45), random_floats(tokens, 45, seed=1)
    with NativeProgram({"a": 45, "b": 45}, isa) as program:
        assert np.array_equal(program.compute("a", [Add("a", "a", "b")], {"a": a, "b": b}), a + b)
        assert np.array_equal(program.compute("b", [Add("b", "a", "b")], {"a": a, "b": b}), a + b)


@pytest.mark.parametrize("kind", ["silu", "gelu", "gelu_tanh"])
def test_gated_activations(isa: str, kind: Activation) -> None:
    gate = np.concatenate([np.linspace(-20, 20, 999), [0.0, -0.0, 60.0, -60.0, 1e4, -1e4]])
    gate = gate.astype(np.float32)[None]
    up = random_floats(*gate.shape)
    width = gate.shape[1]
    with NativeProgram({"gate": width, "up": width, "out": width}, isa) as program:
        op = GatedActivation("out", "gate", "up", kind)
        out = program.compute("out", [op], {"gate": gate, "up": up})
    close(out, reference_ops.activate(double(gate), kind) * double(up))


def test_silu_keeps_its_far_tail(isa: str) -> None:
    """Relative errors: exp must not give up before float32 does."""
    gate = np.linspace(-80, 80, 641, dtype=np.float32)[None]
    with NativeProgram({"gate": 641, "up": 641}, isa) as program:
        op = GatedActivation("gate", "gate", "up", "silu")
        out = program.compute("gate", [op], {"gate": gate, "up": np.ones_like(gate)})
    close(out, reference_ops.activate(double(gate), "silu"), rtol=1e-6, atol=0)


@pytest.mark.parametrize(("dim", "pairs"), [(32, 16), (64, 16), (64, 5), (6, 3), (128, 64)])
@pytest.mark.parametrize("position", [0, 7, 30_000])
def test_rotary(isa: str, dim: int, pairs: int, position: int) -> None:
    """Whole and partial heads; angles are float32, as in transformers, far into a context too."""
    x = random_floats(6, 3 * dim)
    frequencies = tuple(10_000.0 ** -(i / pairs) for i in range(pairs))
    op = Rotary("x", 3, dim, frequencies, factor=1.25)
    with NativeProgram({"x": 3 * dim}, isa) as program:
        turned = program.compute("x", [op], {"x": x}, position)
    close(turned, reference_ops.rotate(double(x), op, position))
    untouched = x.reshape(6, 3, dim)[:, :, 2 * pairs :]
    assert np.array_equal(turned.reshape(6, 3, dim)[:, :, 2 * pairs :], untouched)


def test_two_rotary_tables_in_one_program(isa: str) -> None:
    """Layers may take turns between two sets of frequencies."""
    x = random_floats(5, 32)
    first, second = (Rotary("x", 1, 32, (base,) * 16) for base in (0.5, 0.25))
    wanted = double(x)
    with NativeProgram({"x": 32}, isa) as program:
        turned = program.compute("x", [first, second, first], {"x": x}, 9)
    for op in (first, second, first):
        wanted = reference_ops.rotate(wanted, op, 9)
    close(turned, wanted)


@settings(max_examples=40)
@given(
    experts=st.integers(1, 70),
    hidden=st.integers(1, 80),
    tokens=st.integers(1, 20),
    score=st.sampled_from(["softmax", "sigmoid"]),
    normalise=st.booleans(),
    biased=st.booleans(),
    data=st.data(),
)
def test_router(
    experts: int,
    hidden: int,
    tokens: int,
    score: str,
    normalise: bool,
    biased: bool,
    data: st.DataObject,
) -> None:
    top_k = data.draw(st.integers(1, experts))
    weight = random_floats(experts, hidden) / np.float32(hidden**0.5)
    x = random_floats(tokens, hidden, seed=1)
    bias = random_floats(experts, seed=2) if biased else None
    name = "bias" if biased else None
    op = Router("ids", "gates", "x", "w", experts, top_k, normalise, score, name, scale=1.5)
    wanted = reference_ops.route(
        double(x), double(weight), None if bias is None else double(bias), op
    )
    for isa in SETS:
        ids, gates = route(isa, op, weight, bias, x)
        # Scores closer than float32 tells apart may change places.
        assert (ids != wanted[0].numpy()).mean() < 0.02
        same = (ids == wanted[0].numpy()).all(1)
        assert np.allclose(gates[same], wanted[1].numpy()[same], rtol=2e-5, atol=1e-7)


def route(
    isa: str, op: Router, weight: Floats, bias: Floats | None, x: Floats
) -> tuple[np.ndarray, Floats]:
    with NativeProgram({"x": x.shape[1], "ids": op.top_k, "gates": op.top_k}, isa) as program:
        program.matrix("w", weight)
        if bias is not None:
            program.vector("bias", bias)
        gates = program.compute("gates", [op], {"x": x})
        return program.buffer("ids", np.int32)[: len(x)].copy(), gates


@pytest.mark.parametrize("score", ["softmax", "sigmoid"])
def test_equal_scores_go_to_the_lower_id(isa: str, score: str) -> None:
    weight = np.zeros((40, 2), np.float32)
    weight[[5, 17, 33]] = 1.0
    op = Router("ids", "gates", "x", "w", 40, 6, True, score)  # type: ignore[arg-type]
    ids, gates = route(isa, op, weight, None, np.ones((5, 2), np.float32))
    assert (ids == [5, 17, 33, 0, 1, 2]).all()
    assert gates.sum(1) == pytest.approx(1.0)


def test_the_bias_chooses_but_does_not_weigh(isa: str) -> None:
    bias = np.zeros(5, np.float32)
    bias[3] = 9.0
    op = Router("ids", "gates", "x", "w", 5, 2, False, "sigmoid", "bias")
    weight = np.arange(5, dtype=np.float32)[:, None] - 4
    ids, gates = route(isa, op, weight, bias, np.ones((1, 1), np.float32))
    assert ids.tolist() == [[3, 4]]
    assert gates[0] == pytest.approx([1 / (1 + np.e), 0.5])


def test_linears_of_one_buffer_run_together_and_take_their_biases(isa: str) -> None:
    """More than the eight that one job takes, of different heights."""
    x, rows = random_floats(14, 40), {f"y{i}": 17 + 3 * i for i in range(10)}
    weights = {name: random_floats(n, 40, seed=n) for name, n in rows.items()}
    biases = {name: random_floats(n, seed=n + 1) for name, n in rows.items()}
    with NativeProgram({"x": 40, **rows}, isa) as program:
        for name, weight in weights.items():
            program.matrix(name, weight)
            program.vector(f"{name}_bias", biases[name])
        ops = [Linear(name, "x", name, f"{name}_bias") for name in rows]
        assert program.run(ops, {"x": x}) == 0
        found = {name: program.buffer(name)[:14].copy() for name in rows}
    for name, y in found.items():
        close(y, double(x) @ double(weights[name]).T + double(biases[name]), atol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bad_numbers_neither_crash_nor_choose_an_expert_that_is_not_there(
    isa: str, bad: float
) -> None:
    weight, clean = random_floats(20, 24), random_floats(6, 24, seed=1)
    x = clean.copy()
    x[1, 3] = bad
    x[2] = bad
    x[4, ::2], x[4, 1::2] = np.inf, -np.inf
    with NativeProgram({"x": 24, "n": 24, "g": 24, "ids": 4, "gates": 4}, isa) as program:
        program.matrix("w", weight)
        program.vector("norm", np.ones(24))
        ops = (
            RmsNorm("n", "x", "norm", 24, 1e-6),
            Rotary("n", 2, 12, (1.0, 0.5)),
            GatedActivation("g", "n", "x", "silu"),
            Add("g", "g", "x"),
            Router("ids", "gates", "g", "w", 20, 4, True),
        )
        gates = program.compute("gates", ops, {"x": x})
        ids = program.buffer("ids", np.int32)[:6]
        assert ids.min() >= 0 and ids.max() < 20
        wanted = program.compute("gates", ops, {"x": clean})[[0, 3, 5]]
    assert np.isfinite(wanted).all()
    assert np.array_equal(gates[[0, 3, 5]], wanted)
