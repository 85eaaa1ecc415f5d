"""How a model's makers want it sampled: generation_config.json, read strictly. Any thread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.chat.model_files import read_object
from engine.config import GenerateOptions
from engine.errors import ChatError, ConfigError

_NUMBERS = {
    "temperature": float,
    "top_k": int,
    "top_p": float,
    "min_p": float,
    "repetition_penalty": float,
}


def recommended_options(folder: Path) -> GenerateOptions:
    """The folder's recommendation; a value that cannot work leaves ours in its place."""
    options = GenerateOptions()
    try:
        config = read_object(folder / "generation_config.json")
    except ChatError:  # told when the tokenizer reads it; sampling can do without
        return options
    for name, kind in _NUMBERS.items():
        value = config.get(name)
        if type(value) not in (int, float):
            continue
        try:
            options = replace(options, **{name: kind(value)})
        except (ConfigError, OverflowError, ValueError):
            continue
    return options
