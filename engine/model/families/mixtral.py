"""Mixtral (8x7B, 8x22B): Llama's attention, experts in every layer. GGUF calls it "llama"."""

from __future__ import annotations

from collections.abc import Mapping

from engine.model.families import layers, reading
from engine.model.program import Program
from engine.model.shape import ModelShape
from engine.model.weights import WeightSpec

MODEL_TYPE = "mixtral"
GGUF_ARCH = "llama"

_EXPERTS = {
    "gate": "block_sparse_moe.experts.{expert}.w1",
    "up": "block_sparse_moe.experts.{expert}.w3",
    "down": "block_sparse_moe.experts.{expert}.w2",
}


def shape_from_config(config: Mapping[str, object]) -> ModelShape:
    """The shape from config.json. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.hf_config(config)
    reading.refuse_window(fields)
    sizes = reading.hf_sizes(fields)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.hf_experts(
                fields, "num_local_experts", "num_experts", width="intermediate_size"
            ),
            **reading.hf_constants(fields, sizes["head_dim"], eps=1e-5, theta=1_000_000.0),
        )
    )


def shape_from_gguf(metadata: Mapping[str, object]) -> ModelShape:
    """The shape from a GGUF header. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.gguf_header(metadata)
    sizes = reading.gguf_sizes(fields, GGUF_ARCH)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.gguf_experts(fields, GGUF_ARCH, "feed_forward_length"),
            **reading.gguf_constants(fields, GGUF_ARCH, sizes["head_dim"]),
        )
    )


def weights(shape: ModelShape) -> list[WeightSpec]:
    """Every weight of the model."""
    specs = layers.outer_weights(shape)
    for layer in range(shape.layers):
        specs += layers.attention_weights(shape, layer, permuted=True)
        specs.append(layers.router_weight(shape, layer, "block_sparse_moe.gate"))
        specs += layers.expert_weights(shape, layer, _EXPERTS)
    return specs


def program(shape: ModelShape) -> Program:
    """The ops of the model."""
    return layers.decoder(
        shape,
        [
            layers.attention_ops(shape, layer) + layers.expert_ops(shape, layer)
            for layer in range(shape.layers)
        ],
    )
