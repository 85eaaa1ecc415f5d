"""Random weights of Qwen3-30B-A3B's shape with a realistic, skewed router: what each tensor holds.

The text is gibberish, the routing real: an LRU cache hits .60 / .81 / .92 at 12.5 / 25 / 50 %
resident, on a published trace of the real model .59 / .80 / .91. Sample at temperature 1.
How: dimensions 0 … 7 of the residual hold the same number for every token and no layer writes
dimensions 0 … 31, so a router row's first 8 weights add log-popularity to logits that otherwise
depend on token and context. Attention is a recency-weighted mean: a slowly changing context.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from math import prod
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

HIDDEN, EXPERTS, TOP_K, WIDTH = 2048, 128, 8, 768
HEADS, KV_HEADS, HEAD_DIM, VOCAB = 32, 4, 128, 49152
LAYERS = 48
CONSTANT, CONSTANT_DIMS = 4.0, 8  # the residual's constant part
FREE_FROM = 32  # layers write the dimensions from here on
SPECIAL_TOKENS = 17  # their logits stay 0: text never ends early

# Share of the uses that each layer's 13 most popular experts take in the trace, and the popularity
# exponents that give such shares.
TOP13 = (
    *(0.302, 0.357, 0.423, 0.456, 0.491, 0.562, 0.680, 0.716, 0.618, 0.609, 0.553, 0.527),
    *(0.604, 0.443, 0.538, 0.629, 0.510, 0.529, 0.853, 0.818, 0.688, 0.625, 0.589, 0.556),
    *(0.635, 0.432, 0.590, 0.647, 0.564, 0.526, 0.879, 0.829, 0.711, 0.641, 0.594, 0.535),
    *(0.600, 0.388, 0.551, 0.589, 0.488, 0.435, 0.464, 0.651, 0.642, 0.716, 0.590, 0.449),
)
SHARES = (0.228, 0.297, 0.362, 0.453, 0.53, 0.599, 0.659, 0.708, 0.764, 0.825, 0.868)
EXPONENTS = (0.3, 0.7, 1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.6, 4.4, 5.2)
ROUTER_NOISE = 1.2  # std of the part of a router logit that depends on token and context
ATTENTION_VARIANCE, EXPERT_VARIANCE = 0.12, 0.08  # what a layer adds to each dimension
WINDOW = 6.0  # tokens attention looks back on, effectively
RECENCY, RECENCY_PAIRS = 3.0, range(4, 21)  # constant part of q and k on these rotary dimensions

# Codes of a Q4_0 block near a normal distribution: a random byte gives two of them.
LEVELS = np.array([-7, -5, -4, -3, -2, -2, -1, 0, 0, 1, 2, 2, 3, 4, 5, 7])
LEVELS_STD = float(np.sqrt((LEVELS**2).mean()))
_BYTE = np.arange(256)
CODES = ((LEVELS[_BYTE & 15] + 8) | ((LEVELS[_BYTE >> 4] + 8) << 4)).astype(np.uint8)
ZERO_CODE = 0x88
INPUT_STD = float(1 / np.sqrt(HIDDEN - FREE_FROM))

Bytes = NDArray[np.uint8]
Type = gguf.GGMLQuantizationType


@dataclass(frozen=True)
class Tensor:
    """A tensor to write. kind: how it is made, see `Maker.make`."""

    name: str
    kind: str
    shape: tuple[int, ...]
    layer: int = -1

    @property
    def type(self) -> gguf.GGMLQuantizationType:
        """How it is stored."""
        return {"one": Type.F32, "router": Type.F32, "head": Type.Q8_0}.get(self.kind, Type.Q4_0)

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """Its shape in bytes, or in floats."""
        if self.type is Type.F32:
            return self.shape
        block = {Type.Q8_0: 34, Type.Q4_0: 18}[self.type]
        return (*self.shape[:-1], self.shape[-1] // 32 * block)


def tensors(layers: int) -> list[Tensor]:
    """Every tensor in the file's order."""
    found = [
        Tensor("token_embd.weight", "embedding", (VOCAB, HIDDEN)),
        Tensor("output_norm.weight", "one", (HIDDEN,)),
        Tensor("output.weight", "head", (VOCAB, HIDDEN)),
    ]
    kinds = (
        ("attn_norm", "one", (HIDDEN,)),
        ("attn_q", "qk", (HEADS * HEAD_DIM, HIDDEN)),
        ("attn_k", "qk", (KV_HEADS * HEAD_DIM, HIDDEN)),
        ("attn_v", "v", (KV_HEADS * HEAD_DIM, HIDDEN)),
        ("attn_output", "o", (HIDDEN, HEADS * HEAD_DIM)),
        ("attn_q_norm", "one", (HEAD_DIM,)),
        ("attn_k_norm", "one", (HEAD_DIM,)),
        ("ffn_norm", "one", (HIDDEN,)),
        ("ffn_gate_inp", "router", (EXPERTS, HIDDEN)),
        ("ffn_gate_exps", "gate", (EXPERTS, WIDTH, HIDDEN)),
        ("ffn_up_exps", "up", (EXPERTS, WIDTH, HIDDEN)),
        ("ffn_down_exps", "down", (EXPERTS, HIDDEN, WIDTH)),
    )
    for layer in range(layers):
        found += [Tensor(f"blk.{layer}.{n}.weight", kind, s, layer) for n, kind, s in kinds]
    return found


class Maker:
    """Makes a tensor's data; knows how large the residual is at each layer."""

    def __init__(self, layers: int, seed: int = 1) -> None:
        self._seed = seed
        at = np.arange(layers) * (ATTENTION_VARIANCE + EXPERT_VARIANCE)
        written = (HIDDEN - FREE_FROM) / HIDDEN
        constant = CONSTANT_DIMS * CONSTANT**2 / HIDDEN
        self._rms_in = np.sqrt((1 + at) * written + constant)
        self._rms_middle = np.sqrt((1 + at + ATTENTION_VARIANCE) * written + constant)
        context = np.arange(layers) * ATTENTION_VARIANCE / (1 + at)  # the slow share of variance
        self._mean_variance = (1 - context) / WINDOW + context * 0.75
        self._popularity = np.interp(TOP13, SHARES, EXPONENTS)

    def make(self, tensor: Tensor) -> NDArray[Any]:
        """The tensor's bytes, or its floats."""
        layer = tensor.layer
        match tensor.kind:
            case "one":
                return np.ones(tensor.shape, np.float32)
            case "router":
                return self._router(tensor)
            case "head":
                return self._head(tensor)
            case "embedding":
                blocks = self._q4(tensor, 1.0)
                blocks[:, 0, :] = constant_block(CONSTANT)
                return blocks
            case "qk":
                return self._query_or_key(tensor)
            case "o":
                std = np.sqrt(ATTENTION_VARIANCE / self._mean_variance[layer] / (HEADS * HEAD_DIM))
                return free_rows(self._q4(tensor, std))
            case "down":
                std = np.sqrt(EXPERT_VARIANCE / 0.18) / (0.958 * np.sqrt(WIDTH))
                return free_rows(self._q4(tensor, std))
            case _:  # v, gate, up
                gain = 1.5 if tensor.kind == "gate" else 1.0
                return free_columns(self._q4(tensor, gain * INPUT_STD))

    def _random(self, tensor: Tensor) -> np.random.Generator:
        stream = [self._seed, zlib.crc32(tensor.name.encode())]
        return np.random.Generator(np.random.SFC64(stream))

    def _q4(self, tensor: Tensor, std: float) -> Bytes:
        """Q4_0 (…, rows, blocks, 18)."""
        count = prod(tensor.shape) // 32
        blocks = np.empty((count, 18), np.uint8)
        raw = np.frombuffer(self._random(tensor).bytes(count * 16), np.uint8)
        blocks[:, 2:] = CODES[raw.reshape(count, 16)]
        blocks[:, :2] = half(std / LEVELS_STD)
        return blocks.reshape(*tensor.shape[:-1], tensor.shape[-1] // 32, 18)

    def _query_or_key(self, tensor: Tensor) -> Bytes:
        blocks = free_columns(self._q4(tensor, INPUT_STD))
        recent = np.isin(np.arange(tensor.shape[0]) % HEAD_DIM, list(RECENCY_PAIRS))
        size = RECENCY / (CONSTANT_DIMS * CONSTANT / self._rms_in[tensor.layer])
        blocks[recent, 0, :] = constant_block(size)
        return blocks

    def _head(self, tensor: Tensor) -> Bytes:
        """Q8_0 (rows, blocks, 34); nothing of the constant dimensions, nothing for special ids."""
        count = VOCAB * HIDDEN // 32
        values = self._random(tensor).standard_normal((count, 32), dtype=np.float32) * 30
        blocks = np.empty((count, 34), np.uint8)
        blocks[:, 2:] = np.clip(np.rint(values), -127, 127).astype(np.int8).view(np.uint8)
        blocks[:, :2] = half(2.0 / np.sqrt(HIDDEN) / 30)
        rows = blocks.reshape(VOCAB, HIDDEN // 32, 34)
        rows[:, 0, :] = 0
        rows[:SPECIAL_TOKENS] = 0
        return rows

    def _router(self, tensor: Tensor) -> NDArray[np.float32]:
        """Rows whose first weights, on the constant dimensions, add -exponent · log(rank + 30)."""
        random, layer = self._random(tensor), tensor.layer
        rank = random.permutation(EXPERTS)
        popularity = -self._popularity[layer] * np.log(rank + 30.0)
        popularity -= popularity.mean()
        weight = random.standard_normal((EXPERTS, HIDDEN))
        weight *= ROUTER_NOISE / np.sqrt(HIDDEN - FREE_FROM)
        weight[:, :FREE_FROM] = 0
        constant = CONSTANT_DIMS * CONSTANT / self._rms_middle[layer]
        weight[:, :CONSTANT_DIMS] = (popularity * ROUTER_NOISE / constant)[:, None]
        return weight.astype(np.float32)


def half(value: float) -> Bytes:
    """An fp16 number's two bytes."""
    return np.array([value], np.float16).view(np.uint8)


def constant_block(value: float) -> Bytes:
    """A Q4_0 block of 8 times `value`, then zeros: code 0 means -8 times the scale."""
    block = np.full(18, ZERO_CODE, np.uint8)
    block[:2] = half(-value / 8)
    block[2:10] = 0x80
    return block


def free_columns(blocks: Bytes) -> Bytes:
    """Zero the columns of the constant dimensions."""
    blocks[..., 0, :2], blocks[..., 0, 2:] = 0, ZERO_CODE
    return blocks


def free_rows(blocks: Bytes) -> Bytes:
    """Zero the rows of the constant dimensions."""
    blocks[..., :FREE_FROM, :, :2], blocks[..., :FREE_FROM, :, 2:] = 0, ZERO_CODE
    return blocks
