"""Random experts in a record file of the container's layout, and the programs that run them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.container.record import Matrices, file_name, header_bytes, place_records, record_layout
from engine.formats import RECORD_ALIGN, Blocks, NumberFormat
from engine.kernels import native
from engine.kernels.packing import pack
from engine.model.executor import record_matrices
from engine.store.policy import LeastRecentlyUsed, Policy
from engine.store.store import LANES, ExpertStore, Mode
from tests.helpers.native_program import Floats, NativeProgram, random_blocks, random_floats

Matrix = Blocks | Floats
UNIFORM = dict.fromkeys(("gate", "up", "down"), NumberFormat.NF4)


@dataclass(frozen=True)
class ExpertFiles:
    """What the store and the executor ask of a container, and the experts' weights."""

    shape: Any
    manifest: Any
    files: list[Path]
    weights: list[list[tuple[Matrix, ...]]]  # [layer][expert]: gate, up, down

    def layout(self, layer: int) -> Any:
        """How a record is divided."""
        return self.manifest.layouts[0]

    def store(
        self,
        mode: Mode,
        slots: int,
        policy: Policy | None = None,
        lanes: int = LANES,
        unit_bytes: int = 4096,
    ) -> ExpertStore:
        """A store over the files. Records are whole pages: where a page is what the system maps
        at once, slots and mapped bytes bound the same records."""
        policy = policy or LeastRecentlyUsed(self.shape.layers * self.shape.experts)
        return ExpertStore(self, mode, slots, policy, lanes, unit_bytes)  # type: ignore[arg-type]

    def attach(self, program: NativeProgram, store: ExpertStore) -> None:
        """Let a program run the experts out of a store."""
        for layer in range(self.shape.layers):
            gate, up, down = record_matrices(self, layer)  # type: ignore[arg-type]
            native.library().e0_exec_set_record(program.context, layer, gate, up, down)
        native.library().e0_exec_set_store(program.context, store.handle)


def write_experts(
    folder: Path,
    layers: int = 2,
    experts: int = 4,
    hidden: int = 64,
    width: int = 32,
    top_k: int = 2,
    formats: Matrices = UNIFORM,  # type: ignore[assignment]
) -> ExpertFiles:
    """Random experts in one file; their order in it is the reverse of their numbers."""
    shape: Any = SimpleNamespace(
        layers=layers, experts=experts, hidden=hidden, expert_width=width, top_k=top_k
    )
    layout = record_layout(shape, formats, RECORD_ALIGN)
    order = [list(reversed(range(experts)))] * layers
    _, records = place_records([layout], [0] * layers, order, RECORD_ALIGN)
    weights = [
        [_random_expert(layout, (layer * experts + expert) * 3) for expert in range(experts)]
        for layer in range(layers)
    ]
    path = folder / file_name(0)
    with open(path, "wb") as file:
        file.write(bytes(header_bytes(RECORD_ALIGN)))
        for record in records:
            parts = zip(layout.matrices, weights[record.layer][record.expert], strict=True)
            data = b"".join(pack(weight, m.format).tobytes() for m, weight in parts)
            file.write(data.ljust(record.bytes, b"\0"))
    manifest = SimpleNamespace(layouts=(layout,), records=records)
    return ExpertFiles(shape, manifest, [path], weights)


def _random_expert(layout: Any, seed: int) -> tuple[Matrix, ...]:
    return tuple(
        _random_matrix(m.format, m.rows, m.cols, seed + i) for i, m in enumerate(layout.matrices)
    )


def _random_matrix(fmt: NumberFormat, rows: int, cols: int, seed: int) -> Matrix:
    if fmt is NumberFormat.BF16:
        bits = random_floats(rows, cols, seed=seed).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32)
    return random_blocks(fmt, rows, cols, seed)
