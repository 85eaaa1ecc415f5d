"""Single ops and small programs on the native executor, without a container: weights by name."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Edge0Error
from engine.formats import STRIP_ROWS, Blocks, NumberFormat, blocks, strips
from engine.kernels import native
from engine.kernels.packing import bf16_to_float32, float32_to_bf16, pack
from engine.model.encode import Operands, encode
from engine.model.executor import float_strips
from engine.model.program import Op, Rotary

Floats = NDArray[np.float32]
SETS = ("avx512", "avxvnni", "avx2", "neon_i8mm", "neon", "scalar")


def instruction_sets() -> list[str]:
    """The kernel paths this processor can run; the portable one is always the last."""
    found = []
    for name in SETS:
        try:
            found.append(native.instruction_set(name))
        except Edge0Error:
            continue
    return found


def random_blocks(fmt: NumberFormat, rows: int, cols: int, seed: int = 0) -> Blocks:
    """Any codes (int8 includes -128, which a stored model may hold), scales about 0.01."""
    rng = np.random.default_rng(seed)
    if fmt is NumberFormat.INT8:
        codes = rng.integers(-128, 128, (rows, cols)).astype(np.int8)
    else:
        codes = rng.integers(0, 16, (rows, cols)).astype(np.uint8)
    scales = rng.normal(0, 0.01, (rows, blocks(cols))).astype(np.float32)
    if fmt is NumberFormat.E2M1:
        scales = bf16_to_float32(float32_to_bf16(scales))
    return Blocks(fmt, codes, scales.astype(np.float16).astype(np.float32))


def random_floats(*shape: int, seed: int = 0) -> Floats:
    """Standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


class NativeProgram:
    """A native executor whose buffers hold `rows` tokens. Use as a context manager."""

    def __init__(
        self,
        buffers: Mapping[str, int],
        isa: str = "auto",
        threads: int = 2,
        rows: int = 64,
    ) -> None:
        self.library = native.library()
        self.context = native.new_executor(threads, isa)
        self.rows = rows
        self._widths = dict(buffers)
        self._kept: list[Any] = []
        self._at = Operands({}, {}, {}, {}, {})
        for name, width in buffers.items():
            self._at.buffers[name] = self.library.e0_exec_add_buffer(self.context, width, rows)

    def vector(self, name: str, values: Any) -> None:
        """Add a float32 vector."""
        self._at.vectors[name] = self._add_vector(values)

    def matrix(self, name: str, weight: Blocks | Floats, bf16: bool = False) -> None:
        """Add a matrix: Blocks as they are, floats as float32 strips or rounded to bf16."""
        described = self.describe(weight, bf16)
        self._at.matrices[name] = self.library.e0_exec_add_matrix(self.context, described)

    def describe(self, weight: Blocks | Floats, bf16: bool = False) -> native.Matrix:
        """The packed matrix's descriptor; its bytes live as long as this object."""
        if isinstance(weight, Blocks):
            rows, cols = weight.codes.shape
            packed = pack(weight, weight.format)
            made = native.matrix(weight.format, rows, cols, packed.ctypes.data)
        elif bf16:
            packed = pack(weight, NumberFormat.BF16)
            made = native.matrix(NumberFormat.BF16, *weight.shape, packed.ctypes.data)
        else:
            packed = float_strips(weight)
            made = native.float_matrix(*weight.shape, packed.ctypes.data)
        self._kept.append(packed)
        return made

    def matmul(self, weight: native.Matrix, x: Floats) -> Floats:
        """x (tokens, cols) · weightᵀ → (tokens, rows)."""
        x = np.ascontiguousarray(x)
        y = np.full((len(x), strips(weight.rows) * STRIP_ROWS), np.nan, np.float32)
        status = self.library.e0_exec_matmul(
            self.context, weight, x.ctypes.data, len(x), y.ctypes.data
        )
        assert status == 0
        return y[:, : weight.rows]

    def cache(
        self, layers: int, kv_heads: int, head_dim: int, positions: int, int8: bool = False
    ) -> None:
        """Make the KV cache."""
        assert not self.library.e0_exec_set_cache(
            self.context, layers, kv_heads, head_dim, positions, int(int8)
        )

    def run(
        self, ops: Sequence[Op], inputs: Mapping[str, Any], position: int = 0, first: int = 0
    ) -> int:
        """Fill the inputs' rows from `first` on, run the ops over as many rows; the status."""
        tokens = 0
        for name, values in inputs.items():
            tokens = len(values)
            self.buffer(name, values.dtype)[first : first + tokens] = values
        for op in ops:
            if isinstance(op, Rotary) and op.frequencies not in self._at.rotary:
                self._at.rotary[op.frequencies] = self._add_vector(op.frequencies)
        encoded = encode(ops, self._at, in_body=True)
        return int(
            self.library.e0_exec_run(
                self.context, encoded, len(encoded), first, tokens, position, None
            )
        )

    def compute(
        self, out: str, ops: Sequence[Op], inputs: Mapping[str, Any], position: int = 0
    ) -> Floats:
        """Run from row 0 and return the rows of `out`, in fresh memory."""
        assert self.run(ops, inputs, position) == 0
        tokens = len(next(iter(inputs.values())))
        return self.buffer(out)[:tokens].copy()

    def buffer(self, name: str, dtype: Any = np.float32) -> NDArray[Any]:
        """A view of a buffer's rows, without the padding."""
        address = self.library.e0_exec_buffer(self.context, self._at.buffers[name], 0)
        stride = strips(self._widths[name]) * STRIP_ROWS
        pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
        whole = np.ctypeslib.as_array(pointer, (self.rows, stride)).view(dtype)
        return whole[:, : self._widths[name]]

    def _add_vector(self, values: Any) -> int:
        kept = np.ascontiguousarray(values, np.float32).reshape(-1)
        self._kept.append(kept)
        data = kept.ctypes.data
        return int(self.library.e0_exec_add_vector(self.context, data, len(kept)))

    def __enter__(self) -> NativeProgram:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.library.e0_exec_free(self.context)
