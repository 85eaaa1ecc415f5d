"""Hugging Face folders as checkpoints: weights of every readable type, shards, side files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.checkpoint.checkpoint import missing_tensors, open_checkpoint, unexpected_tensors
from engine.checkpoint.safetensors import INDEX, SINGLE
from engine.errors import CheckpointError, StorageError, UnsupportedModelError
from engine.model.weights import Source
from tests.helpers.tiny_models import TEMPLATE, make_tiny_checkpoint

ODD_NAME = "测试 用户　é'&#%"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_tiny_checkpoint("llama", tmp_path / ODD_NAME)


def shard(folder: Path, count: int = 3) -> None:
    """Cuts model.safetensors into shards with an index, as the hub's large models are."""
    tensors = load_file(folder / SINGLE)
    (folder / SINGLE).unlink()
    places = {}
    for number in range(count):
        name = f"model-{number + 1:05}-of-{count:05}.safetensors"
        part = {key: tensors[key] for key in sorted(tensors)[number::count]}
        save_file(part, folder / name)
        places |= dict.fromkeys(part, name)
    index = {"metadata": {"total_size": 1}, "weight_map": places}
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_weights_equal_the_stored_ones(dtype: str, tmp_path: Path) -> None:
    folder = make_tiny_checkpoint("qwen3_moe", tmp_path / ODD_NAME, dtype=dtype)
    model = open_checkpoint(folder)
    assert (model.kind, model.family.MODEL_TYPE) == ("safetensors", "qwen3_moe")
    specs = model.family.weights(model.shape)
    assert missing_tensors(model, specs) == [] == unexpected_tensors(model, specs)
    stored = load_file(folder / SINGLE)
    for spec in specs:
        source = model.source(spec)
        expected = stored[source.name].to(torch.float32).numpy()
        np.testing.assert_array_equal(model.read(source), expected, source.name)
    types = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}
    assert model.stored_type(Source("lm_head.weight")) == types[dtype]


def test_a_sharded_folder_is_one_model(folder: Path) -> None:
    stored = load_file(folder / SINGLE)
    shard(folder)
    model = open_checkpoint(folder)
    assert set(model.names()) == set(stored)
    for name, tensor in stored.items():
        np.testing.assert_array_equal(model.read(Source(name)), tensor.numpy())


def test_a_file_of_the_folder_opens_the_folder(folder: Path) -> None:
    for name in (SINGLE, INDEX):
        assert open_checkpoint(folder / name).path == folder
        if name == SINGLE:
            shard(folder)


def test_the_hub_cache_keeps_files_as_links(folder: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "cache" / "models--a--b" / "snapshots" / "0123"
    blobs = tmp_path / "cache" / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(folder.iterdir())):
        path.rename(blobs / str(number))
        (snapshot / path.name).symlink_to(Path("../../blobs") / str(number))
    model = open_checkpoint(snapshot)
    assert missing_tensors(model, model.family.weights(model.shape)) == []
    assert "tokenizer.json" in model.side_files()


def test_links_out_of_the_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", SINGLE):
        (folder / name).rename(tmp_path / name)
        (folder / name).symlink_to(tmp_path / name)
        with pytest.raises(CheckpointError, match="leads out of the model's folder"):
            open_checkpoint(folder)
        (folder / name).unlink()
        (tmp_path / name).rename(folder / name)
    (tmp_path / "secret").write_text("private", encoding="utf-8")
    (folder / "LICENSE").symlink_to(tmp_path / "secret")
    with pytest.raises(CheckpointError, match="leads out of the model's folder"):
        open_checkpoint(folder).side_files()


def test_harmless_leftovers_are_not_unexpected(folder: Path) -> None:
    tensors = load_file(folder / SINGLE)
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.zeros(8)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    tensors["model.layers.0.adapter.weight"] = torch.zeros(8)
    save_file(tensors, folder / SINGLE)
    model = open_checkpoint(folder)
    specs = model.family.weights(model.shape)
    assert unexpected_tensors(model, specs) == ["model.layers.0.adapter.weight"]


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float64"])
def test_number_types_we_cannot_read_are_listed(folder: Path, dtype: str) -> None:
    tensors = load_file(folder / SINGLE)
    name = "model.layers.0.mlp.up_proj.weight"
    tensors[name] = tensors[name].to(getattr(torch, dtype))
    save_file(tensors, folder / SINGLE)
    with pytest.raises(UnsupportedModelError, match=r"F(8_E4M3|8_E5M2|64); only F32, F16, BF16"):
        open_checkpoint(folder)


def test_pickles_are_refused_unread(folder: Path) -> None:
    (folder / SINGLE).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04cos\nsystem\n")
    with pytest.raises(CheckpointError, match="could run any code") as error:
        open_checkpoint(folder)
    assert ".safetensors" in error.value.next_step


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: (f / SINGLE).unlink(), r"holds no \.safetensors"),
        (lambda f: (f / SINGLE).rename(f / "model-00001-of-00002.safetensors"), "has neither"),
        (lambda f: (f / "config.json").unlink(), r"config\.json does not exist"),
        (lambda f: write_json(f / "config.json", {}), "names no model_type"),
        (lambda f: write_json(f / "config.json", {"model_type": 3}), "names no model_type"),
        (lambda f: (f / SINGLE).write_text("version https://git-lfs.github.com/spec/v1\n"), "LFS"),
    ],
)
def test_incomplete_folders_say_what_to_do(folder: Path, change: Any, message: str) -> None:
    change(folder)
    with pytest.raises(CheckpointError, match=message) as error:
        open_checkpoint(folder)
    assert error.value.next_step


def test_an_unknown_model_type_lists_the_known_ones(folder: Path) -> None:
    write_json(folder / "config.json", {"model_type": "wavenet"})
    with pytest.raises(UnsupportedModelError, match="wavenet") as error:
        open_checkpoint(folder)
    assert "qwen3_moe" in error.value.next_step


@pytest.mark.parametrize("name", ["absent", "notes.txt", "weights.bin"])
def test_paths_that_are_no_model(name: str, tmp_path: Path) -> None:
    if name != "absent":
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"does not exist|is not a model file"):
        open_checkpoint(tmp_path / name)
    with pytest.raises((CheckpointError, StorageError)):
        open_checkpoint(tmp_path / "a\0.gguf")


def test_side_files_are_taken_along(folder: Path) -> None:
    (folder / "LICENSE.md").write_text("Do as you like — 好", encoding="utf-8")
    (folder / "LICENSES").mkdir()
    (folder / "modeling_evil.py").write_text("boom", encoding="utf-8")
    files = open_checkpoint(folder).side_files()
    assert set(files) == {
        "tokenizer.json",
        "tokenizer_config.json",
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "LICENSE.md",
    }
    assert files["LICENSE.md"].decode("utf-8") == "Do as you like — 好"
    assert files["chat_template.jinja"].decode("utf-8") == TEMPLATE


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("chat_template.json", {"chat_template": "old"}),
        ("tokenizer_config.json", {"chat_template": "old"}),
        (
            "tokenizer_config.json",
            {
                "chat_template": [
                    {"name": "tool_use", "template": "tools"},
                    {"name": "default", "template": "old"},
                ]
            },
        ),
    ],
)
def test_older_places_of_the_chat_template(folder: Path, file: str, content: Any) -> None:
    write_json(folder / file, content)
    assert open_checkpoint(folder).side_files()["chat_template.jinja"] == TEMPLATE.encode("utf-8")
    (folder / "chat_template.jinja").unlink()
    assert open_checkpoint(folder).side_files()["chat_template.jinja"] == b"old"


def test_a_missing_tokenizer_is_a_warning(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "tokenizer.json").unlink()
    model = open_checkpoint(folder)
    assert "tokenizer.json" not in model.side_files()
    assert "no tokenizer.json" in model.warnings[0] and "no tokenizer.json" in caplog.text
    (folder / "tokenizer.model").write_bytes(b"x")
    model.side_files()
    assert "only a SentencePiece model (tokenizer.model)" in model.warnings[0]


def test_an_oversized_side_file_is_refused(folder: Path) -> None:
    with (folder / "tokenizer.json").open("r+b") as file:
        file.truncate((64 << 20) + 1)  # a hole: no disk space used
    with pytest.raises(CheckpointError, match=r"tokenizer\.json has 67108865 bytes"):
        open_checkpoint(folder).side_files()
