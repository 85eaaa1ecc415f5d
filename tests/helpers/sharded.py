"""Cuts a checkpoint of one safetensors file into shards with an index, as large models come."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.numpy import load_file, save_file


def shard(folder: Path, count: int) -> Path:
    """Rewrites the folder's model.safetensors as `count` shards."""
    whole = folder / "model.safetensors"
    tensors = load_file(whole)
    names = sorted(tensors)
    places = {}
    for number in range(count):
        file = f"model-{number + 1:05}-of-{count:05}.safetensors"
        mine = names[number::count]
        save_file({name: tensors[name] for name in mine}, folder / file, {"format": "pt"})
        places |= dict.fromkeys(mine, file)
    size = sum(tensor.nbytes for tensor in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    whole.unlink()
    return folder
