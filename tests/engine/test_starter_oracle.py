"""The starter against `transformers` on the same weights, and its default format against bf16."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from engine import Edge0Config, Edge0Runtime, GenerateOptions, prepare_model
from engine.container.reader import Container
from engine.kernels.reference import as_float
from engine.kernels.reference_weights import ContainerWeights

CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
PROMPTS = (
    CHAT.format("Explain in a few sentences why the sky is blue."),
    CHAT.format("Write a short story about a cat that learns to read."),
    "The first ten numbers that follow one another when counting are one, two,",
)
TEXT = (
    "The tide had gone out before anyone noticed the boat. Its oars lay crossed over the seat, and"
    " a small notebook, still dry, was tied to one of them with string. def mean(xs): return"
    " sum(xs) / len(xs). Water boils at 100 degrees Celsius at sea level, and at about 90 degrees"
    " on a mountain of three thousand metres. 今天天气很好，我们去公园散步吧。"
)
TOKENS = 44


@pytest.fixture(scope="module")
def bf16(starter_gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("oracle") / "bf16"
    prepare_model(starter_gguf, out, "bf16")
    return out


def oracle(path: Path) -> Any:
    """transformers' Llama holding exactly the weights the container holds."""
    container = Container.open(path)
    shape, weights = container.shape, ContainerWeights(container)
    config = transformers.LlamaConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.expert_width * shape.experts,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        rms_norm_eps=shape.rms_eps,
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
        max_position_embeddings=shape.max_positions,
        attn_implementation="eager",
    )
    model = transformers.LlamaForCausalLM(config).eval()
    state = {
        "model.embed_tokens.weight": weights.embedding(range(shape.vocab)),
        "model.norm.weight": as_float(weights.tensor("final_norm")),
        "lm_head.weight": as_float(weights.tensor("head")),
    }
    for layer in range(shape.layers):
        state |= layer_state(weights, layer, shape.experts)
    model.load_state_dict(state)
    container.close()
    return model


def layer_state(weights: ContainerWeights, layer: int, blocks: int) -> dict[str, torch.Tensor]:
    """One layer's tensors under transformers' names; feed-forward blocks put together again."""
    theirs, ours = f"model.layers.{layer}", f"layers.{layer}"
    parts = [weights.expert(layer, block) for block in range(blocks)]
    gate, up, down = ([as_float(part[i]) for part in parts] for i in range(3))
    names = {"input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm"}
    names |= {f"self_attn.{part}_proj": part for part in "qkvo"}
    state = {
        f"{theirs}.{a}.weight": as_float(weights.tensor(f"{ours}.{b}")) for a, b in names.items()
    }
    return state | {
        f"{theirs}.mlp.gate_proj.weight": torch.cat(gate),
        f"{theirs}.mlp.up_proj.weight": torch.cat(up),
        f"{theirs}.mlp.down_proj.weight": torch.cat(down, dim=1),
    }


def test_greedy_text_is_that_of_transformers(bf16: Path) -> None:
    model = oracle(bf16)
    with Edge0Runtime.from_config(Edge0Config(bf16, context_tokens=512)) as runtime:
        for prompt in PROMPTS:
            ids = runtime.tokenizer._encode(prompt)
            ours = runtime.generate_ids(ids, GenerateOptions(max_tokens=TOKENS, temperature=0))
            assert len(ours) >= 40
            assert ours == choices(model, ids, ours)


def choices(model: Any, prompt: list[int], text: list[int]) -> list[int]:
    """transformers' next token at each place of `text`; all of them its own: so is the text."""
    with torch.inference_mode():
        logits = model(torch.tensor([prompt + text])).logits[0, len(prompt) - 1 : -1]
    return logits.argmax(-1).tolist()


def test_the_default_format_stays_close_to_bf16(bf16: Path, starter_container: Path) -> None:
    found = {}
    for path in (bf16, starter_container):
        with Edge0Runtime.from_config(Edge0Config(path, context_tokens=512)) as runtime:
            found[path] = log_probabilities(runtime.logits(runtime.tokenizer._encode(TEXT)))
    true, ours = found[bf16], found[starter_container]
    assert (np.exp(true) * (true - ours)).sum(-1).mean() < 0.01


def log_probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
