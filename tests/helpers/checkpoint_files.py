"""Writes small GGUF and safetensors files by hand, valid ones and ones that lie."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.constants import GGML_QUANT_SIZES
from numpy.typing import NDArray

from engine.checkpoint.tensors import StoredTensor

BYTES = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]


def byte_letters() -> list[str]:
    """GPT-2's letter for each of the 256 bytes."""
    rest = [b for b in range(256) if b not in BYTES]
    return [chr(b) if b in BYTES else chr(256 + rest.index(b)) for b in range(256)]


def random_stored(kind: Type, shape: tuple[int, ...], seed: int = 0) -> NDArray[np.uint8]:
    """Random valid bytes of a stored type, (…, row bytes): any code, finite scales."""
    rng = np.random.default_rng(seed)
    values, size = GGML_QUANT_SIZES[kind]
    if values == 1:
        floats = rng.standard_normal(shape, np.float32)
        return gguf.quants.quantize(floats, kind).view(np.uint8)
    raw = rng.integers(0, 256, (*shape[:-1], shape[-1] // values, size), np.uint8)
    for at in _SCALES.get(kind, (0,)):
        halves = rng.uniform(0.001, 1.0, raw.shape[:-1]).astype(np.float16)
        raw[..., at : at + 2] = halves[..., None].view(np.uint8)
    if kind is Type.MXFP4:
        raw[..., 0] = rng.integers(100, 140, raw.shape[:-1])
    return raw.reshape(*shape[:-1], -1)


# Where the fp16 scales of a block are, if not only at its start (ggml-common.h).
_SCALES = {
    Type.Q4_1: (0, 2), Type.Q5_1: (0, 2), Type.Q4_K: (0, 2), Type.Q5_K: (0, 2), Type.Q2_K: (80, 82),
    Type.Q3_K: (108,), Type.Q6_K: (208,), Type.MXFP4: (),
}  # fmt: skip


def store(path: Path, kind: Type, shape: tuple[int, ...], seed: int = 0) -> StoredTensor:
    """A tensor alone in a file, a few bytes after its start."""
    raw = random_stored(kind, shape, seed).tobytes()
    path.write_bytes(b"start" + raw + b"end")
    return StoredTensor("w", shape, kind.name, len(raw), path, 5, GGML_QUANT_SIZES[kind])


def read_whole(tensor: StoredTensor) -> NDArray[np.float32]:
    """All of a stored tensor, by the gguf package."""
    raw = np.frombuffer(tensor.file.read_bytes(), np.uint8)[tensor.offset :][: tensor.nbytes]
    rows = raw.reshape(*tensor.shape[:-1], -1)
    return gguf.quants.dequantize(rows, Type[tensor.dtype]).reshape(tensor.shape)


def llama_header(writer: gguf.GGUFWriter, vocab: int = 64) -> None:
    """Metadata of a dense model of one layer, hidden 64, two heads, width 64."""
    writer.add_block_count(1)
    writer.add_context_length(128)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "b", "ab"]
    writer.add_token_list(tokens + [f"<{i}>" for i in range(vocab - len(tokens))])
    writer.add_token_types([3, 3, 3] + [1] * (vocab - 3))
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(2)


LLAMA_TENSORS: dict[str, tuple[int, ...]] = {
    "token_embd.weight": (64, 64),
    "output_norm.weight": (64,),
    "blk.0.attn_norm.weight": (64,),
    "blk.0.ffn_norm.weight": (64,),
    **{f"blk.0.attn_{part}.weight": (64, 64) for part in ("q", "k", "v", "output")},
    **{f"blk.0.ffn_{part}.weight": (64, 64) for part in ("gate", "up", "down")},
}


def write_llama_gguf(
    path: Path,
    kind: Type = Type.Q8_0,
    extra: Mapping[str, NDArray[Any]] | None = None,
    split: int = 0,
) -> dict[str, NDArray[np.float32]]:
    """A whole tiny model, matrices stored as `kind`; returns its tensors as floats."""
    writer = gguf.GGUFWriter(path, "llama", split_max_tensors=split)
    llama_header(writer)
    result = {}
    for seed, (name, shape) in enumerate(LLAMA_TENSORS.items()):
        stored = kind if len(shape) > 1 else Type.F32
        raw = random_stored(stored, shape, seed)
        writer.add_tensor(name, raw, raw_dtype=stored)
        result[name] = gguf.quants.dequantize(raw, stored)
    for name, tensor in (extra or {}).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return result


def safetensors_bytes(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    """A .safetensors file with any header; `length` lies about the header's size."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode("utf-8")
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(shape: list[Any], start: Any, end: Any, dtype: Any = "F32") -> dict[str, Any]:
    """One entry of a safetensors header."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
