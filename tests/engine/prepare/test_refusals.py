"""What cannot be converted is refused by name, and leaves nothing behind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from engine.errors import (
    CheckpointError,
    ConfigError,
    Stopped,
    StorageError,
    UnsupportedModelError,
)
from engine.hub.unfinished import list_unfinished
from engine.prepare.prepare import prepare
from engine.stop import StopFlag

QUANTS = ["nf4", "int4", "int8", "bf16"]


@pytest.fixture
def source(sources, tmp_path) -> Path:
    return Path(shutil.copytree(sources / "qwen3_moe", tmp_path / "source"))


def edit(source: Path, change) -> None:
    tensors = load_file(source / "model.safetensors")
    change(tensors)
    save_file(tensors, source / "model.safetensors", {"format": "pt"})


def nothing_left(tmp_path: Path) -> bool:
    return [p.name for p in tmp_path.iterdir()] == ["source"]


def test_a_missing_tensor_is_named_before_anything_is_written(source, tmp_path):
    edit(source, lambda t: t.pop("model.layers.1.self_attn.q_proj.weight"))
    with pytest.raises(CheckpointError, match=r"layers\.1\.self_attn\.q_proj"):
        prepare(source, tmp_path / "out")
    assert nothing_left(tmp_path)


def test_an_unknown_tensor_is_refused(source, tmp_path):
    edit(source, lambda t: t.update({"model.layers.0.surprise.weight": np.zeros(3, np.float32)}))
    with pytest.raises(UnsupportedModelError, match="surprise"):
        prepare(source, tmp_path / "out")
    assert nothing_left(tmp_path)


def test_an_unknown_architecture_is_refused(source, tmp_path):
    path = source / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, "model_type": "mamba9"}), encoding="utf-8")
    with pytest.raises(UnsupportedModelError, match="mamba9"):
        prepare(source, tmp_path / "out")


@pytest.mark.parametrize("quant", QUANTS)
def test_a_weight_that_is_no_number_is_refused(source, tmp_path, quant):
    name = "model.layers.1.self_attn.k_proj.weight"
    edit(source, lambda t: t[name].__setitem__((3, 4), np.nan))
    with pytest.raises(CheckpointError, match=r"k_proj|layers\.1\.k"):
        prepare(source, tmp_path / "out", quant)
    assert not (tmp_path / "out").exists()


def test_an_outlier_no_scale_can_hold_names_the_weight(source, tmp_path):
    name = "model.layers.1.self_attn.k_proj.weight"
    edit(source, lambda t: t[name].__setitem__((3, 4), 1e9))
    with pytest.raises(CheckpointError, match=r"layers\.1\.k ") as caught:
        prepare(source, tmp_path / "out", "nf4")
    assert "bf16" in caught.value.next_step
    prepare(source, tmp_path / "out", "bf16")


def test_unknown_options_are_refused(source, tmp_path):
    with pytest.raises(ConfigError, match="nf5"):
        prepare(source, tmp_path / "out", "nf5")
    with pytest.raises(ConfigError, match="512"):
        prepare(source, tmp_path / "out", expert_block=512)


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(CheckpointError, match="does not exist"):
        prepare(tmp_path / "nothing", tmp_path / "out")


def test_too_little_space_is_told_in_numbers(source, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=40_000_000))
    with pytest.raises(StorageError, match=r"6\d MB are needed, 40 MB are free"):
        prepare(source, tmp_path / "out")


def test_what_could_never_fit_leaves_nothing_to_go_on_with(source, tmp_path, monkeypatch):
    models = tmp_path / "models"
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=40_000_000))
    with pytest.raises(StorageError, match="too full"):
        prepare(source, models / "tiny-nf4")
    assert list_unfinished(models) == [] and list(models.iterdir()) == []


def test_a_disk_that_fills_up_on_the_way_keeps_what_was_written(source, tmp_path, monkeypatch):
    models, stop, seen = tmp_path / "models", StopFlag(), []

    def stop_later(progress):
        seen.append(progress)
        if progress.done:
            stop.set()

    with pytest.raises(Stopped):
        prepare(source, models / "tiny-nf4", progress=stop_later, stop=stop)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=40_000_000))
    with pytest.raises(StorageError, match="too full"):
        prepare(source, models / "tiny-nf4")
    (work,) = list_unfinished(models)
    assert work.name == "tiny-nf4" and work.done > 0
