"""What the families share in reading a config.json or a GGUF header: sizes, experts, constants,
and the checks on the finished shape. Pure functions; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from engine.errors import UnsupportedModelError
from engine.model.families.rotary import POSITIONS, Rope, gguf_rope, hf_rope
from engine.model.fields import Fields
from engine.model.shape import Activation, ModelShape
from engine.text import Text

BLOCK = 32  # quantised blocks run along columns, so every matrix needs a multiple of this many
MAX_TOP_K = 64  # E0_MAX_TOP_K of the native executor
MAX_EXPERTS = 1 << 14
MAX_RECORDS = 1 << 16

_ACTIVATIONS: dict[str, Activation] = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}


def hf_config(config: Mapping[str, object]) -> Fields:
    """The fields of a config.json, refusing checkpoints that are already quantised."""
    fields = Fields(config, "config.json")
    if fields.has("quantization_config"):
        method = fields.section("quantization_config").text("quant_method", "unknown")
        raise UnsupportedModelError(
            Text("The checkpoint is already quantised ({0}).", method),
            Text("Choose the original (BF16) version, or a GGUF."),
        )
    return fields


def gguf_header(metadata: Mapping[str, object]) -> Fields:
    """The fields of a GGUF header."""
    return Fields(metadata, Text("the GGUF header"))


class Sizes(TypedDict):
    """The part of a shape that every family reads alike."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    max_positions: int


def hf_sizes(fields: Fields) -> Sizes:
    """Sizes from a config.json."""
    hidden = fields.integer("hidden_size", 1, 1 << 17)
    heads = fields.integer("num_attention_heads", 1, 1 << 12)
    return Sizes(
        layers=fields.integer("num_hidden_layers", 1, 1 << 12),
        hidden=hidden,
        heads=heads,
        kv_heads=fields.integer("num_key_value_heads", 1, heads, heads),
        head_dim=fields.integer("head_dim", 2, 1 << 12, max(hidden // heads, 2)),
        vocab=fields.integer("vocab_size", 1, 1 << 24),
        max_positions=fields.integer("max_position_embeddings", *POSITIONS),
    )


def gguf_sizes(fields: Fields, arch: str) -> Sizes:
    """Sizes from a GGUF header."""
    hidden = fields.integer(f"{arch}.embedding_length", 1, 1 << 17)
    heads = fields.integer(f"{arch}.attention.head_count", 1, 1 << 12)
    head_dim = fields.integer(f"{arch}.attention.key_length", 2, 1 << 12, max(hidden // heads, 2))
    values = f"{arch}.attention.value_length"
    if fields.integer(values, 1, 1 << 12, head_dim) != head_dim:
        text = Text("values of another width than keys are not known here")
        raise fields.refuse(values, text)
    return Sizes(
        layers=fields.integer(f"{arch}.block_count", 1, 1 << 12),
        hidden=hidden,
        heads=heads,
        kv_heads=fields.integer(f"{arch}.attention.head_count_kv", 1, heads, heads),
        head_dim=head_dim,
        vocab=gguf_vocab(fields, arch),
        max_positions=fields.integer(f"{arch}.context_length", *POSITIONS),
    )


class ExpertSizes(TypedDict):
    """The feed-forward part of a shape."""

    experts: int
    top_k: int
    expert_width: int


def hf_experts(fields: Fields, *counts: str, width: str) -> ExpertSizes:
    """Experts from a config.json; `counts`: names of their number, the family's own one first."""
    experts = fields.integer(fields.first(*counts), 1, MAX_EXPERTS)
    return ExpertSizes(
        experts=experts,
        top_k=fields.integer("num_experts_per_tok", 1, experts),
        expert_width=fields.integer(width, 1, 1 << 20),
    )


def gguf_experts(fields: Fields, arch: str, width: str) -> ExpertSizes:
    """Experts from a GGUF header."""
    experts = fields.integer(f"{arch}.expert_count", 1, MAX_EXPERTS)
    return ExpertSizes(
        experts=experts,
        top_k=fields.integer(f"{arch}.expert_used_count", 1, experts),
        expert_width=fields.integer(f"{arch}.{width}", 1, 1 << 20),
    )


def dense_blocks(width: int) -> ExpertSizes:
    """A dense feed-forward's most blocks, up to 8, whose width stays a multiple of 32 columns."""
    count = next((n for n in range(8, 1, -1) if width % (n * BLOCK) == 0), 1)
    return ExpertSizes(experts=count, top_k=count, expert_width=width // count)


class Constants(Rope):
    """What a GGUF header says of norms and rotation."""

    rms_eps: float


class HfConstants(Constants):
    """A config.json says more: GGUF has it in its tensors and architecture."""

    tied_embeddings: bool
    activation: Activation


def hf_constants(
    fields: Fields, head_dim: int, eps: float, theta: float, partial: bool = False
) -> HfConstants:
    """From a config.json. `eps`, `theta`: the family's defaults; `partial`: see `hf_rope`."""
    return HfConstants(
        rms_eps=fields.number("rms_norm_eps", 0, 1, eps),
        **hf_rope(fields, head_dim, theta, partial),
        tied_embeddings=fields.flag("tie_word_embeddings", False),
        activation=_hf_activation(fields),
    )


def gguf_constants(fields: Fields, arch: str, head_dim: int, partial: bool = False) -> Constants:
    """From a GGUF header."""
    return Constants(
        rms_eps=fields.number(f"{arch}.attention.layer_norm_rms_epsilon", 0, 1),
        **gguf_rope(fields, arch, head_dim, 10_000.0, partial),
    )


def refuse_window(fields: Fields) -> None:
    """Refuses a sliding window that hides anything within the model's own limit."""
    limit = fields.integer("max_position_embeddings", *POSITIONS)
    if fields.integer("sliding_window", 1, 1 << 30, 1 << 30) < limit:
        text = Text("sliding-window attention is not known here")
        raise fields.refuse("sliding_window", text)


def _hf_activation(fields: Fields) -> Activation:
    """The feed-forward's activation."""
    name = fields.text("hidden_act", "silu")
    if name not in _ACTIVATIONS:
        raise fields.refuse("hidden_act", Text("this activation is not known"))
    return _ACTIVATIONS[name]


def gguf_vocab(fields: Fields, arch: str) -> int:
    """Tokens in the vocabulary: the tokenizer's list where there is one."""
    if fields.has("tokenizer.ggml.tokens"):
        return fields.length("tokenizer.ggml.tokens")
    return fields.integer(f"{arch}.vocab_size", 1, 1 << 24)


def checked(shape: ModelShape) -> ModelShape:
    """The shape, if its numbers fit together and our formats can hold its matrices."""
    for problem, found in _problems(shape).items():
        if found:
            raise UnsupportedModelError(
                Text("This {0} model cannot be run: {1}.", shape.model_type, problem),
                Text("Choose another model, or fetch this one again if it should work."),
            )
    return shape


def _problems(shape: ModelShape) -> dict[Text, int]:
    """Above 0: it is one."""
    return {
        Text("heads are not a multiple of the key/value heads"): shape.heads % shape.kv_heads,
        Text("the head size is not a multiple of 16"): shape.head_dim % 16,
        Text("more than {0} experts are used for a token", MAX_TOP_K): shape.top_k > MAX_TOP_K,
        Text("the hidden size is not a multiple of {0}", BLOCK): shape.hidden % BLOCK,
        Text("heads times head size is not a multiple of {0}", BLOCK): shape.q_width % BLOCK,
        Text("the expert width is not a multiple of {0}", BLOCK): shape.expert_width % BLOCK,
        Text("more experts are used than there are"): shape.top_k > shape.experts,
        Text("there are more than {0} experts", MAX_RECORDS): (
            shape.layers * shape.experts > MAX_RECORDS
        ),
    }
