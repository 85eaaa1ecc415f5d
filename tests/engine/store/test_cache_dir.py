"""The cache folder: one entry a model, and never more than it may hold."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from engine.errors import StorageError
from engine.store.cache_dir import forget_all, model_cache, snapshot_bytes, snapshot_root, trim


def entry(root: Path, letter: str, size: int, age: int) -> Path:
    folder = model_cache(root, letter * 64)
    folder.mkdir(parents=True)
    (folder / "usage.json").write_bytes(bytes(size))
    os.utime(folder / "usage.json", (10**9 - age, 10**9 - age))
    return folder


def test_models_do_not_share_an_entry(tmp_path: Path) -> None:
    one, other = model_cache(tmp_path, "a" * 64), model_cache(tmp_path, "b" * 64)
    assert one != other and one.parent == other.parent == tmp_path
    assert "Edge0" in str(model_cache(None, "a" * 64))


def test_the_oldest_entries_go_first_and_ours_stays(tmp_path: Path) -> None:
    ours = entry(tmp_path, "a", 100, age=9)
    old, newer = entry(tmp_path, "b", 100, age=5), entry(tmp_path, "c", 100, age=1)
    trim(ours, limit=300)
    assert old.exists()
    trim(ours, limit=299)
    assert not old.exists() and newer.exists() and ours.exists()
    trim(ours, limit=10)
    assert not newer.exists() and ours.exists()


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    ours = entry(tmp_path, "a", 100, age=0)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text").write_bytes(bytes(1000))
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    try:
        os.symlink(outside, tmp_path / ("d" * 32))
    except OSError:
        pytest.skip("links are not allowed here")
    trim(ours, limit=1)
    assert {path.name for path in tmp_path.iterdir()} == {"a" * 32, "thesis", "d" * 32}
    assert outside.is_dir()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    trim(tmp_path / "nowhere" / ("a" * 32))


def test_forgetting_takes_all_snapshots_and_nothing_else(tmp_path: Path) -> None:
    usage = entry(tmp_path, "a", 100, age=0)
    for folder in (snapshot_root(tmp_path) / ("a" * 32), tmp_path / f"prefix-{'0' * 16}"):
        folder.mkdir(parents=True)
        (folder / "rows.kv").write_bytes(bytes(70))
    (tmp_path / "prefix-mine").mkdir()
    assert snapshot_bytes(tmp_path) == 70
    assert forget_all(tmp_path) == 140  # also what an interrupted clearing left
    assert {path.name for path in tmp_path.iterdir()} == {usage.name, "prefix-mine"}
    assert forget_all(tmp_path) == 0 == forget_all(tmp_path / "nowhere")


def test_what_cannot_be_forgotten_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows does not delete a file that another program has open."""
    folder = snapshot_root(tmp_path) / ("a" * 32)
    folder.mkdir(parents=True)
    (folder / "rows.kv").write_bytes(bytes(70))
    with monkeypatch.context() as system:
        system.setattr(shutil, "rmtree", lambda folder, ignore_errors: None)
        with pytest.raises(StorageError, match="in use"):
            forget_all(tmp_path)
    assert forget_all(tmp_path) == 70
    assert list(tmp_path.iterdir()) == []
