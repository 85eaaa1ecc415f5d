"""Tiny random models converted the real way, for tests of everything that runs on a container."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.container.reader import Container
from engine.prepare.prepare import prepare
from tests.helpers.tiny_models import make_tiny_checkpoint


def make_tiny_container(
    path: Path,
    family: str = "qwen3_moe",
    quant: str = "nf4",
    seed: int = 0,
    dtype: str = "bfloat16",
    **overrides: Any,
) -> Path:
    """Converts a tiny random model to the folder `path`; the source stays beside it.

    overrides go to the model's config.
    """
    source = path.with_name(path.name + "-source")
    if not source.exists():
        make_tiny_checkpoint(family, source, seed, dtype, **overrides)
    prepare(source, path, quant)
    return path


def open_tiny_container(path: Path, **options: Any) -> Container:
    """`make_tiny_container`, opened."""
    return Container.open(make_tiny_container(path, **options))
