"""The slow truth itself: details that no tiny model would show."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.formats import Blocks, NumberFormat
from engine.kernels.packing import dequantize
from engine.kernels.reference_int8 import block_linear, quantize_activations
from engine.kernels.reference_ops import attend, rms_norm, rotate, route
from engine.model.program import Attention, Rotary, Router


def router(**options: object) -> Router:
    return Router("ids", "gates", "x", "w", experts=4, top_k=2, **options)  # type: ignore[arg-type]


def attention(**options: object) -> Attention:
    return Attention("o", "q", "k", "v", 0, 2, 1, 4, scale=0.5, **options)  # type: ignore[arg-type]


def random(*size: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed))


def blocks(fmt: NumberFormat, rows: int, cols: int) -> Blocks:
    rng = np.random.default_rng(0)
    int8 = fmt is NumberFormat.INT8
    codes = rng.integers(-127, 128, (rows, cols)) if int8 else rng.integers(0, 16, (rows, cols))
    scales = rng.uniform(0.001, 0.01, (rows, cols // 32)).astype(np.float16).astype(np.float32)
    return Blocks(fmt, codes.astype(np.int8 if int8 else np.uint8), scales)


def test_equal_scores_go_to_the_lower_ids() -> None:
    ids, gates = route(torch.ones(1, 1), torch.zeros(4, 1), None, router(normalise=True))
    assert ids.tolist() == [[0, 1]] and ids.dtype == torch.int32
    assert gates.tolist() == [[0.5, 0.5]]


def test_router_bias_chooses_but_does_not_weigh() -> None:
    weight = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    bias = torch.tensor([10.0, 0.0, 0.0, 0.0])
    op = router(normalise=False, score="sigmoid", scale=2.0)
    ids, gates = route(torch.ones(1, 1), weight, bias, op)
    assert ids.tolist() == [[0, 3]]
    assert gates[0].tolist() == pytest.approx([1.0, 2 / (1 + np.exp(-3.0))])


def test_window_counts_the_token_itself() -> None:
    values = torch.eye(4)[:, None]
    seen = attend(torch.zeros(4, 2, 4), torch.zeros(4, 1, 4), values, attention(window=2), None)
    assert seen[3, :4].tolist() == [0.0, 0.0, 0.5, 0.5]
    assert seen[0, :4].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_sinks_take_weight_without_a_value() -> None:
    ones = torch.ones(1, 1, 4)
    out = attend(torch.zeros(1, 2, 4), ones, ones, attention(), torch.tensor([0.0, -1e9]))
    assert out[0].tolist() == pytest.approx([0.5] * 4 + [1.0] * 4)


def test_soft_cap_bounds_scores() -> None:
    q, keys = torch.full((1, 2, 4), 100.0), torch.tensor([[1.0], [0.5]]).expand(2, 4)[:, None]
    values = torch.eye(2, 4)[:, None]
    out = attend(q, keys, values, attention(soft_cap=1.0), None)
    assert out[0, :2].tolist() == pytest.approx([0.5, 0.5], abs=1e-4)


def test_partial_rotary_leaves_the_rest_alone() -> None:
    x = random(3, 8)
    op = Rotary("x", heads=1, head_dim=8, frequencies=(1.0, 0.1))
    turned = rotate(x, op, position=5)
    assert torch.equal(turned[:, 4:], x[:, 4:])
    pair = turned[1, [0, 2]]
    expected = torch.view_as_real(torch.polar(torch.tensor(1.0), torch.tensor(6.0)))
    a, b = x[1, 0], x[1, 2]
    assert pair.tolist() == pytest.approx(
        [float(a * expected[0] - b * expected[1]), float(b * expected[0] + a * expected[1])]
    )


def test_rms_norm_works_on_each_head() -> None:
    x = random(2, 8)
    out = rms_norm(x, torch.full((4,), 2.0), 4, 0.0)
    assert out.view(2, 2, 4).square().mean(-1).flatten().tolist() == pytest.approx([4.0] * 4)


def test_activations_round_half_to_even_and_zero_stays_zero() -> None:
    x = torch.zeros(1, 64)
    x[0, :5] = torch.tensor([127.0, 0.5, 1.5, -2.5, -127.0])
    q, scale = quantize_activations(x)
    assert scale.tolist() == [[1.0, 0.0]]
    assert q[0, :5].tolist() == [127, 0, 2, -2, -127]
    assert not q[0, 32:].any()


@pytest.mark.parametrize("fmt", [f for f in NumberFormat if f is not NumberFormat.BF16])
def test_block_linear_multiplies_the_rounded_activations(fmt: NumberFormat) -> None:
    weight, x = blocks(fmt, 24, 96), random(5, 96)
    q, scale = quantize_activations(x)
    rounded = q.double() * scale.double().repeat_interleave(32, 1)
    exact = rounded @ torch.from_numpy(dequantize(weight)).double().T
    torch.testing.assert_close(block_linear(x, weight).double(), exact, rtol=1e-5, atol=1e-5)
    plain = x @ torch.from_numpy(dequantize(weight)).T
    assert (block_linear(x, weight) - plain).abs().max() < 0.02 * plain.abs().max()
