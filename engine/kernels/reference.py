"""Runs a program op by op in plain float32 torch: the slow truth native kernels are compared with.

Owns the KV cache, which grows by concatenation. One thread at a time. No speed or memory promises.
With `int8_activations`, matrices given as Blocks are multiplied in the native kernels' own maths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch

from engine.formats import Blocks
from engine.kernels import reference_ops as ops
from engine.kernels.packing import dequantize
from engine.kernels.reference_int8 import block_linear
from engine.model.program import (
    Add,
    Attention,
    Experts,
    GatedActivation,
    Linear,
    Op,
    Program,
    RmsNorm,
    Rotary,
    Router,
)
from engine.model.shape import ModelShape

Matrix = torch.Tensor | Blocks
Buffers = dict[str, torch.Tensor]


class Weights(Protocol):
    """Where the executor takes weights from; float32, or Blocks for a quantised matrix."""

    def embedding(self, ids: Sequence[int]) -> torch.Tensor:
        """Rows (n, hidden) of the embedding."""
        ...

    def tensor(self, name: str) -> Matrix:
        """A resident weight by its logical name."""
        ...

    def expert(self, layer: int, expert: int) -> tuple[Matrix, Matrix, Matrix]:
        """gate, up and down of one expert."""
        ...


class WeightTable:
    """Weights held in memory by logical name."""

    def __init__(self, table: Mapping[str, Matrix]) -> None:
        self._table = table

    def embedding(self, ids: Sequence[int]) -> torch.Tensor:
        """Rows (n, hidden) of the embedding."""
        return as_float(self._table["embedding"])[torch.tensor(ids, dtype=torch.long)]

    def tensor(self, name: str) -> Matrix:
        """A resident weight by its logical name."""
        return self._table[name]

    def expert(self, layer: int, expert: int) -> tuple[Matrix, Matrix, Matrix]:
        """gate, up and down of one expert."""
        at = f"layers.{layer}.experts.{expert}"
        return self._table[f"{at}.gate"], self._table[f"{at}.up"], self._table[f"{at}.down"]


def as_float(matrix: Matrix) -> torch.Tensor:
    """The weight as float32 (rows, cols)."""
    return torch.from_numpy(dequantize(matrix)) if isinstance(matrix, Blocks) else matrix


class TorchExecutor:
    """One model and its KV cache. `half_cache` rounds keys and values to float16, like native."""

    def __init__(
        self,
        program: Program,
        shape: ModelShape,
        weights: Weights,
        *,
        int8_activations: bool = False,
        half_cache: bool = False,
    ) -> None:
        self._program = program
        self._weights = weights
        self._int8 = int8_activations
        self._half = half_cache
        self._position = 0
        empty = torch.zeros(0, shape.kv_heads, shape.head_dim)
        self._cache = [
            (empty, empty)
        ] * shape.layers  # keys and values: (positions, kv_heads, head_dim)

    @property
    def position(self) -> int:
        """Tokens in the KV cache."""
        return self._position

    def rewind(self, position: int) -> None:
        """Forgets everything after the first `position` tokens."""
        if not 0 <= position <= self._position:
            raise ValueError(f"cannot rewind from {self._position} to {position}")
        self._cache = [(k[:position], v[:position]) for k, v in self._cache]
        self._position = position

    @torch.inference_mode()
    def forward(self, ids: Sequence[int], all_logits: bool = False) -> torch.Tensor:
        """Appends ids; logits (vocab,) after the last one, or (len(ids), vocab)."""
        buffers = {self._program.input: self._weights.embedding(ids)}
        for op in self._program.body:
            self._run(op, buffers)
        self._position += len(ids)
        if not all_logits:
            buffers = {name: rows[-1:] for name, rows in buffers.items()}
        for op in self._program.head:
            self._run(op, buffers)
        logits = buffers[self._program.output]
        return logits if all_logits else logits[0]

    def _run(self, op: Op, b: Buffers) -> None:
        match op:
            case RmsNorm():
                b[op.out] = ops.rms_norm(b[op.x], self._float(op.weight), op.width, op.eps)
            case Linear():
                bias = None if op.bias is None else self._float(op.bias)
                b[op.out] = self._linear(b[op.x], self._weights.tensor(op.weight), bias)
            case Rotary():
                b[op.x] = ops.rotate(b[op.x], op, self._position)
            case Attention():
                b[op.out] = self._attention(op, b)
            case Add():
                b[op.out] = b[op.a] + b[op.b]
            case GatedActivation():
                b[op.out] = ops.activate(b[op.gate], op.activation) * b[op.up]
            case Router():
                bias = None if op.bias is None else self._float(op.bias)
                b[op.ids], b[op.gates] = ops.route(b[op.x], self._float(op.weight), bias, op)
            case Experts():
                b[op.out] = self._experts(op, b)

    def _float(self, name: str) -> torch.Tensor:
        return as_float(self._weights.tensor(name))

    def _linear(
        self, x: torch.Tensor, weight: Matrix, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        if self._int8 and isinstance(weight, Blocks):
            y = block_linear(x, weight)
        else:
            y = x @ as_float(weight).T
        return y if bias is None else y + bias

    def _attention(self, op: Attention, b: Buffers) -> torch.Tensor:
        fresh = (b[name].view(-1, op.kv_heads, op.head_dim) for name in (op.k, op.v))
        stored = (new.half().float() if self._half else new for new in fresh)
        keys, values = (
            torch.cat((old, new)) for old, new in zip(self._cache[op.layer], stored, strict=True)
        )
        self._cache[op.layer] = keys, values
        q = b[op.q].view(-1, op.heads, op.head_dim)
        sinks = None if op.sinks is None else self._float(op.sinks)
        return ops.attend(q, keys, values, op, sinks)

    def _experts(self, op: Experts, b: Buffers) -> torch.Tensor:
        x = b[op.x]
        if op.ids is None or op.gates is None:
            ids = torch.arange(op.experts).expand(len(x), -1)
            gates = torch.ones(len(x), op.experts)
        else:
            ids, gates = b[op.ids], b[op.gates]
        parts = torch.zeros(len(x), ids.shape[1], x.shape[1])  # (tokens, slots, hidden)
        for expert in torch.unique(ids).tolist():
            tokens, slots = torch.nonzero(ids == expert, as_tuple=True)
            parts[tokens, slots] = self._expert(op, expert, x[tokens])
        out = torch.zeros_like(x)
        for slot in range(ids.shape[1]):  # in slot order, as the native executor adds
            out += gates[:, slot, None] * parts[:, slot]
        return out

    def _expert(self, op: Experts, expert: int, x: torch.Tensor) -> torch.Tensor:
        gate, up, down = self._weights.expert(op.layer, expert)
        hidden = ops.activate(self._linear(x, gate), op.activation) * self._linear(x, up)
        return self._linear(hidden, down)
