"""The maths of all ops but the big matrix products, in plain float32 torch. Pure functions."""

from __future__ import annotations

import torch
from torch.nn import functional

from engine.model.program import Attention, Rotary, Router
from engine.model.shape import Activation


def rms_norm(x: torch.Tensor, weight: torch.Tensor, width: int, eps: float) -> torch.Tensor:
    """x (T, n · width) normalised in groups of `width` columns, each times weight (width,)."""
    groups = x.view(len(x), -1, width)
    scale = torch.rsqrt(groups.square().mean(-1, keepdim=True) + eps)
    return (groups * scale * weight).view_as(x)


def activate(x: torch.Tensor, activation: Activation) -> torch.Tensor:
    """The gate's nonlinearity."""
    if activation == "silu":
        return functional.silu(x)
    return functional.gelu(x, approximate="tanh" if activation == "gelu_tanh" else "none")


def rotate(x: torch.Tensor, op: Rotary, position: int) -> torch.Tensor:
    """x (T, heads · head_dim) turned by position · frequency; columns i and i + half are a pair.

    The angle is rounded to float32, as transformers does.
    """
    half = len(op.frequencies)
    heads = x.view(len(x), op.heads, op.head_dim)
    positions = torch.arange(position, position + len(x), dtype=torch.float32)
    angles = torch.outer(positions, torch.tensor(op.frequencies)).double()
    cos = (angles.cos() * op.factor).float()[:, None]
    sin = (angles.sin() * op.factor).float()[:, None]
    a, b, rest = heads[..., :half], heads[..., half : 2 * half], heads[..., 2 * half :]
    return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1).reshape(x.shape)


def attend(
    q: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    op: Attention,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    """q (T, heads, head_dim) over keys and values (n, kv_heads, head_dim), the last T q's own.

    Returns (T, heads · head_dim). With a window, a query sees that many keys, its own included.
    """
    group = op.heads // op.kv_heads
    keys, values = (each.repeat_interleave(group, 1) for each in (keys, values))
    scores = torch.einsum("thd,nhd->htn", q, keys) * op.scale
    if op.soft_cap is not None:
        scores = op.soft_cap * torch.tanh(scores / op.soft_cap)
    hidden = _hidden(len(q), len(keys), op.window)
    scores = scores.masked_fill(hidden, float("-inf"))
    if sinks is not None:
        column = sinks.view(-1, 1, 1).expand(-1, len(q), 1)
        scores = torch.cat((scores, column), -1)
    weights = torch.softmax(scores, -1)[..., : len(keys)]
    return torch.einsum("htn,nhd->thd", weights, values).reshape(len(q), -1)


def _hidden(queries: int, keys: int, window: int | None) -> torch.Tensor:
    """(queries, keys): true where a query must not look."""
    distance = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)
    hidden = distance < 0
    return hidden if window is None else hidden | (distance >= window)


def route(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, op: Router
) -> tuple[torch.Tensor, torch.Tensor]:
    """ids (T, top_k) int32, best first, ties to the lower id; gates (T, top_k) float32."""
    logits = x @ weight.T
    scores = torch.softmax(logits, -1) if op.score == "softmax" else torch.sigmoid(logits)
    ranked = scores if bias is None else scores + bias
    ids = torch.sort(ranked, dim=-1, descending=True, stable=True).indices[:, : op.top_k]
    gates = scores.gather(1, ids)
    if op.normalise:
        gates = gates / gates.sum(-1, keepdim=True)
    return ids.int(), gates * op.scale
