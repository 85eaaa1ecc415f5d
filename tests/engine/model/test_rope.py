"""Rotary frequencies agree with the library that models are published for."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from engine.errors import CheckpointError, UnsupportedModelError
from engine.model.families import llama

SCALINGS: list[dict[str, Any]] = [
    {"rope_type": "default"},
    {"rope_type": "linear", "factor": 4.0},
    {"rope_type": "dynamic", "factor": 4.0},
    {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 256,
    },
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512},
    {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 512,
        "truncate": False,
    },
    {
        "rope_type": "yarn",
        "factor": 40.0,
        "original_max_position_embeddings": 64,
        "beta_fast": 16.0,
        "beta_slow": 2.0,
        "mscale": 1.0,
        "mscale_all_dim": 0.7,
    },
    {
        "rope_type": "yarn",
        "factor": 2.0,
        "original_max_position_embeddings": 1024,
        "attention_factor": 1.25,
    },
]


def config(**rope: Any) -> dict[str, Any]:
    return LlamaConfig(
        hidden_size=256,
        num_attention_heads=2,
        num_key_value_heads=2,
        intermediate_size=256,
        max_position_embeddings=2048,
        rope_parameters={"rope_theta": 500000.0, **rope},
    ).to_dict()


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda s: s["rope_type"])
def test_matches_transformers(scaling: dict[str, Any]) -> None:
    values = config(**scaling)
    rotary = LlamaRotaryEmbedding(LlamaConfig(**values))
    shape = llama.shape_from_config(values)
    expected = rotary.inv_freq.double()
    actual = torch.tensor(shape.rope_frequencies, dtype=torch.float64)
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=0)
    assert shape.rope_factor == pytest.approx(rotary.attention_scaling)


def test_older_flat_keys_mean_the_same() -> None:
    values = config(rope_type="linear", factor=4.0)
    flat = {key: value for key, value in values.items() if key != "rope_parameters"}
    flat |= {"rope_theta": 500000.0, "rope_scaling": {"type": "linear", "factor": 4.0}}
    assert llama.shape_from_config(flat) == llama.shape_from_config(values)


def test_yarn_in_gguf_means_the_same() -> None:
    values = config(rope_type="yarn", factor=4.0, original_max_position_embeddings=512)
    shape = llama.shape_from_config(values)
    header = {
        "llama.block_count": 32,
        "llama.context_length": 2048,
        "llama.embedding_length": 256,
        "llama.feed_forward_length": 256,
        "llama.attention.head_count": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-6,
        "llama.vocab_size": 32000,
        "llama.rope.freq_base": 500000.0,
        "llama.rope.scaling.type": "yarn",
        "llama.rope.scaling.factor": 4.0,
        "llama.rope.scaling.original_context_length": 512,
    }
    assert llama.shape_from_gguf(header) == shape
    with pytest.raises(UnsupportedModelError, match="attn_factor"):
        llama.shape_from_gguf({**header, "llama.rope.scaling.attn_factor": 0.5})


def test_llama3_scaling_in_gguf_is_a_tensor() -> None:
    scaled = llama.shape_from_config(config(**SCALINGS[3])).rope_frequencies
    plain = llama.shape_from_config(config()).rope_frequencies
    factors = [a / b for a, b in zip(plain, scaled, strict=True)]
    header = {
        "llama.block_count": 32,
        "llama.context_length": 2048,
        "llama.embedding_length": 256,
        "llama.feed_forward_length": 256,
        "llama.attention.head_count": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-6,
        "llama.vocab_size": 32000,
        "llama.rope.freq_base": 500000.0,
        "rope_freqs.weight": factors,
    }
    assert llama.shape_from_gguf(header).rope_frequencies == pytest.approx(scaled)
    with pytest.raises(CheckpointError, match="rope_freqs"):
        llama.shape_from_gguf({**header, "rope_freqs.weight": factors[1:]})


@pytest.mark.parametrize("kind", ["longrope", "su", "mrope"])
def test_unknown_scaling_is_refused(kind: str) -> None:
    values = {**config(), "rope_parameters": {"rope_type": kind, "factor": 4.0}}
    with pytest.raises(UnsupportedModelError, match=kind):
        llama.shape_from_config(values)
