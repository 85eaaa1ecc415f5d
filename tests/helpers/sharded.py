"""Cuts a checkpoint of one safetensors file into shards with an index, as large models come."""

from __future__ import annotations

import json
import re
from pathlib import Path

from safetensors.numpy import load_file, save_file


def shard(folder: Path, count: int, in_order: bool = False) -> Path:
    """Rewrites the folder's model.safetensors as `count` shards.

    in_order: as large models really come, layer after layer; else each layer is in every shard.
    """
    whole = folder / "model.safetensors"
    tensors = load_file(whole)
    names = sorted(tensors, key=_layer) if in_order else sorted(tensors)
    share = -(-len(names) // count)
    places = {}
    for number in range(count):
        file = f"model-{number + 1:05}-of-{count:05}.safetensors"
        start = number * share
        mine = names[start : start + share] if in_order else names[number::count]
        save_file({name: tensors[name] for name in mine}, folder / file, {"format": "pt"})
        places |= dict.fromkeys(mine, file)
    size = sum(tensor.nbytes for tensor in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    whole.unlink()
    return folder


def _layer(name: str) -> tuple[int, str]:
    """Embedding, layers, then norm and head, each layer's weights together."""
    match = re.search(r"layers\.(\d+)\.", name)
    if match:
        return int(match[1]), name
    return (-1 if "embed" in name else 10**6), name
