"""GGUF files as checkpoints: whole tiny models, split files, what old and new converters wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type

from engine.checkpoint.checkpoint import missing_tensors, open_checkpoint, unexpected_tensors
from engine.checkpoint.decode import to_float
from engine.errors import CheckpointError, UnsupportedModelError
from engine.formats import Blocks
from tests.helpers.checkpoint_files import LLAMA_TENSORS, llama_header, write_llama_gguf
from tests.helpers.tiny_gguf import write_tiny_gguf
from tests.helpers.tiny_models import FAMILIES, make_tiny_checkpoint

ODD_NAME = "测试 用户　é'&#%"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_weight_equals_the_original(family: str, tmp_path: Path) -> None:
    folder = make_tiny_checkpoint(family, tmp_path / ODD_NAME)
    hf = open_checkpoint(folder)
    converted = open_checkpoint(write_tiny_gguf(folder, tmp_path / f"{ODD_NAME}.gguf"))
    assert (converted.kind, converted.family.MODEL_TYPE) == ("gguf", family)
    specs = converted.family.weights(converted.shape)
    assert missing_tensors(converted, specs) == [] == unexpected_tensors(converted, specs)
    for spec in specs:
        actual = to_float(converted.read(converted.source(spec)))
        np.testing.assert_array_equal(actual, to_float(hf.read(hf.source(spec))), spec.name)
        assert actual.shape == spec.shape


def test_stored_types_are_told(tmp_path: Path) -> None:
    tensors = write_llama_gguf(tmp_path / "m.gguf", Type.Q4_0)
    model = open_checkpoint(tmp_path / "m.gguf")
    specs = {spec.name: spec for spec in model.family.weights(model.shape)}
    norm, embedding = (model.source(specs[name]) for name in ("final_norm", "embedding"))
    assert (model.stored_type(norm), model.stored_type(embedding)) == ("F32", "Q4_0")
    assert isinstance(model.read(embedding), Blocks)
    np.testing.assert_array_equal(to_float(model.read(embedding)), tensors["token_embd.weight"])
    info = model.names()["blk.0.ffn_down.weight"]
    assert (info.shape, info.dtype, info.nbytes) == ((64, 64), "Q4_0", 64 * 2 * 18)


def test_a_head_of_its_own_is_used(tmp_path: Path) -> None:
    head = np.full((64, 64), 2, np.float32)
    write_llama_gguf(tmp_path / "own.gguf", extra={"output.weight": head})
    write_llama_gguf(tmp_path / "tied.gguf")
    for name, tied in (("own", False), ("tied", True)):
        model = open_checkpoint(tmp_path / f"{name}.gguf")
        spec = next(s for s in model.family.weights(model.shape) if s.name == "head")
        assert model.shape.tied_embeddings is tied
        assert (to_float(model.read(model.source(spec))) == 2).all() != tied


@pytest.mark.parametrize("given", [1, 2, 4])
def test_any_part_opens_a_split_model(given: int, tmp_path: Path) -> None:
    tensors = write_llama_gguf(tmp_path / f"{ODD_NAME}.gguf", split=3)
    model = open_checkpoint(tmp_path / f"{ODD_NAME}-0000{given}-of-00004.gguf")
    specs = model.family.weights(model.shape)
    assert missing_tensors(model, specs) == []
    for spec in specs:
        if spec.gguf.name in tensors and spec.gguf.unpermute_heads is None and spec.expert < 0:
            actual = to_float(model.read(model.source(spec)))
            np.testing.assert_array_equal(actual, tensors[spec.gguf.name])


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    write_llama_gguf(tmp_path / "m.gguf", split=3)
    (tmp_path / "m-00003-of-00004.gguf").unlink()
    with pytest.raises(CheckpointError, match=r"m-00003-of-00004\.gguf is missing"):
        open_checkpoint(tmp_path / "m-00001-of-00004.gguf")


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    write_llama_gguf(tmp_path / "m.gguf", split=3)
    part = tmp_path / "m-00003-of-00004.gguf"
    shutil.copy(tmp_path / "m-00002-of-00004.gguf", part)
    with pytest.raises(CheckpointError, match="is part 2 of 4 by its content"):
        open_checkpoint(tmp_path / "m-00001-of-00004.gguf")
    write_llama_gguf(tmp_path / "other.gguf", split=4)
    shutil.copy(tmp_path / "other-00003-of-00003.gguf", part)
    with pytest.raises(CheckpointError, match="is part 3 of 3 by its content"):
        open_checkpoint(tmp_path / "m-00001-of-00004.gguf")
    shutil.copy(tmp_path / "m-00001-of-00004.gguf", tmp_path / "renamed.gguf")
    with pytest.raises(CheckpointError, match="its name does not say which") as error:
        open_checkpoint(tmp_path / "renamed.gguf")
    assert "name-00001-of-00004.gguf" in error.value.next_step


def test_experts_stored_one_by_one(tmp_path: Path) -> None:
    """Mixtral files of 2023 hold blk.0.ffn_gate.3.weight instead of one stack."""
    folder = make_tiny_checkpoint("mixtral", tmp_path / "hf")
    stacked = open_checkpoint(write_tiny_gguf(folder, tmp_path / "new.gguf"))
    writer = gguf.GGUFWriter(tmp_path / "old.gguf", "llama")
    reader = gguf.GGUFReader(tmp_path / "new.gguf")
    for key, field in reader.fields.items():
        if not key.startswith("GGUF.") and key != "general.architecture":
            sub = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(key, field.contents(), field.types[0], sub)
    for tensor in reader.tensors:
        if "_exps" not in tensor.name:
            writer.add_tensor(tensor.name, tensor.data)
            continue
        for expert, matrix in enumerate(tensor.data):
            writer.add_tensor(tensor.name.replace("_exps", f".{expert}"), matrix)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    old = open_checkpoint(tmp_path / "old.gguf")
    specs = old.family.weights(old.shape)
    assert missing_tensors(old, specs) == [] == unexpected_tensors(old, specs)
    for spec in specs:
        np.testing.assert_array_equal(
            to_float(old.read(old.source(spec))), to_float(stacked.read(stacked.source(spec)))
        )


def test_rotary_factors_stored_as_a_tensor_scale_the_frequencies(tmp_path: Path) -> None:
    write_llama_gguf(tmp_path / "plain.gguf")
    factors = np.linspace(1, 4, 16, dtype=np.float32)
    write_llama_gguf(tmp_path / "scaled.gguf", extra={"rope_freqs.weight": factors})
    plain = open_checkpoint(tmp_path / "plain.gguf").shape.rope_frequencies
    model = open_checkpoint(tmp_path / "scaled.gguf")
    np.testing.assert_allclose(model.shape.rope_frequencies, plain / factors)
    assert unexpected_tensors(model, model.family.weights(model.shape)) == []


def test_missing_misshapen_and_unknown_tensors_are_listed(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    llama_header(writer)
    for name, shape in LLAMA_TENSORS.items():
        if name != "blk.0.ffn_norm.weight":
            shape = (32, 64) if name == "blk.0.attn_v.weight" else shape
            writer.add_tensor(name, np.zeros(shape, np.float32))
    writer.add_tensor("blk.0.surprise.weight", np.zeros(4, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    model = open_checkpoint(tmp_path / "m.gguf")
    specs = model.family.weights(model.shape)
    value, norm = sorted(missing_tensors(model, specs))
    assert norm == "blk.0.ffn_norm.weight"
    assert "layers.0.v has the shape (32, 64) instead of (64, 64)" in value
    assert unexpected_tensors(model, specs) == ["blk.0.surprise.weight"]
    with pytest.raises(CheckpointError, match=r"no tensor blk\.0\.ffn_norm\.weight"):
        model.read(next(s.gguf for s in specs if s.name == "layers.0.ffn_norm"))


def test_an_unknown_architecture_lists_the_known_ones(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "wavenet")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(UnsupportedModelError, match="wavenet") as error:
        open_checkpoint(tmp_path / "m.gguf")
    assert "qwen3_moe" in error.value.next_step and "llama" in error.value.next_step


def test_a_folder_with_one_gguf_model_opens_it(tmp_path: Path) -> None:
    write_llama_gguf(tmp_path / "m.gguf", split=3)
    (tmp_path / "mmproj-m.gguf").write_bytes(b"")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert open_checkpoint(tmp_path).path == tmp_path / "m-00001-of-00004.gguf"
    write_llama_gguf(tmp_path / "second.gguf")
    with pytest.raises(CheckpointError, match="holds 2 GGUF models"):
        open_checkpoint(tmp_path)


def test_files_are_not_held_open(tmp_path: Path) -> None:
    write_llama_gguf(tmp_path / "m.gguf")
    model = open_checkpoint(tmp_path / "m.gguf")
    spec = model.family.weights(model.shape)[0]
    before = to_float(model.read(model.source(spec)))
    (tmp_path / "m.gguf").rename(tmp_path / "away.gguf")  # fails on Windows while open or mapped
    with pytest.raises(CheckpointError, match="does not exist"):
        model.read(model.source(spec))
    (tmp_path / "away.gguf").rename(tmp_path / "m.gguf")
    np.testing.assert_array_equal(before, to_float(model.read(model.source(spec))))
    model.close()
    with pytest.raises(CheckpointError, match="no tensor"):
        model.read(model.source(spec))
