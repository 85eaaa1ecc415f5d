"""Reads rotary options of a config.json or a GGUF header: base, rotated columns, and how the
context is extended. Pure functions; no I/O."""

from __future__ import annotations

from typing import TypedDict

from engine.model.fields import Fields
from engine.model.rope import RopeKind, RopeScaling, attention_factor, frequencies
from engine.text import Text

ROPE_FACTORS = "rope_freqs.weight"  # a tensor (Llama 3); the GGUF reader adds it to the header
POSITIONS = (1, 1 << 24)

_ROPE_KINDS: dict[str, RopeKind] = {
    "default": "default",
    "none": "default",
    "linear": "linear",
    "dynamic": "dynamic",
    "llama3": "llama3",
    "yarn": "yarn",
}


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
