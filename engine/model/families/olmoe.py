"""OLMoE (1B-7B): norms on q and k over all heads at once, experts in every layer."""

from __future__ import annotations

from collections.abc import Mapping

from engine.model.families import layers, reading
from engine.model.program import Program
from engine.model.shape import ModelShape
from engine.model.weights import WeightSpec
from engine.text import Text

MODEL_TYPE = "olmoe"
GGUF_ARCH = "olmoe"

_EXPERTS = {part: f"mlp.experts.{{expert}}.{part}_proj" for part in ("gate", "up", "down")}


def shape_from_config(config: Mapping[str, object]) -> ModelShape:
    """The shape from config.json. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.hf_config(config)
    if fields.has("clip_qkv"):
        raise fields.refuse("clip_qkv", Text("clipped attention inputs are not known here"))
    sizes = reading.hf_sizes(fields)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.hf_experts(fields, "num_experts", width="intermediate_size"),
            **reading.hf_constants(fields, sizes["head_dim"], eps=1e-5, theta=10_000.0),
            norm_topk=fields.flag("norm_topk_prob", False),
            attention_bias=fields.flag("attention_bias", False),
        )
    )


def shape_from_gguf(metadata: Mapping[str, object]) -> ModelShape:
    """The shape from a GGUF header. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.gguf_header(metadata)
    clamp = f"{GGUF_ARCH}.attention.clamp_kqv"
    if fields.number(clamp, 0, 1e9, 0.0):
        raise fields.refuse(clamp, Text("clipped attention inputs are not known here"))
    sizes = reading.gguf_sizes(fields, GGUF_ARCH)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.gguf_experts(fields, GGUF_ARCH, "feed_forward_length"),
            **reading.gguf_constants(fields, GGUF_ARCH, sizes["head_dim"]),
            norm_topk=fields.flag(f"{GGUF_ARCH}.expert_weights_norm", False),
        )
    )


def weights(shape: ModelShape) -> list[WeightSpec]:
    """Every weight of the model."""
    specs = layers.outer_weights(shape)
    for layer in range(shape.layers):
        specs += layers.attention_weights(shape, layer, norms="row")
        specs.append(layers.router_weight(shape, layer, "mlp.gate"))
        specs += layers.expert_weights(shape, layer, _EXPERTS)
    return specs


def program(shape: ModelShape) -> Program:
    """The ops of the model."""
    return layers.decoder(
        shape,
        [
            layers.attention_ops(shape, layer, norms="row") + layers.expert_ops(shape, layer)
            for layer in range(shape.layers)
        ],
    )
