"""A damaged or hostile config.json or GGUF header gives a clear error naming the key, no crash."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CheckpointError, UnsupportedModelError
from engine.model.families import registry

CONFIGS: dict[str, dict[str, Any]] = {
    "qwen3_moe": {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "vocab_size": 100,
        "max_position_embeddings": 512,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 32,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1e6,
        "rope_scaling": {"rope_type": "yarn", "factor": 2.0},
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        "mlp_only_layers": [],
        "decoder_sparse_step": 1,
        "use_sliding_window": False,
        "norm_topk_prob": True,
    },
    "mixtral": {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "max_position_embeddings": 512,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
        "intermediate_size": 32,
        "sliding_window": None,
    },
    "llama": {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 100,
        "max_position_embeddings": 512,
        "intermediate_size": 96,
        "mlp_bias": False,
    },
}
HEADER: dict[str, Any] = {
    "general.architecture": "qwen3moe",
    "qwen3moe.block_count": 2,
    "qwen3moe.context_length": 512,
    "qwen3moe.embedding_length": 64,
    "qwen3moe.attention.head_count": 4,
    "qwen3moe.attention.head_count_kv": 2,
    "qwen3moe.attention.key_length": 32,
    "qwen3moe.attention.layer_norm_rms_epsilon": 1e-6,
    "qwen3moe.expert_count": 8,
    "qwen3moe.expert_used_count": 2,
    "qwen3moe.expert_feed_forward_length": 32,
    "tokenizer.ggml.tokens": ["a", "b"],
}
KEYS = [(family, key) for family, config in CONFIGS.items() for key in config]
HOSTILE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 2**63, 0, -1]),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)


@pytest.mark.parametrize("family", CONFIGS)
def test_the_sound_config_is_accepted(family: str) -> None:
    shape = registry.by_model_type(family).shape_from_config(CONFIGS[family])
    assert (shape.hidden, shape.layers, shape.vocab) == (64, 2, 100)


@pytest.mark.parametrize(("family", "key"), KEYS)
@settings(max_examples=15, deadline=None)
@given(value=HOSTILE)
def test_any_value_is_accepted_or_refused(family: str, key: str, value: object) -> None:
    module = registry.by_model_type(family)
    try:
        shape = module.shape_from_config({**CONFIGS[family], key: value})
    except (CheckpointError, UnsupportedModelError) as error:
        assert error.message and error.next_step
    else:
        assert shape.layers * shape.experts <= 1 << 16
        assert len(shape.rope_frequencies) == shape.head_dim // 2


@pytest.mark.parametrize("key", HEADER)
@settings(max_examples=15, deadline=None)
@given(value=HOSTILE)
def test_any_header_value_is_accepted_or_refused(key: str, value: object) -> None:
    header = {**HEADER, key: value}
    try:
        registry.by_gguf(header).shape_from_gguf(header)
    except (CheckpointError, UnsupportedModelError) as error:
        assert error.message and error.next_step


@pytest.mark.parametrize(
    ("family", "key", "value"),
    [
        ("qwen3_moe", "hidden_size", "64"),
        ("qwen3_moe", "num_hidden_layers", True),
        ("qwen3_moe", "num_hidden_layers", 10**400),
        ("qwen3_moe", "num_experts_per_tok", 9),
        ("qwen3_moe", "rms_norm_eps", float("nan")),
        ("qwen3_moe", "rope_theta", float("inf")),
        ("mixtral", "num_key_value_heads", 0),
        ("mixtral", "vocab_size", -1),
        ("llama", "hidden_size", None),
        ("llama", "max_position_embeddings", 0.5),
    ],
)
def test_a_bad_value_is_named(family: str, key: str, value: object) -> None:
    with pytest.raises(CheckpointError, match=key):
        registry.by_model_type(family).shape_from_config({**CONFIGS[family], key: value})


@pytest.mark.parametrize(
    ("family", "key", "value"),
    [
        ("qwen3_moe", "decoder_sparse_step", 2),
        ("qwen3_moe", "mlp_only_layers", [0]),
        ("qwen3_moe", "use_sliding_window", True),
        ("qwen3_moe", "hidden_act", "relu2"),
        ("qwen3_moe", "partial_rotary_factor", 0.5),
        ("mixtral", "sliding_window", 128),
        ("llama", "mlp_bias", True),
    ],
)
def test_an_option_we_cannot_run_is_named(family: str, key: str, value: object) -> None:
    with pytest.raises(UnsupportedModelError, match=key):
        registry.by_model_type(family).shape_from_config({**CONFIGS[family], key: value})


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"num_key_value_heads": 3}, "multiple of the key/value heads"),
        ({"head_dim": 31}, "multiple of 16"),
        ({"moe_intermediate_size": 40}, "expert width"),
        ({"hidden_size": 72}, "hidden size"),
        ({"num_hidden_layers": 4096, "num_experts": 128}, "65536 experts"),
        ({"quantization_config": {"quant_method": "gptq"}}, "gptq"),
    ],
)
def test_a_shape_that_cannot_be_held_is_refused(overrides: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsupportedModelError, match=reason):
        registry.by_model_type("qwen3_moe").shape_from_config({**CONFIGS["qwen3_moe"], **overrides})


def test_a_window_wider_than_the_context_hides_nothing() -> None:
    config = {**CONFIGS["mixtral"], "sliding_window": 4096}
    assert registry.by_model_type("mixtral").shape_from_config(config).sliding_window is None


def test_unknown_types_are_told_what_is_known() -> None:
    with pytest.raises(UnsupportedModelError, match="qwen3_moe, mixtral, olmoe, minimax_m2, llama"):
        registry.by_model_type("bert")
    with pytest.raises(UnsupportedModelError, match="t5"):
        registry.by_gguf({"general.architecture": "t5"})


def test_gguf_llama_is_mixtral_when_it_has_experts() -> None:
    header: dict[str, object] = {"general.architecture": "llama"}
    assert registry.by_gguf(header).MODEL_TYPE == "llama"
    assert registry.by_gguf({**header, "llama.expert_count": 8}).MODEL_TYPE == "mixtral"
