"""The numbers that define a model. Owns no weights; families fill it from a config.json or GGUF
metadata.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Activation = Literal["silu", "gelu", "gelu_tanh"]


@dataclass(frozen=True)
class ModelShape:
    """Sizes and constants of one model. `experts` counts routed experts of a layer, `expert_width`
    the rows of an expert's gate matrix. A dense model has `top_k == experts`: every block is
    always used.
    """

    model_type: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    experts: int
    top_k: int
    expert_width: int
    rms_eps: float
    rope_frequencies: tuple[float, ...]  # inverse frequencies, (rotary_dim // 2,), scaling applied
    max_positions: int
    rope_factor: float = 1.0  # multiplies cos and sin (YaRN's attention factor)
    norm_topk: bool = True
    tied_embeddings: bool = False
    attention_bias: bool = False
    sliding_window: int | None = None
    activation: Activation = "silu"
    dense: bool = False  # an ordinary feed-forward cut into blocks that are all active

    @property
    def q_width(self) -> int:
        """Columns of the concatenated query heads."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Columns of the concatenated key (or value) heads."""
        return self.kv_heads * self.head_dim
