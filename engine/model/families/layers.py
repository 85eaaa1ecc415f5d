"""What the families share in weights and ops: an ordinary pre-norm decoder layer, grouped attention
then experts. Buffers: x residual, h normed, q k v a attention, y a block's output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from engine.model.program import (
    Add,
    Attention,
    Experts,
    Linear,
    Op,
    Program,
    RmsNorm,
    Rotary,
    Router,
    ScoreFunction,
)
from engine.model.shape import ModelShape
from engine.model.weights import Role, Source, WeightSpec

Norms = Literal["none", "head", "row"]  # of q and k: over each head, or over all heads at once

# Our name of a layer's weight → (HF, GGUF) name inside "model.layers.3." and "blk.3.".
_NAMES = {
    "attention_norm": ("input_layernorm", "attn_norm"),
    "q": ("self_attn.q_proj", "attn_q"),
    "k": ("self_attn.k_proj", "attn_k"),
    "v": ("self_attn.v_proj", "attn_v"),
    "o": ("self_attn.o_proj", "attn_output"),
    "q_norm": ("self_attn.q_norm", "attn_q_norm"),
    "k_norm": ("self_attn.k_norm", "attn_k_norm"),
    "ffn_norm": ("post_attention_layernorm", "ffn_norm"),
}


def outer_weights(shape: ModelShape) -> list[WeightSpec]:
    """Embedding, final norm and head. A tied head is the embedding's tensor in both sources."""
    table = (shape.vocab, shape.hidden)
    embedding = Source("model.embed_tokens.weight"), Source("token_embd.weight")
    head = Source("lm_head.weight"), Source("output.weight")
    return [
        WeightSpec("embedding", table, Role.EMBEDDING, *embedding),
        WeightSpec(
            "final_norm",
            (shape.hidden,),
            Role.FLOAT,
            Source("model.norm.weight"),
            Source("output_norm.weight"),
        ),
        WeightSpec(
            "head",
            table,
            Role.MATRIX,
            *(embedding if shape.tied_embeddings else head),
            optional_gguf=True,
        ),
    ]


def attention_weights(
    shape: ModelShape, layer: int, norms: Norms = "none", permuted: bool = False
) -> list[WeightSpec]:
    """Norms and projections of a layer. `permuted`: GGUF has q, k in llama.cpp's rotary order."""

    def spec(part: str, size: tuple[int, ...], role: Role, heads: int | None = None) -> WeightSpec:
        (hf, gguf), end = _NAMES[part.removesuffix("_bias")], "bias" if "bias" in part else "weight"
        return WeightSpec(
            f"layers.{layer}.{part}",
            size,
            role,
            Source(f"model.layers.{layer}.{hf}.{end}"),
            Source(f"blk.{layer}.{gguf}.{end}", unpermute_heads=heads if permuted else None),
            layer,
        )

    rows = {"q": shape.q_width, "k": shape.kv_width, "v": shape.kv_width, "o": shape.hidden}
    heads = {"q": shape.heads, "k": shape.kv_heads}
    result = [spec(f"{name}_norm", (shape.hidden,), Role.FLOAT) for name in ("attention", "ffn")]
    for part, height in rows.items():
        width = shape.q_width if part == "o" else shape.hidden
        result.append(spec(part, (height, width), Role.MATRIX, heads.get(part)))
        if shape.attention_bias:
            result.append(spec(f"{part}_bias", (height,), Role.FLOAT, heads.get(part)))
    if norms != "none":
        for part in "qk":
            width = shape.head_dim if norms == "head" else rows[part]
            result.append(spec(f"{part}_norm", (width,), Role.FLOAT))
    return result


def router_weight(shape: ModelShape, layer: int, hf: str) -> WeightSpec:
    """The router's matrix, kept in float. `hf`: its name inside the layer."""
    return WeightSpec(
        f"layers.{layer}.router",
        (shape.experts, shape.hidden),
        Role.FLOAT,
        Source(f"model.layers.{layer}.{hf}.weight"),
        Source(f"blk.{layer}.ffn_gate_inp.weight"),
        layer,
    )


def expert_weights(shape: ModelShape, layer: int, hf: Mapping[str, str]) -> list[WeightSpec]:
    """gate, up, down of a layer's experts. `hf`: name inside the layer by part, with {expert}."""
    result = []
    for expert in range(shape.experts):
        for part in ("gate", "up", "down"):
            size = (shape.expert_width, shape.hidden)
            result.append(
                WeightSpec(
                    f"layers.{layer}.experts.{expert}.{part}",
                    size[::-1] if part == "down" else size,
                    Role.EXPERT,
                    Source(f"model.layers.{layer}.{hf[part].format(expert=expert)}.weight"),
                    Source(f"blk.{layer}.ffn_{part}_exps.weight", index=expert),
                    layer,
                    expert,
                )
            )
    return result


def dense_weights(shape: ModelShape, layer: int) -> list[WeightSpec]:
    """gate, up, down of every block: rows of gate and up, columns of down."""
    result = []
    for block in range(shape.experts):
        span = (block * shape.expert_width, (block + 1) * shape.expert_width)
        for part in ("gate", "up", "down"):
            rows, cols = (None, span) if part == "down" else (span, None)
            size = (shape.expert_width, shape.hidden)
            result.append(
                WeightSpec(
                    f"layers.{layer}.experts.{block}.{part}",
                    size[::-1] if part == "down" else size,
                    Role.EXPERT,
                    Source(f"model.layers.{layer}.mlp.{part}_proj.weight", rows=rows, cols=cols),
                    Source(f"blk.{layer}.ffn_{part}.weight", rows=rows, cols=cols),
                    layer,
                    block,
                )
            )
    return result


def attention_ops(shape: ModelShape, layer: int, norms: Norms = "none") -> list[Op]:
    """x += o(attention(norm(x))); then h = norm(x) for the feed-forward."""
    at = f"layers.{layer}"

    def linear(out: str, x: str, part: str) -> Linear:
        bias = f"{at}.{part}_bias" if shape.attention_bias else None
        return Linear(out, x, f"{at}.{part}", bias)

    ops: list[Op] = [RmsNorm("h", "x", f"{at}.attention_norm", shape.hidden, shape.rms_eps)]
    ops += [linear(part, "h", part) for part in "qkv"]
    if norms != "none":
        widths = {"q": shape.q_width, "k": shape.kv_width}
        for part, width in widths.items():
            group = shape.head_dim if norms == "head" else width
            ops.append(RmsNorm(part, part, f"{at}.{part}_norm", group, shape.rms_eps))
    for part, heads in (("q", shape.heads), ("k", shape.kv_heads)):
        ops.append(Rotary(part, heads, shape.head_dim, shape.rope_frequencies, shape.rope_factor))
    sizes = (layer, shape.heads, shape.kv_heads, shape.head_dim, shape.head_dim**-0.5)
    ops += [
        Attention("a", "q", "k", "v", *sizes, window=shape.sliding_window),
        linear("y", "a", "o"),
        Add("x", "x", "y"),
        RmsNorm("h", "x", f"{at}.ffn_norm", shape.hidden, shape.rms_eps),
    ]
    return ops


def expert_ops(
    shape: ModelShape, layer: int, score: ScoreFunction = "softmax", bias: bool = False
) -> list[Op]:
    """x += the routed experts of h; a dense model runs all its blocks with gate 1.

    score and bias: the router's; the bias ("layers.0.router_bias") only chooses.
    """
    sizes = (layer, shape.experts, shape.top_k)
    if shape.dense:
        return [Experts("y", "h", *sizes, shape.activation), Add("x", "x", "y")]
    router = f"layers.{layer}.router"
    return [
        Router(
            "ids",
            "gates",
            "h",
            router,
            *sizes[1:],
            shape.norm_topk,
            score,
            f"{router}_bias" if bias else None,
        ),
        Experts("y", "h", *sizes, shape.activation, "ids", "gates"),
        Add("x", "x", "y"),
    ]


def decoder(shape: ModelShape, layers: list[list[Op]]) -> Program:
    """The whole program around the layers' ops, over the buffers they name."""
    buffers = {
        "x": shape.hidden,
        "h": shape.hidden,
        "y": shape.hidden,
        "q": shape.q_width,
        "k": shape.kv_width,
        "v": shape.kv_width,
        "a": shape.q_width,
        "logits": shape.vocab,
    }
    if not shape.dense:
        buffers |= {"ids": shape.top_k, "gates": shape.top_k}
    head: tuple[Op, ...] = (
        RmsNorm("h", "x", "final_norm", shape.hidden, shape.rms_eps),
        Linear("logits", "h", "head"),
    )
    return Program("x", "logits", buffers, tuple(op for layer in layers for op in layer), head)
