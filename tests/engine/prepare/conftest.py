"""Tiny checkpoints of two layers, to be converted."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.prepare.prepare import prepare
from tests.helpers.tiny_gguf import write_tiny_gguf
from tests.helpers.tiny_models import make_tiny_checkpoint


@pytest.fixture(scope="session")
def sources(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sources 测试 é'&#%")
    for family in ("qwen3_moe", "mixtral", "llama"):
        make_tiny_checkpoint(family, folder / family, num_hidden_layers=2)
        write_tiny_gguf(folder / family, folder / f"{family}.gguf")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="session")
def source(sources: Path) -> Path:
    """The one most tests convert."""
    return sources / "qwen3_moe"


@pytest.fixture(scope="session")
def finished(source, tmp_path_factory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("finished") / "out"
    prepare(source, out)
    return contents(out)
