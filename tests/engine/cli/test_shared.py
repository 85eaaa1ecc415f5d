"""Which model a command means when none is named."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from engine.cli.shared import default_model
from engine.errors import ConfigError
from engine.starter import STARTER_NAME
from tests.helpers.tiny_containers import make_tiny_container


def options(folder: Path) -> argparse.Namespace:
    return argparse.Namespace(models_dir=folder)


def test_without_a_name_the_only_model_is_meant_then_the_starter(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        default_model(options(tmp_path / "models"))
    assert "edge0 starter" in caught.value.next_step
    one = make_tiny_container(tmp_path / "one", family="llama")
    models = tmp_path / "models"
    models.mkdir()
    one.rename(models / "one")
    assert default_model(options(models)) == "one"
    make_tiny_container(tmp_path / "two", family="llama").rename(models / "two")
    with pytest.raises(ConfigError) as caught:
        default_model(options(models))
    assert "one, two" in caught.value.next_step
    make_tiny_container(tmp_path / "three", family="llama").rename(models / STARTER_NAME)
    assert default_model(options(models)) == STARTER_NAME
