"""Damage that is noticed without reading a model: bytes that were never written, small weights, and
what is remembered of the last verification."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from engine import Edge0Config, Edge0Runtime
from engine.container.manifest import DENSE_NAME
from engine.container.reader import Container
from engine.container.verified import holes, note_path
from engine.errors import ContainerError
from tests.helpers.damage import damage, verify
from tests.helpers.tiny_containers import make_tiny_container

BLOCK = 4096


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("测试 é'&#%") / "model")


@pytest.fixture
def model(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


def write_with_hole(path: Path, begin: int, end: int) -> None:
    """The file again, but for a range that is left unwritten. Skips where files have no holes."""
    data = path.read_bytes()
    path.unlink()
    with open(path, "wb") as file:
        file.write(data[:begin])
        file.seek(end)
        file.write(data[end:])
        file.truncate(len(data))
    if list(holes(path, len(data))) != [(begin, end)]:
        pytest.skip("this file system does not tell of holes")


def test_a_record_that_was_never_written_is_refused_at_opening(model: Path) -> None:
    container = Container.open(model)
    record = container.record(1, 3)
    write_with_hole(container.files[record.file], record.offset, record.offset + record.bytes)
    with pytest.raises(ContainerError, match="is damaged: layer 1, expert 3") as caught:
        Container.open(model)
    assert "convert or download the model again" in caught.value.next_step


def test_a_copy_that_ended_early_but_has_its_size_is_refused(model: Path) -> None:
    (file,) = model.glob("*.moex")
    size = file.stat().st_size
    write_with_hole(file, size // 2 // BLOCK * BLOCK, size)
    with pytest.raises(ContainerError, match="is damaged"):
        Container.open(model)


def test_zeros_that_belong_to_the_model_may_be_a_hole(model: Path) -> None:
    """As sparse copies leave them."""
    container = Container.open(model)
    record = container.record(0, 0)
    write_with_hole(container.files[record.file], record.offset, record.offset + BLOCK)
    zeros = container.read_record(0, 0).tobytes()
    manifest = (model / "manifest.json").read_text(encoding="utf-8")
    right = manifest.replace(record.sha256, hashlib.sha256(zeros).hexdigest())
    (model / "manifest.json").write_text(right, encoding="utf-8")
    Container.open(model).close()


def test_a_damaged_norm_is_refused_when_it_is_read(model: Path) -> None:
    container = Container.open(model)
    entry = container.manifest.tensors["layers.0.attention_norm"]
    with open(model / DENSE_NAME, "r+b") as file:
        file.seek(entry.offset)
        file.write(bytes(entry.bytes))
    with pytest.raises(ContainerError, match=r"is damaged: layers\.0\.attention_norm"):
        Container.open(model).read_dense(entry.name)


def test_a_verification_holds_until_a_file_changes(model: Path) -> None:
    assert Container.open(model).verified == ("never", 0.0)
    verify(model)
    state, when = Container.open(model).verified
    assert state == "intact" and when > 1.7e9
    os.utime(model / DENSE_NAME, (1e9, 1e9))
    assert Container.open(model).verified == ("changed", when)


def test_damage_that_was_found_is_not_called_intact(model: Path) -> None:
    verify(model)
    (file,) = model.glob("*.moex")
    damage(file, 9000)
    with pytest.raises(ContainerError):
        verify(model)
    assert Container.open(model).verified[0] == "damaged"
    with pytest.raises(ContainerError, match="found wrong bytes"):
        Edge0Runtime.from_config(Edge0Config(model))
    damage(file, 9000)
    os.utime(file)
    assert Container.open(model).verified[0] == "changed"
    verify(model)
    Container.open(model).refuse_known_damage()


def test_a_copy_is_not_called_changed(model: Path, tmp_path: Path) -> None:
    verify(model)
    copied = Path(shutil.copytree(model, tmp_path / "other", copy_function=shutil.copy))
    assert Container.open(copied).verified == ("never", 0.0)
    assert Container.open(Path(model).rename(tmp_path / "moved")).verified[0] == "intact"


@pytest.mark.parametrize("note", ["", "[]", '{"time": "x", "files": 3}', "[" * 100_000])
def test_a_damaged_note_counts_as_none(model: Path, note: str) -> None:
    verify(model)
    note_path(model).write_text(note, encoding="utf-8")
    assert Container.open(model).verified == ("never", 0.0)


def test_a_copy_that_rots_says_nothing_of_the_first_one(model: Path, tmp_path: Path) -> None:
    """As `cp -a` makes it: every size and time is the same."""
    copied = Path(shutil.copytree(model, tmp_path / "other"))
    damage(next(copied.glob("*.moex")), 9000)
    with pytest.raises(ContainerError):
        verify(copied)
    Container.open(model).refuse_known_damage()
    verify(model)
    assert Container.open(copied).verified[0] == "damaged"


def test_a_damaged_norm_that_was_read_is_remembered(model: Path) -> None:
    entry = Container.open(model).manifest.tensors["layers.0.attention_norm"]
    damage(model / DENSE_NAME, entry.offset)
    with pytest.raises(ContainerError):
        Edge0Runtime.from_config(Edge0Config(model))
    assert Container.open(model).verified[0] == "damaged"
