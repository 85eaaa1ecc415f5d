"""Which weights a model has, where each comes from in a checkpoint, and where it lives in the
container.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.formats import StrEnum


class Role(StrEnum):
    """Where a weight lives and in which number format."""

    MATRIX = "matrix"  # resident, quantised
    FLOAT = "float"  # resident, float32: norms, router, biases, sinks
    EMBEDDING = "embedding"  # rows read from disk on demand
    EXPERT = "expert"  # part of an expert record on the SSD


@dataclass(frozen=True)
class Source:
    """A tensor of the checkpoint and how to cut the weight out of it, applied in the order of the
    fields.
    """

    name: str
    index: int | None = None  # entry along the first axis of a stacked (experts, rows, cols) tensor
    transpose: bool = False
    rows: tuple[int, int] | None = None  # half-open
    cols: tuple[int, int] | None = None  # half-open
    unpermute_heads: int | None = None  # undo llama.cpp's rotary row order: heads in the matrix


@dataclass(frozen=True)
class WeightSpec:
    """One logical weight. `name` is ours: "layers.0.q"; experts: "layers.0.experts.5.gate"."""

    name: str
    shape: tuple[int, ...]
    role: Role
    hf: Source
    gguf: Source
    layer: int = -1
    expert: int = -1
    optional_gguf: bool = field(
        default=False
    )  # absent in GGUF when equal to another weight (tied head)
