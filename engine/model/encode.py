"""Turns a program's ops into the native executor's op array. Pure; field meanings: e0.h."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from engine.kernels import native
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

ACTIVATION_CODES = {"silu": 0, "gelu_tanh": 1, "gelu": 2}
_NORMALISE, _SIGMOID = 1, 2
_RMS_NORM, _LINEAR, _ROTARY, _ATTENTION, _ADD, _GATED, _ROUTER, _EXPERTS = range(8)


@dataclass(frozen=True)
class Operands:
    """Native indices by name; rotary frequencies by value, so that equal ones share a table.
    predictors: small copies of routers that guess the next layer's experts; may be empty."""

    matrices: dict[str, int]
    vectors: dict[str, int]
    rotary: dict[tuple[float, ...], int]
    predictors: dict[str, int]
    buffers: dict[str, int]

    def vector(self, name: str | None) -> int:
        """Index of an optional vector."""
        return -1 if name is None else self.vectors[name]


def encode(ops: Sequence[Op], operands: Operands, in_body: bool) -> ctypes.Array[native.Op]:
    """The op array; linears outside the body carry layer -1 and are not counted as attention."""
    encoded = [_encode(op, operands, 0 if in_body else -1) for op in ops]
    return (native.Op * len(encoded))(*encoded)


def rotary_vectors(program: Program) -> list[tuple[float, ...]]:
    """Distinct frequencies of the program, in order of appearance."""
    found = {op.frequencies: None for op in program.body if isinstance(op, Rotary)}
    return list(found)


def _op(kind: int, layer: int = -1, **fields: float) -> native.Op:
    empty = {"out": -1, "a": -1, "b": -1, "c": -1, "weight": -1, "vector": -1}
    return native.Op(kind=kind, layer=layer, **{**empty, **fields})


def _encode(op: Op, at: Operands, layer: int) -> native.Op:
    b = at.buffers
    match op:
        case RmsNorm():
            vector = at.vector(op.weight)
            return _op(
                _RMS_NORM, out=b[op.out], a=b[op.x], vector=vector, count=op.width, extra=op.eps
            )
        case Linear():
            bias = at.vector(op.bias)
            weight = at.matrices[op.weight]
            return _op(_LINEAR, layer, out=b[op.out], a=b[op.x], weight=weight, vector=bias)
        case Rotary():
            return _rotary(op, at)
        case Attention():
            return _attention(op, at)
        case Add():
            return _op(_ADD, out=b[op.out], a=b[op.a], b=b[op.b])
        case GatedActivation():
            code = ACTIVATION_CODES[op.activation]
            return _op(_GATED, out=b[op.out], a=b[op.gate], b=b[op.up], flags=code)
        case Router():
            return _router(op, at)
        case Experts():
            return _experts(op, at)


def _rotary(op: Rotary, at: Operands) -> native.Op:
    return _op(
        _ROTARY,
        0,
        out=at.buffers[op.x],
        vector=at.rotary[op.frequencies],
        heads=op.heads,
        head_dim=op.head_dim,
        count=len(op.frequencies),
        scale=op.factor,
    )


def _attention(op: Attention, at: Operands) -> native.Op:
    b = at.buffers
    return _op(
        _ATTENTION,
        op.layer,
        out=b[op.out],
        a=b[op.q],
        b=b[op.k],
        c=b[op.v],
        vector=at.vector(op.sinks),
        heads=op.heads,
        kv_heads=op.kv_heads,
        head_dim=op.head_dim,
        count=op.window or 0,
        scale=op.scale,
        extra=op.soft_cap or 0.0,
    )


def _router(op: Router, at: Operands) -> native.Op:
    flags = (_NORMALISE if op.normalise else 0) | (_SIGMOID if op.score == "sigmoid" else 0)
    return _op(
        _ROUTER,
        out=at.buffers[op.ids],
        a=at.buffers[op.x],
        b=at.buffers[op.gates],
        c=at.predictors.get(op.weight, -1),
        weight=at.matrices[op.weight],
        vector=at.vector(op.bias),
        count=op.experts,
        top_k=op.top_k,
        flags=flags,
        scale=op.scale,
    )


def _experts(op: Experts, at: Operands) -> native.Op:
    b = at.buffers
    return _op(
        _EXPERTS,
        op.layer,
        out=b[op.out],
        a=b[op.x],
        b=-1 if op.ids is None else b[op.ids],
        c=-1 if op.gates is None else b[op.gates],
        count=op.experts,
        top_k=op.top_k,
        flags=ACTIVATION_CODES[op.activation],
    )
