"""What the families share in reading a config.json or a GGUF header: sizes, rotary options,
activation, and the checks on the finished shape. Pure functions; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from engine.errors import UnsupportedModelError
from engine.model.fields import Fields
from engine.model.rope import RopeKind, RopeScaling, attention_factor, frequencies
from engine.model.shape import Activation, ModelShape
from engine.text import Text

BLOCK = 32  # quantised blocks run along columns, so every matrix needs a multiple of this many
MAX_TOP_K = 64  # E0_MAX_TOP_K of the native executor
MAX_RECORDS = 1 << 16
ROPE_FACTORS = "rope_freqs.weight"  # a tensor (Llama 3); the GGUF reader adds it to the header

_ACTIVATIONS: dict[str, Activation] = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}
_ROPE_KINDS: dict[str, RopeKind] = {
    "default": "default",
    "none": "default",
    "linear": "linear",
    "dynamic": "dynamic",
    "llama3": "llama3",
    "yarn": "yarn",
}
POSITIONS = (1, 1 << 24)


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


def refuse_window(fields: Fields) -> None:
    """Refuses a sliding window that hides anything within the model's own limit."""
    limit = fields.integer("max_position_embeddings", *POSITIONS)
    if fields.integer("sliding_window", 1, 1 << 30, 1 << 30) < limit:
        text = Text("sliding-window attention is not known here")
        raise fields.refuse("sliding_window", text)


def hf_activation(fields: Fields) -> Activation:
    """The feed-forward's activation."""
    name = fields.text("hidden_act", "silu")
    if name not in _ACTIVATIONS:
        raise fields.refuse("hidden_act", Text("this activation is not known"))
    return _ACTIVATIONS[name]


class Rope(TypedDict):
    """The rotary part of a shape."""

    rope_frequencies: tuple[float, ...]
    rope_factor: float


def hf_rope(fields: Fields, head_dim: int, theta: float, partial: bool = False) -> Rope:
    """From `rope_parameters` (transformers 5) or the older flat keys. `theta`: the default base;
    `partial`: the family may rotate only the first columns of a head."""
    rope = fields.section(fields.first("rope_scaling", "rope_parameters"))
    base = rope.number("rope_theta", 1.5, 1e15, fields.number("rope_theta", 1.5, 1e15, theta))
    share = fields.number("partial_rotary_factor", 0, 1, 1.0)
    share = rope.number("partial_rotary_factor", 0, 1, share)
    dim = fields.integer("rotary_dim", 2, head_dim, int(head_dim * share)) if partial else head_dim
    if (share != 1 and not partial) or (dim != head_dim and dim % 2):
        text = Text("heads rotated in part are not known here")
        raise fields.refuse("partial_rotary_factor", text)
    scaling = _hf_scaling(rope, fields.integer("max_position_embeddings", *POSITIONS))
    return Rope(
        rope_frequencies=frequencies(dim, base, scaling), rope_factor=attention_factor(scaling)
    )


def _hf_scaling(rope: Fields, positions: int) -> RopeScaling:
    key = rope.first("rope_type", "type")
    kind = _ROPE_KINDS.get(rope.text(key, "default"))
    if kind is None:
        raise rope.refuse(key, Text("this way to extend the context is not known"))
    if kind in ("default", "dynamic"):
        return RopeScaling(kind)
    original = rope.integer("original_max_position_embeddings", *POSITIONS, positions)
    ratio = positions / original if kind == "yarn" else None
    factor = rope.number("factor", 1, 1e6, ratio)
    if kind == "llama3":
        low = rope.number("low_freq_factor", 1e-3, 1e3)
        high = rope.number("high_freq_factor", low * 1.001, 1e4)
        return RopeScaling(kind, factor, original, low, high)
    return _hf_yarn(rope, kind, factor, original)


def _hf_yarn(rope: Fields, kind: RopeKind, factor: float, original: int) -> RopeScaling:
    def optional(key: str) -> float | None:
        return rope.number(key, 0, 1e4) if rope.has(key) else None

    return RopeScaling(
        kind,
        factor,
        original,
        beta_fast=rope.number("beta_fast", 0, 1e6, 32.0) or 32.0,
        beta_slow=rope.number("beta_slow", 0, 1e6, 1.0) or 1.0,
        attention_factor=optional("attention_factor"),
        mscale=optional("mscale"),
        mscale_all_dim=optional("mscale_all_dim"),
        truncate=rope.flag("truncate", True),
    )


def gguf_rope(
    fields: Fields, arch: str, head_dim: int, theta: float, partial: bool = False
) -> Rope:
    """From `<arch>.rope.*`, and the tensor that holds Llama 3's scaling."""
    rotated = f"{arch}.rope.dimension_count"
    dim = fields.integer(rotated, 2, head_dim, head_dim)
    if dim != head_dim and (dim % 2 or not partial):
        raise fields.refuse(rotated, Text("heads rotated in part are not known here"))
    base = fields.number(f"{arch}.rope.freq_base", 1.5, 1e15, theta)
    scaling = _gguf_scaling(fields, arch)
    plain = frequencies(dim, base, scaling)
    if fields.has(ROPE_FACTORS):
        divisors = fields.numbers(ROPE_FACTORS, len(plain), 1e-3, 1e6)
        plain = tuple(f / divisor for f, divisor in zip(plain, divisors, strict=True))
    return Rope(rope_frequencies=plain, rope_factor=attention_factor(scaling))


def _gguf_scaling(fields: Fields, arch: str) -> RopeScaling:
    prefix = f"{arch}.rope.scaling"
    kind = _ROPE_KINDS.get(fields.text(f"{prefix}.type", "none"))
    unknown = Text("this way to extend the context is not known")
    if kind not in ("default", "linear", "yarn"):
        raise fields.refuse(f"{prefix}.type", unknown)
    if kind == "default":
        return RopeScaling()
    for key in ("attn_factor", "yarn_attn_factor", "yarn_ext_factor"):
        if fields.number(f"{prefix}.{key}", -1e6, 1e6, 1.0) != 1:
            raise fields.refuse(f"{prefix}.{key}", unknown)
    positions = fields.integer(f"{arch}.context_length", *POSITIONS)
    return RopeScaling(
        kind,
        fields.number(f"{prefix}.factor", 1, 1e6),
        fields.integer(f"{prefix}.original_context_length", *POSITIONS, positions),
        beta_fast=fields.number(f"{prefix}.yarn_beta_fast", 1e-3, 1e6, 32.0),
        beta_slow=fields.number(f"{prefix}.yarn_beta_slow", 1e-3, 1e6, 1.0),
    )


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
