"""Dense Llama-type models (Llama 2/3, SmolLM2 …). The feed-forward is cut into up to 8 blocks,
stored and streamed like experts and all used: exactly what the dense model computes."""

from __future__ import annotations

from collections.abc import Mapping

from engine.model.families import layers, reading
from engine.model.program import Program
from engine.model.shape import ModelShape
from engine.model.weights import WeightSpec
from engine.text import Text

MODEL_TYPE = "llama"
GGUF_ARCH = "llama"


def shape_from_config(config: Mapping[str, object]) -> ModelShape:
    """The shape from config.json. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.hf_config(config)
    if fields.flag("mlp_bias", False):
        raise fields.refuse("mlp_bias", Text("feed-forward biases are not known here"))
    sizes = reading.hf_sizes(fields)
    width = fields.integer("intermediate_size", 1, 1 << 24)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.dense_blocks(width),
            **reading.hf_constants(fields, sizes["head_dim"], eps=1e-6, theta=10_000.0),
            attention_bias=fields.flag("attention_bias", False),
            dense=True,
        )
    )


def shape_from_gguf(metadata: Mapping[str, object]) -> ModelShape:
    """The shape from a GGUF header. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.gguf_header(metadata)
    sizes = reading.gguf_sizes(fields, GGUF_ARCH)
    width = fields.integer(f"{GGUF_ARCH}.feed_forward_length", 1, 1 << 24)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.dense_blocks(width),
            **reading.gguf_constants(fields, GGUF_ARCH, sizes["head_dim"]),
            dense=True,
        )
    )


def weights(shape: ModelShape) -> list[WeightSpec]:
    """Every weight of the model."""
    specs = layers.outer_weights(shape)
    for layer in range(shape.layers):
        specs += layers.attention_weights(shape, layer, permuted=True)
        specs += layers.dense_weights(shape, layer)
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
