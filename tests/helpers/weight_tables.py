"""Reads every weight of a family straight from a tiny checkpoint, by its specs alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
import torch
from safetensors.numpy import load_file

from engine.kernels.reference import WeightTable
from engine.model.families.registry import Family
from engine.model.shape import ModelShape
from engine.model.weights import Source


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(header, float32 tensors by name) of a small GGUF."""
    reader = gguf.GGUFReader(path)
    header = {name: field.contents() for name, field in reader.fields.items()}
    tensors = {t.name: gguf.dequantize(t.data, t.tensor_type) for t in reader.tensors}
    return header, tensors


def read_safetensors(path: Path) -> dict[str, Any]:
    """float32 tensors by name of a small checkpoint folder."""
    return dict(load_file(path / "model.safetensors"))


def table(
    family: Family, shape: ModelShape, tensors: dict[str, Any], kind: Literal["hf", "gguf"]
) -> WeightTable:
    """Every weight of the model by its logical name."""
    result: dict[str, Any] = {}
    for spec in family.weights(shape):
        source = spec.hf if kind == "hf" else spec.gguf
        if source.name not in tensors and spec.optional_gguf:
            result[spec.name] = result["embedding"]
            continue
        weight = _cut(tensors[source.name], source)
        assert weight.shape == spec.shape, spec
        result[spec.name] = torch.from_numpy(np.array(weight, np.float32))
    return WeightTable(result)


def _cut(tensor: Any, source: Source) -> Any:
    if source.index is not None:
        tensor = tensor[source.index]
    if source.transpose:
        tensor = tensor.T
    tensor = tensor[slice(*(source.rows or (None,)))]
    if source.cols:
        tensor = tensor[:, slice(*source.cols)]
    if source.unpermute_heads:
        pairs = tensor.reshape(source.unpermute_heads, -1, 2, *tensor.shape[1:])
        tensor = pairs.swapaxes(1, 2).reshape(tensor.shape)
    return tensor
