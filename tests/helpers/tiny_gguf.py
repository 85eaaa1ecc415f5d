"""Rewrites a tiny safetensors checkpoint as GGUF, as llama.cpp's converter does: its names, its
stacked experts, its row order of q and k. Names come from the gguf package, not from our tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[np.float32]
_ARCH = {
    "qwen3_moe": gguf.MODEL_ARCH.QWEN3MOE,
    "mixtral": gguf.MODEL_ARCH.LLAMA,
    "olmoe": gguf.MODEL_ARCH.OLMOE,
    "minimax_m2": gguf.MODEL_ARCH.MINIMAXM2,
    "llama": gguf.MODEL_ARCH.LLAMA,
}
_MIXTRAL_PARTS = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}


def write_tiny_gguf(checkpoint: Path, out: Path) -> Path:
    """Writes the checkpoint's weights and header, float32, to `out`."""
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    arch = _ARCH[config["model_type"]]
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[arch])
    _write_header(writer, config)
    names = gguf.get_tensor_name_map(arch, config["num_hidden_layers"])
    for name, tensor in _stacked(load_file(checkpoint / "model.safetensors")).items():
        if arch is gguf.MODEL_ARCH.LLAMA:
            tensor = _permuted(name, tensor, config)
        writer.add_tensor(_gguf_name(names, name), tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out


def _write_header(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    rope = config["rope_parameters"]
    writer.add_rope_freq_base(rope["rope_theta"])
    if "partial_rotary_factor" in rope:
        head = config["head_dim"]
        writer.add_rope_dimension_count(int(head * rope["partial_rotary_factor"]))
    writer.add_vocab_size(config["vocab_size"])
    if config.get("head_dim"):
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
    experts = config.get("num_local_experts") or config.get("num_experts")
    if experts:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(config["num_experts_per_tok"])
        width = config.get("moe_intermediate_size") or config["intermediate_size"]
        writer.add_expert_feed_forward_length(width)
    writer.add_tokenizer_model("gpt2")
    words = ["a", "b", "ab"]
    writer.add_token_list(words + [f"token{i}" for i in range(3, config["vocab_size"])])
    writer.add_token_merges(["a b"])


def _gguf_name(names: Any, name: str) -> str:
    if name.endswith(".e_score_correction_bias"):  # llama.cpp's converter renames it first
        name = name.removesuffix("_bias") + ".bias"
    found = names.get_name(name, (".weight", ".bias"))
    assert found is not None, name
    return str(found)


def _stacked(tensors: dict[str, Array]) -> dict[str, Array]:
    """Per-expert tensors joined along a new first axis, under the name gguf's table knows."""
    result: dict[str, Array] = {}
    groups: dict[str, dict[int, Array]] = {}
    for name, tensor in tensors.items():
        match = re.fullmatch(r"(.*)\.experts\.(\d+)\.(\w+)\.weight", name)
        if match is None:
            result[name] = tensor
            continue
        layer = match[1].replace("block_sparse_moe", "mlp")
        part = _MIXTRAL_PARTS.get(match[3], match[3])
        groups.setdefault(f"{layer}.experts.{part}.weight", {})[int(match[2])] = tensor
    for name, experts in groups.items():
        result[name] = np.stack([experts[i] for i in sorted(experts)])
    return result


def _permuted(name: str, tensor: Array, config: dict[str, Any]) -> Array:
    """llama.cpp keeps the two columns of a rotary pair next to each other."""
    key = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
    part = name.split(".")[-2]
    if part not in key:
        return tensor
    heads = config[key[part]]
    halves = tensor.reshape(heads, 2, -1, *tensor.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(tensor.shape)
