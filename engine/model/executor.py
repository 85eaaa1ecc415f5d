"""Runs a family's program in native code: owns the native context, dense weights, buffers and KV
cache.

One thread at a time. Memory: the arena of dense weights, buffers for one chunk, the KV cache as it
is touched. What the native side computes is defined by `program.py`; the slow truth is
`kernels/reference.py`.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config import KvFormat
from engine.container.manifest import TensorEntry
from engine.container.reader import Container
from engine.errors import Stopped, StorageError
from engine.formats import STRIP_ROWS, NumberFormat, blocks, strips
from engine.kernels import native
from engine.kernels.packing import pack
from engine.model.dense_arena import DenseArena
from engine.model.encode import Operands, encode, rotary_vectors
from engine.model.program import Linear, Program, Router
from engine.model.weights import Role
from engine.prepare.quantize import quantize
from engine.stop import StopFlag
from engine.store.predictor import ReadAhead
from engine.store.store import ExpertStore
from engine.text import Text

Floats = NDArray[np.float32]
_STOPPED, _READ_ERROR, _NO_MEMORY = 1, 2, 3


class NativeExecutor:
    """One model's program, ready to run chunks of up to `chunk_tokens`."""

    def __init__(
        self,
        container: Container,
        program: Program,
        store: ExpertStore,
        context_tokens: int,
        chunk_tokens: int,
        threads: int,
        isa: str,
        read_ahead: int = 0,
        kv_format: KvFormat = "fp16",
    ) -> None:
        self._library = native.library()
        self._context = native.new_executor(threads, isa)
        self._program = program
        self._store = store
        self.chunk_tokens = chunk_tokens
        self._kept: list[NDArray[Any]] = []  # what the native side points into
        shape = container.shape
        self._weights = DenseArena(container)
        self._reads = read_ahead
        predicting = read_ahead > 0 and not store.whole
        self._read_ahead = ReadAhead(read_ahead) if predicting else None
        operands = Operands(
            *self._add_weights(container, program),
            self._add_predictors(container, program) if predicting else {},
            self._add_buffers(program),
        )
        self._body = encode(program.body, operands, in_body=True)
        self._head = encode(program.head, operands, in_body=False)
        # Views are made once: ctypes keeps a type for every shape it has ever met.
        self._input = self._buffer(operands.buffers, program.input, chunk_tokens)
        self._output = self._buffer(operands.buffers, program.output, 1)
        for layer in range(shape.layers):
            gate, up, down = record_matrices(container, layer)
            self._library.e0_exec_set_record(self._context, layer, gate, up, down)
        self._library.e0_exec_set_store(self._context, store.handle)
        failed = self._library.e0_exec_set_cache(
            self._context,
            shape.layers,
            shape.kv_heads,
            shape.head_dim,
            context_tokens,
            int(kv_format == "int8"),
        )
        if failed:
            raise _out_of_memory()

    def use_store(self, store: ExpertStore) -> None:
        """Take experts from this store from now on."""
        self._store = store
        if self._read_ahead:
            self._read_ahead = ReadAhead(self._reads)  # its counters begin at 0 again
        self._library.e0_exec_set_store(self._context, store.handle)

    @property
    def isa(self) -> str:
        """Name of the kernel path in use."""
        text: bytes = self._library.e0_exec_isa(self._context)
        return text.decode("ascii")

    @property
    def threads(self) -> int:
        """Compute threads."""
        return int(self._library.e0_exec_threads(self._context))

    def body(self, embeddings: Floats, position: int, stop: StopFlag) -> None:
        """Run the body over a chunk: embeddings (tokens, hidden), the first at `position`.

        Raises Stopped, StorageError. The chunk counts only when this returns.
        """
        tokens = len(embeddings)
        self._input[:tokens, : embeddings.shape[1]] = embeddings
        if self._read_ahead:
            reads = self._read_ahead.after_token(self._store.totals().prediction)
            self._library.e0_exec_set_prediction(self._context, reads)
        self._run(self._body, 0, tokens, position, stop)
        self._store.after_chunk(tokens)

    def logits(self, row: int) -> Floats:
        """Logits (vocab,) of a row of the last chunk, in fresh memory."""
        self._run(self._head, row, 1, 0, None)
        width = self._program.buffers[self._program.output]
        return self._output[0, :width].copy()

    def export_cache(self, begin: int, end: int, rows: NDArray[np.uint8]) -> None:
        """Copy positions [begin, end) of the KV cache to `rows`, contiguous and just as long."""
        self._library.e0_exec_export_cache(self._context, begin, end, rows.ctypes.data)

    def import_cache(self, begin: int, end: int, rows: NDArray[np.uint8]) -> None:
        """Copy what `export_cache` gave back in."""
        self._library.e0_exec_import_cache(self._context, begin, end, rows.ctypes.data)

    def take_times(self) -> native.Times:
        """Seconds by kind of work since the last call."""
        times = native.Times()
        self._library.e0_exec_take_times(self._context, times)
        return times

    def close(self) -> None:
        """Free everything. The executor cannot be used afterwards."""
        if self._context:
            self._library.e0_exec_free(self._context)
            self._context = 0
            self._kept.clear()
            self._weights.close()

    def _run(
        self,
        ops: ctypes.Array[native.Op],
        first: int,
        tokens: int,
        position: int,
        stop: StopFlag | None,
    ) -> None:
        flag = stop.address if stop else None
        status = self._library.e0_exec_run(
            self._context, ops, len(ops), first, tokens, position, flag
        )
        if status == _STOPPED:
            raise Stopped()
        if status == _READ_ERROR:
            raise self._store.read_error()
        if status == _NO_MEMORY:
            raise _out_of_memory()

    def _buffer(self, buffers: dict[str, int], name: str, rows: int) -> Floats:
        """The first rows of a native buffer, which stays where it is."""
        address = self._library.e0_exec_buffer(self._context, buffers[name], 0)
        stride = strips(self._program.buffers[name]) * STRIP_ROWS
        pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(pointer, (rows, stride))

    def _add_buffers(self, program: Program) -> dict[str, int]:
        """Buffers only the head writes hold one row: logits of a whole chunk would be huge."""
        head_only = {op.out for op in program.head if hasattr(op, "out")}
        head_only -= {getattr(op, "out", None) for op in program.body} | {program.input}
        found = {}
        for name, width in program.buffers.items():
            rows = 1 if name in head_only else self.chunk_tokens
            found[name] = self._library.e0_exec_add_buffer(self._context, width, rows)
            if found[name] < 0:
                raise _out_of_memory()
        return found

    def _add_weights(
        self, container: Container, program: Program
    ) -> tuple[dict[str, int], dict[str, int], dict[tuple[float, ...], int]]:
        """Indices of matrices, of vectors, and of each rotary op's frequencies."""
        as_matrix = {op.weight for op in program.body if isinstance(op, Router)}
        as_matrix |= {op.weight for op in (*program.body, *program.head) if isinstance(op, Linear)}
        matrices, vectors = {}, {}
        for name, entry in container.manifest.tensors.items():
            if entry.role is Role.EMBEDDING:
                continue
            if name in as_matrix:
                matrices[name] = self._add_matrix(self._matrix(entry))
            else:
                vectors[name] = self._add_vector(self._weights.floats(entry))
        rotary = {
            frequencies: self._add_vector(np.array(frequencies, np.float32))
            for frequencies in rotary_vectors(program)
        }
        return matrices, vectors, rotary

    def _add_predictors(self, container: Container, program: Program) -> dict[str, int]:
        """int8 copies of the routers: a guess may be rough, but must not cost memory bandwidth."""
        found = {}
        for op in program.body:
            if not isinstance(op, Router):
                continue
            entry = container.manifest.tensors[op.weight]
            weights = self._weights.floats(entry).reshape(entry.shape)
            packed = pack(quantize(weights, NumberFormat.INT8, op.weight), NumberFormat.INT8)
            self._kept.append(packed)
            rows, cols = entry.shape
            copy = native.matrix(NumberFormat.INT8, rows, cols, packed.ctypes.data)
            found[op.weight] = self._add_matrix(copy)
        return found

    def _matrix(self, entry: TensorEntry) -> native.Matrix:
        rows, cols = entry.shape
        if entry.format == "f32":
            packed = float_strips(self._weights.floats(entry).reshape(rows, cols))
            self._kept.append(packed)
            return native.float_matrix(rows, cols, packed.ctypes.data)
        return native.matrix(NumberFormat(entry.format), rows, cols, self._weights.address(entry))

    def _add_matrix(self, matrix: native.Matrix) -> int:
        return int(self._library.e0_exec_add_matrix(self._context, matrix))

    def _add_vector(self, values: Floats) -> int:
        kept = np.ascontiguousarray(values, np.float32).reshape(-1)
        self._kept.append(kept)
        return int(self._library.e0_exec_add_vector(self._context, kept.ctypes.data, len(kept)))


def record_matrices(container: Container, layer: int) -> list[native.Matrix]:
    """Descriptors of gate, up and down inside every record of a layer."""
    return [
        native.matrix(m.format, m.rows, m.cols, None, m.offset)
        for m in container.layout(layer).matrices
    ]


def float_strips(weight: Floats) -> Floats:
    """(rows, cols) as strips (strips, cols, 16): what the native float kernel reads."""
    rows, cols = weight.shape
    padded = np.zeros((strips(rows) * STRIP_ROWS, cols), np.float32)
    padded[:rows] = weight
    return np.ascontiguousarray(padded.reshape(-1, STRIP_ROWS, cols).transpose(0, 2, 1))


def workspace_bytes(program: Program, container: Container, chunk_tokens: int) -> int:
    """Buffers and scratch of a chunk: an upper bound of what the native side allocates."""
    shape = container.shape
    buffers = sum(strips(width) * STRIP_ROWS * 4 for width in program.buffers.values())
    widest = max(program.buffers[op.x] for op in program.body if isinstance(op, Linear))
    quantised = 2 * blocks(max(widest, shape.hidden)) * 40 + 32 * 8
    hidden, width = blocks(shape.hidden) * 32, blocks(shape.expert_width) * 32
    per_slot = hidden * 4 + width * 4 + (blocks(hidden) + blocks(width)) * 40 + 600
    rotary = len(shape.rope_frequencies) * 8
    routing = 2 * strips(shape.experts) * STRIP_ROWS * 4
    logits = program.buffers[program.output] * 4 * 2
    per_token = buffers + quantised + shape.top_k * per_slot + rotary + routing
    return chunk_tokens * per_token + logits + (4 << 20)


def _out_of_memory() -> StorageError:
    return StorageError(
        Text("The system gave no more memory."),
        Text("Close other programs, or lower the memory budget."),
    )
