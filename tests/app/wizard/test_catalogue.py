"""The suggestions: models we can convert, and sizes that are those of the conversion.

The shapes are those of the models' own config.json, by heart; nothing is downloaded.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.wizard.catalogue import read_catalogue
from engine.checkpoint.stored import StoredCheckpoint
from engine.checkpoint.tensors import StoredTensor
from engine.hub.forecast import _parameters
from engine.model.families import registry
from engine.model.weights import Role, Source, WeightSpec
from engine.prepare.layout import make_plan

MODELS = {model.id: model for model in read_catalogue()}
# hidden, layers, heads, key/value heads, experts, chosen, width, vocabulary, context
SHAPES = {
    "Qwen3 30B": (2048, 48, 32, 4, 128, 8, 768, 151_936, 262_144),
    "Qwen3 235B": (4096, 94, 64, 4, 128, 8, 1536, 151_936, 262_144),
    "OLMoE": (2048, 16, 16, 16, 64, 8, 1024, 50_304, 4096),
    "Mixtral 8x7B": (4096, 32, 32, 8, 8, 2, 14_336, 32_000, 32_768),
    "Mixtral 8x22B": (6144, 56, 48, 8, 8, 2, 16_384, 32_768, 65_536),
    "MiniMax": (3072, 62, 48, 8, 256, 8, 1536, 200_064, 196_608),
    "TinyLlama": (2048, 22, 32, 4, 0, 0, 5632, 32_000, 2048),
    "SmolLM2": (2048, 24, 32, 32, 0, 0, 8192, 49_152, 8192),
}


def config(family: str, name: str) -> dict[str, Any]:
    hidden, layers, heads, pairs, experts, chosen, width, vocabulary, context = SHAPES[name]
    wide = family in ("qwen3_moe", "minimax_m2")  # heads wider than the hidden size's share
    return {
        "model_type": family,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": pairs,
        "head_dim": 128 if wide else hidden // heads,
        "num_experts": experts,
        "num_local_experts": experts,
        "num_experts_per_tok": chosen,
        "intermediate_size": width,
        "moe_intermediate_size": width,
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1e6,
        "rotary_dim": 64,
        "norm_topk_prob": family == "qwen3_moe",
        "hidden_act": "silu",
        "tie_word_embeddings": name == "SmolLM2",
    }


class Published(StoredCheckpoint):
    """What a model's headers would tell."""

    def __init__(self, family: str, name: str, gguf: bool) -> None:
        self.family = registry.by_model_type(family)
        self.shape = self.family.shape_from_config(config(family, name))
        self.specs = self.family.weights(self.shape)
        self.gguf = gguf
        tensors = [self._tensor_of(spec) for spec in self.specs]
        kind: Any = "gguf" if gguf else "safetensors"
        super().__init__(kind, Path("x"), {tensor.name: tensor for tensor in tensors})

    def source(self, spec: WeightSpec) -> Source:
        return spec.gguf if self.gguf else spec.hf

    def _tensor_of(self, spec: WeightSpec) -> StoredTensor:
        matrix = ("Q6_K" if spec.name == "head" else "IQ4_NL") if self.gguf else "BF16"
        stored = "F32" if spec.role is Role.FLOAT else matrix
        return StoredTensor(self.source(spec).name, spec.shape, stored, 0, Path("x"), 0, (1, 1))


@cache
def sizes(family: str, name: str, gguf: bool) -> tuple[float, float]:
    """10^9 parameters, and GB as nf4 (or as stored, where that is kept)."""
    checkpoint = Published(family, name, gguf)
    plan = make_plan(checkpoint, "nf4", 4096, {}, content="x")
    return _parameters(checkpoint.specs, 1.0)[0] / 1e9, plan.manifest.weight_bytes / 1e9


@pytest.mark.parametrize("id_", MODELS)
def test_sizes_are_those_of_the_model_and_of_its_conversion(id_: str) -> None:
    model = MODELS[id_]
    name = next(name for name in SHAPES if model.name.replace("Coder ", "").startswith(name))
    parameters, converted = sizes(model.family, name, bool(model.gguf))
    assert model.parameters_b == pytest.approx(parameters, abs=0.06)
    assert model.converted_gb == pytest.approx(converted, abs=0.06)
    bytes_each = 4.5 / 8 if model.gguf else 2
    assert model.download_gb == pytest.approx(parameters * bytes_each, rel=0.01, abs=0.06)
    assert model.dense or model.active_b < model.parameters_b / 3


def test_each_is_told_in_both_languages_and_by_one_name() -> None:
    assert len(MODELS) == len({model.name for model in MODELS.values()}) == len(read_catalogue())
    for model in MODELS.values():
        assert model.about["en"] and model.about["zh"] and model.license
        assert model.id.count("/") == 1 and model.memory_gb >= 4
