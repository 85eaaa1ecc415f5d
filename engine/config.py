"""Options of the engine: frozen dataclasses, checked when made. No environment variables, no
globals.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from engine.errors import ConfigError
from engine.text import Text

IoMode = Literal["auto", "mapped", "direct"]
Isa = Literal["auto", "avx512", "avxvnni", "avx2", "neon_i8mm", "neon", "scalar"]
KvFormat = Literal["fp16", "int8"]


def cache_root(cache_dir: str | Path | None = None) -> Path:
    """Where everything is kept that may be deleted at any time; it may not exist yet."""
    return Path(cache_dir or platformdirs.user_cache_dir("Edge0", appauthor=False))


def _require(condition: bool, name: str, value: object, next_step: Text) -> None:
    if not condition:
        raise ConfigError(Text("{0} is {1}.", name, value), next_step)


@dataclass(frozen=True)
class Edge0Config:
    """How to open a converted model.

    memory_budget_gb: bound of the whole process's working set in GB (10^9 bytes); None picks one.
    prefetch_experts: predicted misses a layer may read ahead on idle lanes; 0 switches prediction
    off. use_mmap: True maps expert files, False reads them unbuffered, None measures and picks.
    cache_dir: where learned usage and prefix snapshots are kept, a folder a model; None is the
    user's cache. context_tokens: KV cache length; None picks min(model's limit, 4096). threads:
    compute threads; None takes one per physical performance core. prefix_cache_gb: disk space for
    snapshots of what was read of conversations, of all models together; 0 keeps none.
    """

    model_path: str | Path
    memory_budget_gb: float | None = None
    prefetch_experts: int = 2
    use_mmap: bool | None = None
    cache_dir: str | Path | None = None
    context_tokens: int | None = None
    threads: int | None = None
    isa: Isa = "auto"
    kv_format: KvFormat = "fp16"
    prefix_cache_gb: float = 2.0

    def __post_init__(self) -> None:
        budget = self.memory_budget_gb
        _require(
            budget is None or 0 < budget < 1e6,
            "memory_budget_gb",
            budget,
            Text("Give a number of GB above 0, or leave it out."),
        )
        _require(
            0 <= self.prefetch_experts <= 64,
            "prefetch_experts",
            self.prefetch_experts,
            Text("Give 0 to 64."),
        )
        context = self.context_tokens
        _require(
            context is None or 16 <= context <= 1 << 20,
            "context_tokens",
            context,
            Text("Give 16 to 1048576, or leave it out."),
        )
        _require(
            self.threads is None or 1 <= self.threads <= 256,
            "threads",
            self.threads,
            Text("Give 1 to 256, or leave it out."),
        )
        _require(
            0 <= self.prefix_cache_gb < 1e6,
            "prefix_cache_gb",
            self.prefix_cache_gb,
            Text("Give a number of GB, or 0 to keep none."),
        )

    @property
    def io_mode(self) -> IoMode:
        """The mode `use_mmap` asks for."""
        return "auto" if self.use_mmap is None else "mapped" if self.use_mmap else "direct"


@dataclass(frozen=True)
class GenerateOptions:
    """How to pick tokens. temperature 0 is greedy; top_k 0, top_p 1, min_p 0, repetition_penalty 1
    are off.
    """

    max_tokens: int = 1024
    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        _require(self.max_tokens >= 1, "max_tokens", self.max_tokens, Text("Give 1 or more."))
        _require(
            0 <= self.temperature <= 10, "temperature", self.temperature, Text("Give 0 to 10.")
        )
        _require(self.top_k >= 0, "top_k", self.top_k, Text("Give 0 (off) or more."))
        _require(0 < self.top_p <= 1, "top_p", self.top_p, Text("Give a number in (0, 1]."))
        _require(0 <= self.min_p < 1, "min_p", self.min_p, Text("Give a number in [0, 1)."))
        _require(
            0.1 <= self.repetition_penalty <= 10,
            "repetition_penalty",
            self.repetition_penalty,
            Text("Give 0.1 to 10; 1 is off."),
        )
        _require(
            self.seed is None or 0 <= self.seed < 1 << 63,
            "seed",
            self.seed,
            Text("Give a whole number from 0 to 2^63 - 1, or leave it out."),
        )
