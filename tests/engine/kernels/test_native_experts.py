"""The experts op: the sum of its parts, whatever is in memory and however a chunk is cut."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from engine.formats import Blocks, NumberFormat
from engine.model.program import Experts, GatedActivation, Linear
from engine.model.shape import Activation
from tests.helpers.expert_files import UNIFORM, ExpertFiles, write_experts
from tests.helpers.native_program import Floats, NativeProgram, instruction_sets, random_floats

SETS = instruction_sets()
NF4, INT8, BF16 = NumberFormat.NF4, NumberFormat.INT8, NumberFormat.BF16
MIXED = {
    **{str(fmt): dict.fromkeys(UNIFORM, fmt) for fmt in NumberFormat},
    "int8 down": {**UNIFORM, "down": INT8},
    "bf16 down": {**UNIFORM, "down": BF16},
    "bf16 gate": {"gate": BF16, "up": INT8, "down": NF4},
    "bf16 up": {"gate": INT8, "up": BF16, "down": NF4},
    "int8 down of bf16": {"gate": BF16, "up": BF16, "down": INT8},
}


def routing(files: ExpertFiles, tokens: int, seed: int = 0) -> tuple[np.ndarray, Floats]:
    """Distinct random experts and gates for every token."""
    rng = np.random.default_rng(seed)
    experts, top_k = files.shape.experts, files.shape.top_k
    ids = np.stack([rng.permutation(experts)[:top_k] for _ in range(tokens)])
    return ids.astype(np.int32), rng.random((tokens, top_k), np.float32)


def run(
    files: ExpertFiles,
    x: Floats,
    route: tuple[np.ndarray, Floats] | None,
    slots: int = 0,
    isa: str = "auto",
    threads: int = 2,
    cut: int = 0,
    kind: Activation = "silu",
) -> Floats:
    """Output of layer 1's experts; route None runs all of them. cut: tokens of a chunk."""
    shape, cut = files.shape, cut or len(x)
    widths = {"x": shape.hidden, "y": shape.hidden, "ids": shape.top_k, "gates": shape.top_k}
    names = ("ids", "gates") if route else (None, None)
    top_k = shape.top_k if route else shape.experts
    op = Experts("y", "x", 1, shape.experts, top_k, kind, *names)
    rows = []
    with (
        closing(files.store("direct", slots or shape.layers * shape.experts)) as store,
        NativeProgram(widths, isa, threads, cut) as program,
    ):
        files.attach(program, store)
        for at in range(0, len(x), cut):
            inputs = {"x": x[at : at + cut]}
            if route:
                inputs |= {"ids": route[0][at : at + cut], "gates": route[1][at : at + cut]}
            rows.append(program.compute("y", [op], inputs))
            store.after_chunk(len(rows[-1]))
    return np.concatenate(rows)


def parts(files: ExpertFiles, x: Floats, kind: Activation, expert: int) -> Floats:
    """One expert's output for every token, op by op."""
    shape = files.shape
    widths = {"x": shape.hidden, "gate": shape.expert_width, "up": shape.expert_width}
    with NativeProgram({**widths, "y": shape.hidden}, rows=len(x)) as program:
        for name, weight in zip(("gate", "up", "down"), files.weights[1][expert], strict=True):
            program.matrix(name, weight, bf16=not isinstance(weight, Blocks))
        ops = (
            Linear("gate", "x", "gate"),
            Linear("up", "x", "up"),
            GatedActivation("gate", "gate", "up", kind),
            Linear("y", "gate", "down"),
        )
        return program.compute("y", ops, {"x": x})


def wanted(files: ExpertFiles, x: Floats, route: tuple[np.ndarray, Floats] | None) -> Floats:
    """Σ over slots of gate · expert, in slot order."""
    shape = files.shape
    each = np.stack([parts(files, x, "silu", expert) for expert in range(shape.experts)])
    ids = route[0] if route else np.tile(np.arange(shape.experts), (len(x), 1))
    gates = route[1] if route else np.ones(ids.shape, np.float32)
    out = np.zeros_like(x)
    for slot in range(ids.shape[1]):
        out += gates[:, slot, None] * each[ids[:, slot], np.arange(len(x))]
    return out


def check(actual: Floats, expected: Floats) -> None:
    """Equal but for the rounding of the gate's product, which is fused in the op."""
    assert np.abs(actual - expected).max() < 3e-7 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("formats", MIXED.values(), ids=MIXED.keys())
def test_every_mix_of_formats(tmp_path: Path, formats: dict[str, NumberFormat]) -> None:
    files = write_experts(tmp_path, hidden=96, width=64, formats=formats)  # type: ignore[arg-type]
    x = random_floats(21, 96)
    route = routing(files, 21)
    first, *others = [run(files, x, route, isa=isa) for isa in SETS]
    check(first, wanted(files, x, route))
    for other in others:
        assert np.array_equal(first, other)


@pytest.mark.parametrize(("hidden", "width"), [(32, 32), (64, 160), (200, 48), (33, 70)])
@pytest.mark.parametrize("fmt", [NF4, INT8, BF16])
def test_ragged_sizes(tmp_path: Path, hidden: int, width: int, fmt: NumberFormat) -> None:
    files = write_experts(
        tmp_path, hidden=hidden, width=width, formats=dict.fromkeys(UNIFORM, fmt), experts=3
    )
    x, route = random_floats(17, hidden), routing(files, 17)
    actual = run(files, x, route)
    # Rows that are no multiple of 32 leave a partial block, quantised as such in both.
    check(actual, wanted(files, x, route))


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 8, 16])
@pytest.mark.parametrize("routed", [True, False])
def test_few_slots_change_no_bit(tmp_path: Path, slots: int, routed: bool) -> None:
    """Down to one slot the experts of a layer pass through in waves."""
    files = write_experts(tmp_path, experts=8, top_k=3)
    x = random_floats(30, 64)
    route = routing(files, 30) if routed else None
    everything = run(files, x, route)
    check(everything, wanted(files, x, route))
    assert np.array_equal(run(files, x, route, slots), everything)
    assert np.array_equal(run(files, x, route, slots, cut=7), everything)


@pytest.mark.parametrize("cut", [1, 2, 5, 13])
@pytest.mark.parametrize("isa", SETS)
def test_threads_and_cuts_change_no_bit(tmp_path: Path, isa: str, cut: int) -> None:
    files = write_experts(tmp_path, experts=5)
    x, route = random_floats(40, 64), routing(files, 40)
    whole = run(files, x, route, isa=isa)
    for threads in (1, 3):
        assert np.array_equal(run(files, x, route, isa=isa, threads=threads, cut=cut), whole)


def test_all_tokens_on_one_expert_fill_many_panels(tmp_path: Path) -> None:
    files = write_experts(tmp_path, top_k=1)
    x = random_floats(600, 64)
    route = np.full((600, 1), 2, np.int32), np.ones((600, 1), np.float32)
    assert np.array_equal(run(files, x, route), parts(files, x, "silu", 2))


@pytest.mark.parametrize("kind", ["silu", "gelu", "gelu_tanh"])
def test_activations(tmp_path: Path, kind: Activation) -> None:
    files = write_experts(tmp_path, top_k=1)
    x, route = random_floats(3, 64), (np.zeros((3, 1), np.int32), np.ones((3, 1), np.float32))
    assert np.array_equal(run(files, x, route, kind=kind), parts(files, x, kind, 0))


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_tokens_spoil_only_themselves(tmp_path: Path, isa: str, bad: float) -> None:
    """One expert twice for a token, as a router without numbers chooses, is no trouble either."""
    files = write_experts(tmp_path)
    x, (ids, gates) = random_floats(9, 64), routing(files, 9)
    clean = run(files, x, (ids, gates), isa=isa)
    x[4], gates[5], ids[4] = bad, bad, 0
    rest = [0, 1, 2, 3, 6, 7, 8]
    assert np.array_equal(run(files, x, (ids, gates), isa=isa)[rest], clean[rest])
