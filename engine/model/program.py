"""A model as a short list of ops over named buffers and weights, written once by its family.

The native executor runs the list in one call for a token or a prefill chunk; the torch executor in
`kernels/reference.py` runs the same list op by op as the slow truth. T = tokens of the chunk.
Every buffer is float32 (T, width), except routing ids, which are int32 (T, top_k).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.model.shape import Activation

ScoreFunction = Literal["softmax", "sigmoid"]


@dataclass(frozen=True)
class RmsNorm:
    """out = x / sqrt(mean(x²) + eps) * weight, over each `width`-wide group of columns (a head, or
    the row).
    """

    out: str
    x: str
    weight: str
    width: int
    eps: float


@dataclass(frozen=True)
class Linear:
    """out (T, rows) = x (T, cols) @ weight (rows, cols)ᵀ + bias."""

    out: str
    x: str
    weight: str
    bias: str | None = None


@dataclass(frozen=True)
class Rotary:
    """In place: rotates each head's first 2·len(frequencies) columns, halves convention (GPT-
    NeoX).
    """

    x: str
    heads: int
    head_dim: int
    frequencies: tuple[float, ...]
    factor: float = 1.0


@dataclass(frozen=True)
class Attention:
    """Appends k and v to the layer's KV cache, then causal softmax(q·kᵀ·scale)·v with grouped
    heads.

    window: a query sees this many keys, its own included; None sees all. sinks: weight
    (heads,) of per-head logits that join the softmax with no value. soft_cap: c·tanh(s/c).
    """

    out: str
    q: str
    k: str
    v: str
    layer: int
    heads: int
    kv_heads: int
    head_dim: int
    scale: float
    window: int | None = None
    sinks: str | None = None
    soft_cap: float | None = None


@dataclass(frozen=True)
class Add:
    """out = a + b (out may be a or b)."""

    out: str
    a: str
    b: str


@dataclass(frozen=True)
class GatedActivation:
    """out = act(gate) * up."""

    out: str
    gate: str
    up: str
    activation: Activation


@dataclass(frozen=True)
class Router:
    """Scores the experts and keeps the best `top_k`, best first; ties go to the lower id.

    ids: int32 buffer (T, top_k). gates: float32 buffer (T, top_k), softmax over all experts of
    x @ weightᵀ, renormalised to sum 1 over the kept ones when `normalise`, times `scale`.
    """

    ids: str
    gates: str
    x: str
    weight: str
    experts: int
    top_k: int
    normalise: bool
    score: ScoreFunction = "softmax"
    bias: str | None = None  # added to the scores for choosing only (DeepSeek)
    scale: float = 1.0


@dataclass(frozen=True)
class Experts:
    """out = Σ_slot gates[slot] · down(act(gate(x)) * up(x)) of expert ids[slot], summed in slot
    order.

    ids and gates None: a dense feed-forward cut into blocks; all experts in order, gates 1.
    """

    out: str
    x: str
    layer: int
    experts: int
    top_k: int
    activation: Activation
    ids: str | None = None
    gates: str | None = None


Op = RmsNorm | Linear | Rotary | Attention | Add | GatedActivation | Router | Experts


@dataclass(frozen=True)
class Program:
    """`body` runs on every token of a chunk, `head` only on rows whose logits are wanted.

    input: buffer that holds the chunk's embeddings (T, hidden) before the first op.
    output: buffer that holds the logits (rows, vocab) after `head`.
    buffers: width of every buffer by name.
    """

    input: str
    output: str
    buffers: dict[str, int]
    body: tuple[Op, ...]
    head: tuple[Op, ...]
