"""The native kernels' arithmetic in plain torch: int8 activations per 32 columns, whole-number dot
products of a block, then scales, blocks added in order. Agrees with native to float32 rounding."""

from __future__ import annotations

import torch

from engine.formats import BLOCK_COLS, Blocks
from engine.kernels.packing import code_values


def quantize_activations(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """q int8 (T, cols) and scale float32 (T, cols / 32) of x float32 (T, cols).

    scale = absmax / 127, q = round-half-even(x / scale).
    """
    blocks = x.view(len(x), -1, BLOCK_COLS)
    scale = blocks.abs().amax(-1) / 127
    divisor = torch.where(scale > 0, scale, torch.ones_like(scale))
    return torch.round(blocks / divisor[..., None]).to(torch.int8).view_as(x), scale


def block_linear(x: torch.Tensor, weight: Blocks) -> torch.Tensor:
    """(T, rows) = quantised x (T, cols) @ weight (rows, cols)ᵀ.

    A block's dot product stays below 2^24, so float32 holds it exactly.
    """
    q, x_scale = quantize_activations(x)
    codes = torch.tensor(code_values(weight), dtype=torch.float32)
    scales = torch.tensor(weight.scales)
    y = torch.zeros(len(x), len(codes))
    for block in range(scales.shape[1]):
        columns = slice(block * BLOCK_COLS, (block + 1) * BLOCK_COLS)
        dot = q[:, columns].float() @ codes[:, columns].T
        y += dot * (x_scale[:, block, None] * scales[:, block])
    return y
