"""The folder of snapshots keeps its cap, spares the drive and touches only what is its own."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.errors import StorageError
from engine.machine.samples import DriveInfo
from engine.store import snapshot_folder
from engine.store.cache_dir import snapshot_bytes, snapshot_root
from engine.store.snapshot_folder import DAILY_CAPS, FREE_BYTES, SnapshotFolder

SIZE = SnapshotFolder.file_bytes(1000)
ROWS = np.arange(1000).astype(np.uint8)
MODEL, OTHER = "a" * 64, "b" * 64


@pytest.fixture(autouse=True)
def space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the drive of these tests has left."""
    monkeypatch.setattr(snapshot_folder, "FREE_BYTES", 0)


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def filled(root: Path, count: int, files: int = 10, model: str = MODEL) -> SnapshotFolder:
    """A folder with room for `files` that holds `count`, one on top of the other."""
    folder = SnapshotFolder(root, model, files * SIZE)
    keys = [key(number) for number in range(count)]
    assert folder.room(count * SIZE) == count * SIZE
    assert sum(folder.write(name, ROWS) for name in keys) == count * SIZE
    folder.used(keys)
    return folder


def aged(folder: SnapshotFolder, number: int, seconds: float) -> None:
    path = folder._path(key(number))
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def held(folder: SnapshotFolder, numbers: range = range(10)) -> list[int]:
    return [number for number in numbers if folder.has(key(number))]


def test_blocks_come_back(tmp_path: Path) -> None:
    folder, rows = filled(tmp_path, 2), np.zeros(1000, np.uint8)
    assert folder.read(key(1), rows) and np.array_equal(rows, ROWS)
    assert not folder.read(key(7), rows)
    assert not SnapshotFolder(tmp_path, OTHER, SIZE).has(key(1))


def test_a_damaged_file_is_deleted(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    path = folder._path(key(1))
    path.write_bytes(path.read_bytes()[:-1])
    assert not folder.read(key(1), np.zeros(1000, np.uint8))
    assert not path.exists() and folder.has(key(0))


def test_what_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    folder = filled(tmp_path, 6, files=6)
    for number, age in enumerate((10, 60, 20, 50, 30, 40)):
        aged(folder, number, age)
    assert folder.room(2 * SIZE) == 2 * SIZE
    assert held(folder) == [0, 2, 4, 5]
    folder.used([key(5)])
    assert folder.room(5 * SIZE) == 5 * SIZE
    assert held(folder) == [5]


def test_of_a_text_the_last_blocks_go_first(tmp_path: Path) -> None:
    folder = filled(tmp_path, 5, files=5)
    folder.room(2 * SIZE)
    assert held(folder) == [0, 1, 2]


def test_the_cap_holds_for_all_models_together(tmp_path: Path) -> None:
    one = filled(tmp_path, 4, files=6)
    for number in range(4):
        aged(one, number, 100)
    two = filled(tmp_path, 5, files=6, model=OTHER)
    assert held(one) == [0] and held(two) == [0, 1, 2, 3, 4]
    assert two.room(99 * SIZE) == 6 * SIZE
    assert snapshot_bytes(tmp_path) < SIZE  # only a note of what was written today


def test_a_smaller_cap_is_kept_from_the_next_save_on(tmp_path: Path) -> None:
    filled(tmp_path, 8)
    smaller = SnapshotFolder(tmp_path, MODEL, 3 * SIZE)
    smaller.room(0)
    assert held(smaller) == [0, 1, 2]


def test_so_much_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(tmp_path, 1, files=2)
    folder.note((2 * DAILY_CAPS - 1) * SIZE)
    assert SnapshotFolder(tmp_path, OTHER, 2 * SIZE).room(2 * SIZE) == SIZE
    folder.note(SIZE)
    assert folder.room(2 * SIZE) <= 0
    monkeypatch.setattr(snapshot_folder, "_today", lambda: 99_999)
    assert folder.room(2 * SIZE) == 2 * SIZE


@pytest.mark.parametrize("text", [b"", b"x y", b"1 2 3", b"\xff\xfe", b"9" * 10_000, b"20000 -5"])
def test_a_damaged_note_of_the_day_counts_as_none(tmp_path: Path, text: bytes) -> None:
    folder = filled(tmp_path, 1)
    (snapshot_root(tmp_path) / "written-today").write_bytes(text)
    assert folder.room(SIZE) == SIZE


def test_a_drive_nearly_full_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, free = filled(tmp_path, 1), FREE_BYTES + 2 * SIZE
    monkeypatch.setattr(snapshot_folder, "FREE_BYTES", FREE_BYTES)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert folder.room(9 * SIZE) == 2 * SIZE
    free = FREE_BYTES - 1
    assert folder.room(9 * SIZE) <= 0
    assert folder.has(key(0))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_only_the_user_may_look_inside(tmp_path: Path) -> None:
    filled(tmp_path / "new" / "cache", 1)
    root = snapshot_root(tmp_path / "new" / "cache")
    folders = [root, *(path for path in root.iterdir() if path.is_dir())]
    assert [stat.S_IMODE(path.stat().st_mode) for path in folders] == [0o700, 0o700]


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    root = snapshot_root(tmp_path)
    theirs = [root / "notes.txt", root / MODEL[:32] / "thesis.kv", tmp_path / f"{'c' * 64}.kv"]
    for path in theirs:
        path.write_bytes(bytes(2 * SIZE))
    SnapshotFolder(tmp_path, MODEL, 0).room(0)
    assert held(folder) == [] and all(path.exists() for path in theirs)


def test_what_a_killed_writer_left_goes_too(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    left = folder._path(key(5)).with_name(f"{key(5).hex()}.kv.4711.tmp")
    left.write_bytes(bytes(SIZE))
    SnapshotFolder(tmp_path, MODEL, 0).room(0)
    assert not left.exists()


@pytest.mark.parametrize("cloud", ["", "OneDrive"])
@pytest.mark.parametrize("kind", ["nvme", "network"])
def test_drives_that_are_slow_or_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cloud: str, kind: str
) -> None:
    drive = DriveInfo(kind, cloud_service=cloud)  # type: ignore[arg-type]
    monkeypatch.setattr(snapshot_folder, "drive_info", lambda _: drive)
    speed = SnapshotFolder(tmp_path, MODEL, SIZE).read_bytes_s()
    assert (speed > 0) == (kind == "nvme" and not cloud)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    folder = SnapshotFolder(tmp_path / "file", MODEL, 10 * SIZE)
    with pytest.raises(StorageError):
        folder.room(SIZE)
    folder.note(5)
    folder.used([key(0)])
    assert not folder.has(key(0)) and not folder.read(key(0), np.zeros(1000, np.uint8))
