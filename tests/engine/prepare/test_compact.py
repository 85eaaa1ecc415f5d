"""Laying records out anew: the same bytes, hot first, and one whole model whatever happens."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.container import files
from engine.container.manifest import weights_id
from engine.container.reader import Container
from engine.errors import ConfigError, ContainerError, Stopped, StorageError
from engine.events import Progress
from engine.prepare.compact import WORK_NAME, compact, hot_order
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers.compact_and_die import rising
from tests.helpers.damage import damage
from tests.helpers.tiny_containers import make_tiny_container

ROOT = Path(__file__).parents[3]
FIRST, SECOND = "experts-00001.moex", "experts-1-00001.moex"


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("测试 é'&#%") / "model", num_hidden_layers=2)


@pytest.fixture
def folder(converted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(converted, tmp_path / "model"))


def whole(path: Path) -> Container:
    """The container, every byte of it checked."""
    container = Container.open(path)
    container.verify(lambda _: None, StopFlag())
    return container


def orders(container: Container) -> list[list[int]]:
    experts, records = container.shape.experts, container.manifest.records
    return [[r.expert for r in records[i : i + experts]] for i in range(0, len(records), experts)]


def names(path: Path) -> set[str]:
    return {entry.name for entry in path.iterdir()}


def test_hot_experts_come_first_and_every_byte_is_kept(folder: Path) -> None:
    before = whole(folder)
    counts = np.zeros((2, 8), np.int64)
    counts[0, [5, 2]], counts[1, 7] = [9, 4], 1
    seen: list[Progress] = []
    summary = compact(folder, counts, seen.append)
    after = whole(folder)
    assert orders(after) == [[5, 2, 0, 1, 3, 4, 6, 7], [7, 0, 1, 2, 3, 4, 5, 6]]
    assert after.manifest.counts == tuple(map(tuple, counts.tolist()))
    for record in before.manifest.records:
        old = before.record(record.layer, record.expert)
        new = after.record(record.layer, record.expert)
        assert (new.sha256, new.bytes) == (old.sha256, old.bytes)
    assert weights_id(after.manifest) == weights_id(before.manifest)
    assert names(folder) - {SECOND} == names(folder.with_name("model")) - {SECOND}
    assert FIRST not in names(folder) and WORK_NAME not in names(folder)
    assert not summary.already and summary.records == 16
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert seen[-1].done == seen[-1].total


def test_again_and_again(folder: Path) -> None:
    compact(folder, rising(folder))
    assert compact(folder).already
    assert compact(folder, rising(folder)).already
    compact(folder, rising(folder)[:, ::-1])
    container = whole(folder)
    assert orders(container) == [list(range(8))] * 2
    assert [file.name for file in container.manifest.files] == ["experts-2-00001.moex"]


def test_the_same_conversion_is_still_ready(folder: Path, converted: Path) -> None:
    compact(folder, rising(folder))
    before = (folder / "manifest.json").read_bytes()
    assert prepare(converted.with_name("model-source"), folder, "nf4").already
    assert (folder / "manifest.json").read_bytes() == before


def test_what_says_that_it_is_checked_was_compared_as_a_whole(folder: Path) -> None:
    seen: list[Progress] = []
    compact(folder, rising(folder), seen.append)
    assert seen[-1].what == "checked" and Container.open(folder).verified[0] == "intact"
    told = {progress.what for progress in seen}
    assert {"checking head", "checking tokenizer.json", "checking the experts of layer 2"} <= told
    assert seen[0].total == seen[-1].total


@pytest.mark.parametrize("part", ["head", "tokenizer.json", "layer 1, expert 3"])
def test_damage_anywhere_is_found_and_remembered_and_nothing_changes(
    folder: Path, part: str
) -> None:
    container = whole(folder)
    tensors = container.manifest.tensors
    record = container.record(1, 3)
    file, offset = {
        "head": (folder / "dense.safetensors", tensors["head"].offset + 7),
        "tokenizer.json": (folder / "tokenizer.json", 7),
        "layer 1, expert 3": (folder / FIRST, record.offset + 7),
    }[part]
    damage(file, offset)
    assert Container.open(folder).verified[0] == "intact"
    with pytest.raises(ContainerError, match=part):
        compact(folder, rising(folder))
    assert names(folder) & {FIRST, SECOND, WORK_NAME} == {FIRST}
    with pytest.raises(ContainerError, match="the last check"):
        Container.open(folder).refuse_known_damage()


def test_files_that_are_not_ours_stay(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "experts-old.moex").write_text("mine", encoding="utf-8")
    compact(folder, rising(folder))
    assert {"notes.txt", "experts-old.moex"} <= names(folder)


def test_without_any_counts(folder: Path) -> None:
    with pytest.raises(ConfigError, match="Nothing is known"):
        compact(folder)
    with pytest.raises(ConfigError, match="do not fit"):
        compact(folder, np.ones((2, 7), np.int64))
    with pytest.raises(ConfigError, match="do not fit"):
        compact(folder, np.full((2, 8), -1, np.int64))
    whole(folder)


def test_ties_keep_the_experts_own_order() -> None:
    assert hot_order(np.array([[0, 3, 0, 3]])) == [[1, 3, 0, 2]]


def test_a_full_disk_is_told_before_a_byte_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(folder)._replace(free=files.SPARE_BYTES + 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(StorageError, match="too full"):
        compact(folder, rising(folder))
    assert FIRST in names(folder)
    whole(folder)


@pytest.mark.parametrize("offset", [20, 4096 + 11])
def test_what_the_drive_gives_back_is_compared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, offset: int
) -> None:
    """A drive that lies: bytes change between writing and reading back."""
    from engine.prepare import compact as module

    read_back = module._read_back

    def lie(work: Path, *others: Any) -> None:
        with open(work / SECOND, "r+b") as file:
            file.seek(offset)
            file.write(b"\xff\x00\xff")
        read_back(work, *others)

    monkeypatch.setattr(module, "_read_back", lie)
    with pytest.raises(StorageError, match="other bytes"):
        compact(folder, rising(folder))
    assert names(folder) & {FIRST, SECOND, WORK_NAME} == {FIRST}
    whole(folder)


def test_stopping_and_going_on(folder: Path) -> None:
    stop, seen = StopFlag(), []

    def report(progress: Progress) -> None:
        if "moving" in progress.what and progress.done >= progress.total // 4:
            stop.set()

    with pytest.raises(Stopped):
        compact(folder, rising(folder), report, stop)
    assert orders(whole(folder)) == [list(range(8))] * 2
    stop.clear()
    compact(folder, rising(folder), seen.append, stop)
    moving = [progress for progress in seen if "moving" in progress.what]
    assert moving[0].done >= moving[0].total // 4
    assert orders(whole(folder)) == [list(range(7, -1, -1))] * 2


# --- kills -------------------------------------------------------------------------------------


class Crash(BaseException):
    """The power went."""


STEPS: tuple[tuple[Any, str], ...] = (
    (os, "fsync"),
    (os, "replace"),
    (os, "unlink"),
    (Path, "unlink"),
    (shutil, "rmtree"),
)


def crash_at(monkeypatch: pytest.MonkeyPatch, call: int) -> Iterator[int]:
    """Lets `call` steps on the disk happen and no more; yields the number of each."""
    count = iter(range(10**6))

    def guarded(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            if next(count) >= call:
                raise Crash
            return work(*arguments, **options)

        return run

    for owner, name in STEPS:
        monkeypatch.setattr(owner, name, guarded(getattr(owner, name)))
    return count


def test_a_crash_at_any_step_leaves_one_whole_model(
    converted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, call = [list(range(7, -1, -1))] * 2, 0
    found = []
    while True:
        folder = Path(shutil.copytree(converted, tmp_path / f"model-{call}"))
        counts = rising(folder)
        try:
            with monkeypatch.context() as patch:
                crash_at(patch, call)
                compact(folder, counts)
            break
        except Crash:
            found.append(orders(whole(folder)))
        compact(folder, counts)
        assert orders(whole(folder)) == wanted
        assert names(folder) & {FIRST, SECOND, WORK_NAME} == {SECOND}
        call += 1
    assert found[0] == [list(range(8))] * 2 and found[-1] == wanted  # before and after the commit
    assert call > 8


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("moment", ["40000", "140000", "190000", SECOND, "manifest.json"])
def test_kill_9(folder: Path, moment: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "tests.helpers.compact_and_die", str(folder), moment],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
    )
    assert result.returncode == -9, result.stderr.decode()
    assert orders(whole(folder)) == [list(range(8))[:: -1 if moment == "manifest.json" else 1]] * 2
    compact(folder, rising(folder))
    assert orders(whole(folder)) == [list(range(7, -1, -1))] * 2
    assert names(folder) & {FIRST, SECOND, WORK_NAME} == {SECOND}


def test_a_disk_that_fills_up_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="full"):
            compact(folder, rising(folder))
    whole(folder)
    compact(folder, rising(folder))
    assert orders(whole(folder)) == [list(range(7, -1, -1))] * 2


def test_a_model_that_is_open_reads_on(folder: Path) -> None:
    """The old files live as long as somebody has them open (elsewhere than on Windows)."""
    before = Container.open(folder)
    with open(folder / FIRST, "rb") as file:
        compact(folder, rising(folder))
        record = before.record(1, 2)
        file.seek(record.offset)
        data = file.read(record.bytes)
    assert data == Container.open(folder).read_record(1, 2).tobytes()
