"""Writes a GGUF of Qwen3-30B-A3B's shape with random weights and a realistic, skewed router.

python -m tests.bench.synth_gguf OUT.gguf [--layers 48] [--tokenizer GGUF]      17 GB, a minute

What the tensors hold, and why: `synth_weights`. Each has its own random stream: same arguments,
same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from tests.bench.synth_weights import (
    EXPERTS,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    TOP_K,
    VOCAB,
    WIDTH,
    Maker,
    Tensor,
    Type,
    tensors,
)


def write(out: Path, tokenizer: Path, layers: int = LAYERS, seed: int = 1) -> Path:
    """Write the file; it appears under its name when it is complete."""
    partial = out.with_name(out.name + ".partial")
    writer = gguf.GGUFWriter(partial, "qwen3moe", use_temp_file=False)
    _add_header(writer, layers)
    _copy_tokenizer(writer, gguf.GGUFReader(tokenizer))
    found, maker = tensors(layers), Maker(layers, seed)
    for tensor in found:
        _add_tensor(writer, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in found:
        writer.write_tensor_data(maker.make(tensor).reshape(tensor.stored_shape))
    writer.close()
    return partial.replace(out)


def _add_header(writer: gguf.GGUFWriter, layers: int) -> None:
    writer.add_name("synthetic-30b-a3b-z")
    writer.add_file_type(2)
    writer.add_quantization_version(2)
    writer.add_block_count(layers)
    writer.add_context_length(32768)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(6144)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(TOP_K)
    writer.add_expert_feed_forward_length(WIDTH)
    writer.add_vocab_size(VOCAB)


def _copy_tokenizer(writer: gguf.GGUFWriter, reader: gguf.GGUFReader) -> None:
    kinds = gguf.GGUFValueType
    adders: dict[gguf.GGUFValueType, Callable[[str, Any], None]] = {
        kinds.ARRAY: writer.add_array,
        kinds.STRING: writer.add_string,
        kinds.BOOL: writer.add_bool,
    }
    for name, field in reader.fields.items():
        if name.startswith("tokenizer."):
            adders.get(field.types[0], writer.add_uint32)(name, field.contents())


def _add_tensor(writer: gguf.GGUFWriter, tensor: Tensor) -> None:
    if tensor.type is Type.F32:
        size = prod(tensor.shape) * 4
        writer.add_tensor_info(tensor.name, tensor.shape, np.dtype(np.float32), size)
        return
    shape = tensor.stored_shape
    dtype = np.dtype(np.uint8)
    writer.add_tensor_info(tensor.name, shape, dtype, prod(shape), raw_dtype=tensor.type)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", type=int, default=LAYERS, choices=range(1, LAYERS + 1))
    parser.add_argument("--tokenizer", type=Path, help="a GGUF of 49152 tokens; default: starter's")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(write(options.out, options.tokenizer or _starter(), options.layers, options.seed))


def _starter() -> Path:
    from tests.helpers.starter import cached_gguf

    return cached_gguf()


if __name__ == "__main__":
    main()
