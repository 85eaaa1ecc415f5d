"""Tiny random checkpoints in the hub's own form, for comparing us with `transformers`.

The weights are scaled so that routing is decided and logits spread: all layers then matter.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
VOCAB = 288  # 256 bytes, the special tokens, and ids no text has

_COMMON: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 256,
    "eos_token_id": 258,
    "pad_token_id": 256,
}
_FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_moe": (
        "Qwen3Moe",
        {
            "head_dim": 32,
            "num_experts": 8,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "intermediate_size": 64,
            "norm_topk_prob": True,
        },
    ),
    "mixtral": (
        "Mixtral",
        {"num_local_experts": 8, "num_experts_per_tok": 2, "intermediate_size": 96},
    ),
    "olmoe": (
        "Olmoe",
        {"num_experts": 8, "num_experts_per_tok": 3, "intermediate_size": 32},
    ),
    "minimax_m2": (
        "MiniMaxM2",
        {
            "head_dim": 32,
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
            "intermediate_size": 32,
            "partial_rotary_factor": 0.5,
        },
    ),
    "llama": ("Llama", {"intermediate_size": 256, "tie_word_embeddings": True}),
}
FAMILIES = tuple(_FAMILIES)


def make_tiny_checkpoint(
    family: str, path: Path, seed: int = 0, dtype: str = "float32", **overrides: Any
) -> Path:
    """Writes a tiny random model with its tokenizer to `path`; overrides go to its config."""
    prefix, special = _FAMILIES[family]
    config = getattr(transformers, f"{prefix}Config")(**{**_COMMON, **special, **overrides})
    model = getattr(transformers, f"{prefix}ForCausalLM")(config)
    _scatter(model, seed)
    model.to(getattr(torch, dtype)).save_pretrained(path)
    _write_tokenizer(path)
    return path


def load_oracle(path: Path) -> Any:
    """The checkpoint as transformers computes it: float32, plain attention."""
    return transformers.AutoModelForCausalLM.from_pretrained(
        path, dtype=torch.float32, attn_implementation="eager"
    ).eval()


def _scatter(model: Any, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for name, bias in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            bias.data = 0.2 * torch.randn(bias.shape, generator=generator)
    for name, weight in model.named_parameters():
        noise = torch.randn(weight.shape, generator=generator)
        if name.endswith("norm.weight"):
            weight.data = 1 + 0.1 * noise
        elif weight.ndim == 1:
            weight.data = 0.1 * noise
        else:
            gain = 2.0 if "gate.weight" in name or "lm_head" in name else 1.0
            weight.data = noise * gain / weight.shape[-1] ** 0.5


def _write_tokenizer(path: Path) -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({char: i for i, char in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer.save(str(path / "tokenizer.json"))
    (path / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"}
    (path / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
