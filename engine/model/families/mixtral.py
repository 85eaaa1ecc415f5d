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
    experts = fields.integer(fields.first("num_local_experts", "num_experts"), 1, 1 << 14)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            experts=experts,
            top_k=fields.integer("num_experts_per_tok", 1, experts),
            expert_width=fields.integer("intermediate_size", 1, 1 << 20),
            rms_eps=fields.number("rms_norm_eps", 0, 1, 1e-5),
            **reading.hf_rope(fields, sizes["head_dim"], 1_000_000.0),
            tied_embeddings=fields.flag("tie_word_embeddings", False),
            activation=reading.hf_activation(fields),
        )
    )


def shape_from_gguf(metadata: Mapping[str, object]) -> ModelShape:
    """The shape from a GGUF header. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.gguf_header(metadata)
    sizes = reading.gguf_sizes(fields, GGUF_ARCH)
    experts = fields.integer(f"{GGUF_ARCH}.expert_count", 1, 1 << 14)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            experts=experts,
            top_k=fields.integer(f"{GGUF_ARCH}.expert_used_count", 1, experts),
            expert_width=fields.integer(f"{GGUF_ARCH}.feed_forward_length", 1, 1 << 20),
            rms_eps=fields.number(f"{GGUF_ARCH}.attention.layer_norm_rms_epsilon", 0, 1),
            **reading.gguf_rope(fields, GGUF_ARCH, sizes["head_dim"], 10_000.0),
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
