"""MiniMax-M2: norms on q and k over all heads at once, half-rotated heads, a sigmoid router with a
bias for choosing, experts in every layer."""

from __future__ import annotations

from collections.abc import Mapping

from engine.model.families import layers, reading
from engine.model.program import Program
from engine.model.shape import ModelShape
from engine.model.weights import Role, Source, WeightSpec
from engine.text import Text

MODEL_TYPE = "minimax_m2"
GGUF_ARCH = "minimax-m2"

_SIGMOID = 2  # llama.cpp's llama_expert_gating_func_type
_EXPERTS = {
    "gate": "block_sparse_moe.experts.{expert}.w1",
    "up": "block_sparse_moe.experts.{expert}.w3",
    "down": "block_sparse_moe.experts.{expert}.w2",
}


def shape_from_config(config: Mapping[str, object]) -> ModelShape:
    """The shape from config.json. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.hf_config(config)
    if fields.text("scoring_func", "sigmoid") != "sigmoid":
        raise fields.refuse("scoring_func", Text("this router is not known here"))
    sizes = reading.hf_sizes(fields)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.hf_experts(
                fields, "num_local_experts", "num_experts", width="intermediate_size"
            ),
            **reading.hf_constants(
                fields, sizes["head_dim"], eps=1e-6, theta=5_000_000.0, partial=True
            ),
        )
    )


def shape_from_gguf(metadata: Mapping[str, object]) -> ModelShape:
    """The shape from a GGUF header. Raises CheckpointError, UnsupportedModelError."""
    fields = reading.gguf_header(metadata)
    gating = f"{GGUF_ARCH}.expert_gating_func"
    if fields.integer(gating, 0, 255, _SIGMOID) != _SIGMOID:
        raise fields.refuse(gating, Text("this router is not known here"))
    sizes = reading.gguf_sizes(fields, GGUF_ARCH)
    return reading.checked(
        ModelShape(
            MODEL_TYPE,
            **sizes,
            **reading.gguf_experts(fields, GGUF_ARCH, "expert_feed_forward_length"),
            **reading.gguf_constants(fields, GGUF_ARCH, sizes["head_dim"], partial=True),
        )
    )


def weights(shape: ModelShape) -> list[WeightSpec]:
    """Every weight of the model."""
    specs = layers.outer_weights(shape)
    for layer in range(shape.layers):
        specs += layers.attention_weights(shape, layer, norms="row")
        specs.append(layers.router_weight(shape, layer, "block_sparse_moe.gate"))
        specs.append(_router_bias(shape, layer))
        specs += layers.expert_weights(shape, layer, _EXPERTS)
    return specs


def _router_bias(shape: ModelShape, layer: int) -> WeightSpec:
    return WeightSpec(
        f"layers.{layer}.router_bias",
        (shape.experts,),
        Role.FLOAT,
        Source(f"model.layers.{layer}.block_sparse_moe.e_score_correction_bias"),
        Source(f"blk.{layer}.exp_probs_b.bias"),
        layer,
    )


def program(shape: ModelShape) -> Program:
    """The ops of the model."""
    return layers.decoder(
        shape,
        [
            layers.attention_ops(shape, layer, norms="row")
            + layers.expert_ops(shape, layer, score="sigmoid", bias=True)
            for layer in range(shape.layers)
        ],
    )
