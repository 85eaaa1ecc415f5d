"""How many bytes and multiplications of weights one token costs, from headers alone.

What a decoded token must read bounds decode by memory speed; what a prefilled one multiplies, times
the speed, is the arithmetic reached. Attention over the context is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path

import gguf

from engine.container.reader import Container
from engine.model.weights import Role


@dataclass(frozen=True)
class TokenCost:
    """bytes: weights a decoded token reads. flops: of a prefilled token, the head left out."""

    bytes: int
    flops: int


def container_cost(path: Path) -> TokenCost:
    """Of a converted model."""
    container = Container.open(path)
    shape = container.shape
    resident = [t for t in container.manifest.tensors.values() if t.role is not Role.EMBEDDING]
    used = [m for i in range(shape.layers) for m in container.layout(i).matrices]
    size = sum(t.bytes for t in resident) + shape.top_k * sum(m.bytes for m in used)
    weights = sum(prod(t.shape) for t in resident if t.name != "head" and len(t.shape) == 2)
    weights += shape.top_k * sum(m.rows * m.cols for m in used)
    container.close()
    return TokenCost(size, 2 * weights)


def gguf_cost(path: Path) -> TokenCost:
    """Of a GGUF file."""
    reader = gguf.GGUFReader(path)
    share = _expert_share(reader)
    tied = all(tensor.name != "output.weight" for tensor in reader.tensors)
    size = weights = 0.0
    for tensor in reader.tensors:
        part = share if "_exps" in tensor.name else 1.0
        embedding = tensor.name == "token_embd.weight"
        if not embedding or tied:
            size += part * int(tensor.n_bytes)
        if not embedding and tensor.name != "output.weight" and len(tensor.shape) > 1:
            weights += part * int(tensor.n_elements)
    return TokenCost(round(size), 2 * round(weights))


def _expert_share(reader: gguf.GGUFReader) -> float:
    fields = {name.partition(".")[2]: field for name, field in reader.fields.items()}
    if "expert_used_count" not in fields:
        return 1.0
    used, count = (fields[name].contents() for name in ("expert_used_count", "expert_count"))
    return float(used / count)
