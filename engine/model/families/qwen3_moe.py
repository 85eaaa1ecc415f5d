"""Qwen3 MoE (30B-A3B, 235B-A22B, Coder): norms on the heads of q and k, experts in every layer."""

from __future__ import annotations

from collections.abc import Mapping

from engine.model.families import layers, reading
from engine.model.fields import Fields
from engine.model.program import Program
from engine.model.shape import ModelShape
from engine.model.weights import WeightSpec
from engine.text import Text

MODEL_TYPE = "qwen3_moe"
GGUF_ARCH = "qwen3moe"

_EXPERTS = {
    "gate": "mlp.experts.{expert}.gate_proj",
    "up": "mlp.experts.{expert}.up_proj",
    "down": "mlp.experts.{expert}.down_proj",
}


def shape_from_config(config: Mapping[str, object]) -> ModelShape:
    """The shape from config.json. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.hf_config(config)
    _refuse_unknown(fields)
    sizes = reading.hf_sizes(fields)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.hf_experts(
                fields, "num_experts", "num_local_experts", width="moe_intermediate_size"
            ),
            **reading.hf_constants(fields, sizes["head_dim"], eps=1e-6, theta=10_000.0),
            norm_topk=fields.flag("norm_topk_prob", False),
            attention_bias=fields.flag("attention_bias", False),
        )
    )


def _refuse_unknown(fields: Fields) -> None:
    if fields.integer("decoder_sparse_step", 1, 1 << 20, 1) != 1:
        raise fields.refuse(
            "decoder_sparse_step", Text("layers without experts are not known here")
        )
    if fields.has("mlp_only_layers") and fields.length("mlp_only_layers"):
        raise fields.refuse("mlp_only_layers", Text("layers without experts are not known here"))
    if fields.flag("use_sliding_window", False):
        raise fields.refuse(
            "use_sliding_window", Text("sliding-window attention is not known here")
        )


def shape_from_gguf(metadata: Mapping[str, object]) -> ModelShape:
    """The shape from a GGUF header. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.gguf_header(metadata)
    sizes = reading.gguf_sizes(fields, GGUF_ARCH)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.gguf_experts(fields, GGUF_ARCH, "expert_feed_forward_length"),
            **reading.gguf_constants(fields, GGUF_ARCH, sizes["head_dim"]),
            norm_topk=fields.flag(f"{GGUF_ARCH}.expert_weights_norm", True),
        )
    )


def weights(shape: ModelShape) -> list[WeightSpec]:
    """Every weight of the model."""
    specs = layers.outer_weights(shape)
    for layer in range(shape.layers):
        specs += layers.attention_weights(shape, layer, norms="head")
        specs.append(layers.router_weight(shape, layer, "mlp.gate"))
        specs += layers.expert_weights(shape, layer, _EXPERTS)
    return specs


def program(shape: ModelShape) -> Program:
    """The ops of the model."""
    return layers.decoder(
        shape,
        [
            layers.attention_ops(shape, layer, norms="head") + layers.expert_ops(shape, layer)
            for layer in range(shape.layers)
        ],
    )
