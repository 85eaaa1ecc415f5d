"""Whole conversions of tiny random models: every weight arrives, in the promised format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type
from safetensors.numpy import load_file, save_file

from engine.container.embedding import decode_rows
from engine.container.reader import Container
from engine.errors import (
    CheckpointError,
    ConfigError,
    Stopped,
    StorageError,
    UnsupportedModelError,
)
from engine.formats import NumberFormat
from engine.hub.unfinished import list_unfinished
from engine.kernels.packing import bf16_to_float32, float32_to_bf16, unpack
from engine.model.families import registry
from engine.model.weights import Role
from engine.prepare import tasks
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers import weight_tables
from tests.helpers.quantised_gguf import matrices, requantised
from tests.helpers.tiny_gguf import write_tiny_gguf
from tests.helpers.tiny_models import make_tiny_checkpoint

QUANTS = ["nf4", "int4", "int8", "bf16"]
# Relative squared error a format may have on normal weights.
WORST = {"nf4": 0.0065, "int4": 0.0075, "int8": 4e-5, "bf16": 4e-6, "f32": 0, "bf16_rows": 4e-6}


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sources 测试 é'&#%")
    for family in ("qwen3_moe", "mixtral", "llama"):
        make_tiny_checkpoint(family, folder / family, num_hidden_layers=2)
        write_tiny_gguf(folder / family, folder / f"{family}.gguf")
    return folder


def stored(container: Container, name: str) -> tuple[np.ndarray, str]:
    """(float32 weight, format) as the container holds it."""
    entry = container.manifest.tensors.get(name)
    if entry is None:
        _, layer, _, expert, part = name.split(".")
        data = container.read_record(int(layer), int(expert))
        matrix = next(m for m in container.layout(int(layer)).matrices if m.name == part)
        data = data[matrix.offset : matrix.offset + matrix.bytes]
        return unpack(data, matrix.format, matrix.rows, matrix.cols), matrix.format
    data = container.read_dense(name)
    if entry.format == "f32":
        return data.view(np.float32).reshape(entry.shape), "f32"
    if entry.format.endswith("_rows"):
        rows = data.reshape(entry.shape[0], -1)
        return decode_rows(rows, entry.format, entry.shape[1]), entry.format
    return unpack(data, NumberFormat(entry.format), *entry.shape), entry.format


def wanted(container: Container, source: Path) -> dict[str, np.ndarray]:
    """The source's weights by our names, read without our readers."""
    family = registry.by_model_type(container.family)
    if source.suffix == ".gguf":
        tensors, kind = weight_tables.read_gguf(source)[1], "gguf"
    else:
        tensors, kind = weight_tables.read_safetensors(source), "hf"
    table = weight_tables.table(family, container.shape, tensors, kind)
    return {s.name: table.tensor(s.name).numpy() for s in family.weights(container.shape)}


def relative_error(wanted: np.ndarray, found: np.ndarray) -> float:
    assert wanted.shape == found.shape
    return float(((wanted - found) ** 2).sum() / (wanted**2).sum())


@pytest.mark.parametrize("quant", QUANTS)
@pytest.mark.parametrize("family", ["qwen3_moe", "mixtral", "llama"])
def test_every_weight_arrives(sources, tmp_path, family, quant):
    summary = prepare(sources / family, tmp_path / "out", quant)
    container = Container.open(tmp_path / "out")
    container.verify(lambda progress: None, StopFlag())
    assert summary.records == container.shape.layers * container.shape.experts
    specs = {s.name: s for s in registry.by_model_type(family).weights(container.shape)}
    for name, weight in wanted(container, sources / family).items():
        found, fmt = stored(container, name)
        assert relative_error(weight, found) <= WORST[fmt], name
        if specs[name].role in (Role.MATRIX, Role.EXPERT):
            assert fmt == ("int8" if name == "head" and quant in ("nf4", "int4") else quant)
        if quant == "bf16" and fmt == "bf16":
            assert np.array_equal(found, bf16_to_float32(float32_to_bf16(weight))), name
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize("family", ["qwen3_moe", "mixtral", "llama"])
def test_gguf_and_safetensors_of_one_model_give_the_same_weights(sources, tmp_path, family):
    prepare(sources / family, tmp_path / "a", "int8")
    prepare(sources / f"{family}.gguf", tmp_path / "b", "int8")
    first, second = Container.open(tmp_path / "a"), Container.open(tmp_path / "b")
    for one, other in zip(first.manifest.records, second.manifest.records, strict=True):
        assert one == other
    for name, entry in first.manifest.tensors.items():
        assert entry.sha256 == second.manifest.tensors[name].sha256, name


@pytest.mark.parametrize("family", ["qwen3_moe", "mixtral", "llama"])
@pytest.mark.parametrize(
    ("kind", "fmt"),
    [(Type.Q4_0, "int4"), (Type.IQ4_NL, "iq4_nl"), (Type.Q8_0, "int8"), (Type.MXFP4, "e2m1")],
)
@pytest.mark.parametrize("quant", ["nf4", "int8"])
def test_block_types_are_kept_bit_for_bit(sources, tmp_path, family, kind, fmt, quant):
    source = requantised(sources / f"{family}.gguf", tmp_path / "q.gguf", matrices(kind))
    summary = prepare(source, tmp_path / "out", quant)
    container = Container.open(tmp_path / "out")
    for name, weight in wanted(container, source).items():
        found, found_fmt = stored(container, name)
        assert np.array_equal(found, weight), name
        expected = {fmt, "f32", "bf16_rows" if kind is Type.MXFP4 else "q8_rows"}
        assert found_fmt in expected, name
    assert all(note.endswith("kept exactly") for note in summary.notes)


def test_other_types_are_requantised_and_said_to_be(sources, tmp_path):
    source = requantised(sources / "llama.gguf", tmp_path / "q.gguf", matrices(Type.Q4_1))
    summary = prepare(source, tmp_path / "out", "int8")
    assert "Q4_1 → int8: 48 expert matrices dequantised and requantised" in summary.notes
    container = Container.open(tmp_path / "out")
    for name, weight in wanted(container, source).items():
        assert relative_error(weight, stored(container, name)[0]) < 1e-4, name
    assert container.manifest.source.stored_types == {"F32": 5, "Q4_1": 58}


def test_each_weight_follows_its_own_type(sources, tmp_path):
    kinds = matrices(Type.Q4_0, output=Type.Q5_0, token_embd=Type.Q8_0, blk__1=Type.Q8_0)
    source = requantised(
        sources / "qwen3_moe.gguf",
        tmp_path / "q.gguf",
        lambda name: None if "norm" in name or "gate_inp" in name else kinds(name),
    )
    prepare(source, tmp_path / "out", "nf4")
    container = Container.open(tmp_path / "out")
    tensors = container.manifest.tensors
    assert [tensors[n].format for n in ("head", "embedding", "layers.0.q", "layers.1.q")] == [
        "int8",
        "q8_rows",
        "int4",
        "int8",
    ]
    assert container.manifest.layer_layout == (0, 1)
    assert {m.format for m in container.layout(0).matrices} == {"int4"}
    assert {m.format for m in container.layout(1).matrices} == {"int8"}
    container.verify(lambda progress: None, StopFlag())
    for name, weight in wanted(container, source).items():
        if name != "head":
            assert np.array_equal(stored(container, name)[0], weight), name


def test_large_weights_cut_into_pieces_give_the_same_bytes(sources, tmp_path, monkeypatch):
    prepare(sources / "mixtral", tmp_path / "whole", "nf4")
    monkeypatch.setattr(tasks, "PIECE_VALUES", 16 * 96)
    monkeypatch.setattr(tasks, "MAX_WORKERS", 1)
    prepare(sources / "mixtral", tmp_path / "pieces", "nf4")
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "pieces" / path.name).read_bytes()


def test_hot_experts_come_first(sources, tmp_path):
    order = {0: [3, 1, 0, 2, 7, 6, 5, 4]}
    prepare(sources / "qwen3_moe", tmp_path / "plain")
    prepare(sources / "qwen3_moe", tmp_path / "hot", hot_order=order)
    plain, hot = Container.open(tmp_path / "plain"), Container.open(tmp_path / "hot")
    assert [r.expert for r in hot.manifest.records[:8]] == order[0]
    assert [r.expert for r in hot.manifest.records[8:]] == list(range(8))
    for record in plain.manifest.records:
        assert hot.record(record.layer, record.expert).sha256 == record.sha256
    with pytest.raises(ConfigError, match="layer 1"):
        prepare(sources / "qwen3_moe", tmp_path / "bad", hot_order={1: [0, 0, 1]})


def test_a_larger_block_aligns_records(sources, tmp_path):
    prepare(sources / "qwen3_moe", tmp_path / "out", expert_block=65536)
    manifest = Container.open(tmp_path / "out").manifest
    assert manifest.record_align == 65536
    assert all(r.offset % 65536 == 0 and r.bytes % 65536 == 0 for r in manifest.records)


def test_progress_only_grows_and_ends_full(sources, tmp_path):
    steps = []
    prepare(sources / "qwen3_moe", tmp_path / "out", progress=steps.append)
    written = [step for step in steps if step.total > 1]
    assert [s.done for s in written] == sorted(s.done for s in written)
    assert written[-1].done == written[-1].total and written[0].done == 0
    assert any("layer 2 of 2" in step.what for step in written)


def test_side_files_are_copied(sources, tmp_path):
    prepare(sources / "qwen3_moe", tmp_path / "out")
    for name in ("tokenizer.json", "chat_template.jinja", "config.json"):
        source, copy = sources / "qwen3_moe" / name, tmp_path / "out" / name
        assert copy.read_bytes() == source.read_bytes()
    names = {entry.name for entry in Container.open(tmp_path / "out").manifest.side_files}
    assert {"tokenizer.json", "generation_config.json"} <= names


# --- refusals ----------------------------------------------------------------------------------


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
