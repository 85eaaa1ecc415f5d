"""Each family computes what `transformers` computes, from safetensors and from GGUF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.kernels.reference import TorchExecutor
from engine.model.families import registry
from tests.helpers.tiny_gguf import write_tiny_gguf
from tests.helpers.tiny_models import FAMILIES, load_oracle, make_tiny_checkpoint
from tests.helpers.weight_tables import read_gguf, read_safetensors, table

PROMPT = [7 * i % 250 for i in range(1, 24)]


def executor(path: Path) -> TorchExecutor:
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    family = registry.by_model_type(config["model_type"])
    shape = family.shape_from_config(config)
    weights = table(family, shape, read_safetensors(path), "hf")
    return TorchExecutor(family.program(shape), shape, weights)


def gguf_executor(path: Path) -> TorchExecutor:
    header, tensors = read_gguf(path)
    family = registry.by_gguf(header)
    shape = family.shape_from_gguf(header)
    weights = table(family, shape, tensors, "gguf")
    return TorchExecutor(family.program(shape), shape, weights)


def greedy(model: TorchExecutor, ids: list[int], count: int) -> list[int]:
    logits = model.forward(ids)
    out: list[int] = []
    while len(out) < count:
        out.append(int(logits.argmax()))
        logits = model.forward(out[-1:])
    return out


def oracle_logits(oracle: Any, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return oracle(torch.tensor([ids])).logits[0]


def oracle_greedy(oracle: Any, ids: list[int], count: int) -> list[int]:
    out = oracle.generate(
        torch.tensor([ids]), do_sample=False, min_new_tokens=count, max_new_tokens=count
    )
    return out[0, len(ids) :].tolist()


@pytest.fixture(scope="module", params=FAMILIES)
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_checkpoint(request.param, tmp_path_factory.mktemp("tiny") / request.param)


def test_logits_match_transformers(checkpoint: Path) -> None:
    expected = oracle_logits(load_oracle(checkpoint), PROMPT)
    torch.testing.assert_close(
        executor(checkpoint).forward(PROMPT, all_logits=True), expected, atol=1e-4, rtol=0
    )


def test_greedy_tokens_match_transformers(checkpoint: Path) -> None:
    expected = oracle_greedy(load_oracle(checkpoint), PROMPT, 64)
    assert len(set(expected)) > 5  # a stuck model would prove little
    assert greedy(executor(checkpoint), PROMPT, 64) == expected


def test_gguf_computes_the_same_model(checkpoint: Path, tmp_path: Path) -> None:
    path = write_tiny_gguf(checkpoint, tmp_path / "tiny.gguf")
    expected = executor(checkpoint).forward(PROMPT, all_logits=True)
    actual = gguf_executor(path).forward(PROMPT, all_logits=True)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_chunks_and_rewinding_change_nothing(checkpoint: Path) -> None:
    model = executor(checkpoint)
    whole = model.forward(PROMPT, all_logits=True)
    model.rewind(5)
    assert model.position == 5
    parts = [model.forward(PROMPT[a:b], all_logits=True) for a, b in ((5, 6), (6, 14), (14, 23))]
    torch.testing.assert_close(torch.cat(parts), whole[5:], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("family", "overrides"),
    [
        ("qwen3_moe", {"norm_topk_prob": False}),
        ("qwen3_moe", {"attention_bias": True, "tie_word_embeddings": True}),
        ("qwen3_moe", {"num_experts_per_tok": 8, "hidden_act": "gelu_pytorch_tanh"}),
        ("olmoe", {"attention_bias": True, "norm_topk_prob": True}),
        ("minimax_m2", {"partial_rotary_factor": 1.0}),
        ("mixtral", {"head_dim": 32, "num_key_value_heads": 1, "hidden_act": "gelu"}),
        ("llama", {"attention_bias": True, "tie_word_embeddings": False}),
        ("llama", {"intermediate_size": 96}),
    ],
)
def test_options_match_transformers(family: str, overrides: dict[str, Any], tmp_path: Path) -> None:
    path = make_tiny_checkpoint(family, tmp_path / family, **overrides)
    expected = oracle_logits(load_oracle(path), PROMPT)
    torch.testing.assert_close(
        executor(path).forward(PROMPT, all_logits=True), expected, atol=1e-4, rtol=0
    )
