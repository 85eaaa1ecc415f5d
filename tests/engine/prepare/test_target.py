"""The folder a conversion goes to: the same model, whole or damaged, or something else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import filelock
import pytest

from engine.container.reader import Container
from engine.errors import ContainerError, StorageError
from engine.prepare.compact import compact
from engine.prepare.prepare import prepare
from tests.engine.prepare.conftest import contents
from tests.helpers.compact_and_die import rising
from tests.helpers.damage import damage, verify
from tests.helpers.tiny_containers import make_tiny_container


def test_a_model_found_damaged_is_made_again_by_the_same_command(tmp_path: Path) -> None:
    """Also one that was laid out by use since."""
    out = make_tiny_container(tmp_path / "m", num_hidden_layers=2)
    source = tmp_path / "m-source"
    for _ in range(2):
        damage(next(out.glob("*.moex")), 9000)
        with pytest.raises(ContainerError):
            verify(out)
        assert not prepare(source, out).already
        verify(out)
        assert prepare(source, out).already
        compact(out, rising(out))


def test_a_model_with_a_file_cut_short_is_made_again(tmp_path: Path) -> None:
    out = make_tiny_container(tmp_path / "m", num_hidden_layers=2)
    file = next(out.glob("*.moex"))
    file.write_bytes(file.read_bytes()[:-4096])
    assert not prepare(tmp_path / "m-source", out).already
    verify(out)


def test_the_same_command_after_success_does_nothing(source, tmp_path):
    out = tmp_path / "out"
    prepare(source, out)
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert prepare(source, out).already
    assert before == {path.name: path.stat().st_mtime_ns for path in out.iterdir()}


def test_an_older_conversion_is_replaced_only_when_asked(source, tmp_path):
    out = tmp_path / "out"
    prepare(source, out, "nf4")
    with pytest.raises(StorageError, match="overwrite"):
        prepare(source, out, "int8")
    assert Container.open(out).manifest.quant == "nf4"
    prepare(source, out, "int8", overwrite=True)
    assert Container.open(out).manifest.quant == "int8"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_of_other_files_is_never_touched(source, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work", encoding="utf-8")
    for overwrite in (False, True):
        with pytest.raises(StorageError, match="not a converted model"):
            prepare(source, out, overwrite=overwrite)
    assert contents(out) == {"thesis.txt": b"years of work"}


def test_a_foreign_partial_folder_is_never_touched(source, tmp_path):
    partial = tmp_path / "out.partial"
    partial.mkdir()
    (partial / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(StorageError, match="other files"):
        prepare(source, tmp_path / "out")
    assert contents(partial) == {"thesis.txt": b"years of work"}


def test_an_empty_folder_is_a_fine_target(source, tmp_path, finished):
    (tmp_path / "out").mkdir()
    prepare(source, tmp_path / "out")
    assert contents(tmp_path / "out") == finished


def test_two_conversions_of_one_target_do_not_mix(source, tmp_path, finished):
    out = tmp_path / "out"
    with (
        filelock.FileLock(tmp_path / ".out.edge0-lock"),
        pytest.raises(StorageError, match="Another"),
    ):
        prepare(source, out)
    prepare(source, out)
    assert contents(out) == finished


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(source, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(StorageError, match="Permission"):
        prepare(source, closed / "out")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc takes no file, even root's")
def test_a_folder_that_takes_no_file_is_not_another_conversion(source):
    with pytest.raises(StorageError) as caught:
        prepare(source, Path("/proc/out"))
    assert "Another conversion" not in caught.value.message


def test_a_model_that_no_chat_can_begin_with_is_made_again_without_a_check(tmp_path: Path) -> None:
    """What an opening refuses sends the user here."""
    out = make_tiny_container(tmp_path / "m", num_hidden_layers=2)
    container = Container.open(out)
    norm = container.manifest.tensors["layers.0.attention_norm"]
    side = container.manifest.side_files[0]
    for name, offset in ((side.name, side.bytes // 2), (container.dense_path.name, norm.offset)):
        damage(out / name, offset)
        assert not prepare(tmp_path / "m-source", out).already
        verify(out)


@pytest.mark.parametrize("manifest", [None, b"{"])
def test_a_model_that_cannot_be_known_is_called_damaged_and_replaced_when_asked(
    tmp_path: Path, manifest: bytes | None
) -> None:
    out, source = make_tiny_container(tmp_path / "m", num_hidden_layers=2), tmp_path / "m-source"
    (out / "manifest.json").unlink()
    if manifest is not None:
        (out / "manifest.json").write_bytes(manifest)
    with pytest.raises(StorageError, match="holds a damaged model") as caught:
        prepare(source, out)
    assert "--overwrite" in caught.value.next_step
    prepare(source, out, overwrite=True)
    verify(out)
