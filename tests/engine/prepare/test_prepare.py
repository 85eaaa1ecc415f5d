"""Whole conversions of tiny random models: every weight arrives, in the promised format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type

from engine.container.embedding import decode_rows
from engine.container.reader import Container
from engine.errors import (
    ConfigError,
)
from engine.formats import NumberFormat
from engine.kernels.packing import bf16_to_float32, float32_to_bf16, unpack
from engine.model.families import registry
from engine.model.weights import Role
from engine.prepare import tasks
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers import weight_tables
from tests.helpers.quantised_gguf import matrices, requantised

QUANTS = ["nf4", "int4", "int8", "bf16"]
# Relative squared error a format may have on normal weights.
WORST = {"nf4": 0.0065, "int4": 0.0075, "int8": 4e-5, "bf16": 4e-6, "f32": 0, "bf16_rows": 4e-6}


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
