"""Interrupted conversions: killed at any instant, the same command ends with the same bytes."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.safetensors import read_file_header
from engine.container import writer
from engine.container.files import SPARE_BYTES
from engine.container.reader import Container
from engine.errors import Stopped, StorageError
from engine.events import Progress
from engine.prepare.by_shard import prepare_by_shard
from engine.prepare.prepare import PrepareSummary, prepare
from engine.stop import StopFlag
from tests.engine.prepare.conftest import contents
from tests.helpers.tiny_models import make_tiny_checkpoint

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def frequent_syncs(monkeypatch):
    monkeypatch.setattr(writer, "SYNC_BYTES", 20_000)


def interrupted(source: Path, out: Path, step: int, error: BaseException) -> None:
    """A conversion that fails in its progress report number `step`."""
    seen = iter(range(10**6))

    def report(progress: Progress) -> None:
        if next(seen) == step:
            raise error

    with pytest.raises(type(error)):
        prepare(source, out, progress=report)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_without_warning_again_and_again(source, tmp_path, finished):
    out = tmp_path / "out"
    total = len(finished["dense.safetensors"]) + len(finished["experts-00001.moex"])
    program = ROOT / "tests/helpers/prepare_and_die.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    limits = [*sorted(random.Random(7).sample(range(total), 4)), total - 8192, total * 2]
    for limit in limits:
        command = [sys.executable, str(program), str(source), str(out), str(limit)]
        code = subprocess.run(command, env=environment, timeout=60).returncode
        assert code == (0 if limit > total else -9)
        assert out.exists() == (limit > total)
    assert contents(out) == finished
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_interrupted_at_every_step(source, tmp_path, finished):
    for step in range(0, 39, 3):
        out = tmp_path / f"out{step}"
        interrupted(source, out, step, KeyboardInterrupt())
        assert not out.exists()
        summary = prepare(source, out)
        assert contents(out) == finished
        assert summary.resumed_bytes > 0 or step < 20


@pytest.mark.parametrize("tail", [0, writer.CHECKED_TAIL_BYTES])
@pytest.mark.parametrize("seed", range(6))
def test_files_lose_any_bytes_of_their_ends(source, tmp_path, finished, seed, tail, monkeypatch):
    """After a crash of the whole machine files may be shorter than the journal says."""
    monkeypatch.setattr(writer, "CHECKED_TAIL_BYTES", tail)
    chance = random.Random(seed)
    out, partial = tmp_path / "out", tmp_path / "out.partial"
    interrupted(source, out, chance.randrange(20, 39), KeyboardInterrupt())
    for path in partial.iterdir():
        if chance.random() < 0.7:
            os.truncate(path, chance.randrange(path.stat().st_size + 1))
    prepare(source, out)
    assert contents(out) == finished


def test_a_damaged_tail_is_written_again(source, tmp_path, finished):
    out, partial = tmp_path / "out", tmp_path / "out.partial"
    interrupted(source, out, 36, KeyboardInterrupt())
    with open(partial / "experts-00001.moex", "r+b") as file:
        file.seek(8200)
        file.write(b"damage")
    prepare(source, out)
    assert contents(out) == finished


def test_killed_between_the_last_byte_and_the_new_name(source, tmp_path, finished, monkeypatch):
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("engine.prepare.prepare.publish", lambda *paths: os.abort_here())
        with pytest.raises(AttributeError):
            prepare(source, out)
    assert "manifest.json" in contents(tmp_path / "out.partial")
    prepare(source, out)
    assert contents(out) == finished


def test_stopping_keeps_what_is_done(source, tmp_path, finished):
    out, stop = tmp_path / "out", StopFlag()

    def report(progress: Progress) -> None:
        if "layer 2" in progress.what:
            stop.set()

    with pytest.raises(Stopped):
        prepare(source, out, progress=report, stop=stop)
    stop.clear()
    summary = prepare(source, out, stop=stop)
    assert summary.resumed_bytes > 0.5 * summary.bytes
    assert contents(out) == finished


def test_other_options_start_anew_and_leave_nothing_behind(source, tmp_path):
    out = tmp_path / "out"
    interrupted(source, out, 36, KeyboardInterrupt())
    (tmp_path / "out.partial" / "experts-00002.moex").write_bytes(b"stray")
    steps = []
    summary = prepare(source, out, "int8", progress=steps.append)
    assert summary.resumed_bytes == 0
    assert any("starting anew" in step.what for step in steps)
    assert "experts-00002.moex" not in contents(out)
    Container.open(out).verify(lambda progress: None, StopFlag())


def test_another_source_of_the_same_shape_starts_anew(source, tmp_path, finished):
    other = make_tiny_checkpoint("qwen3_moe", tmp_path / "model", seed=5, num_hidden_layers=2)
    out = tmp_path / "out"
    interrupted(other, out, 36, KeyboardInterrupt())
    assert prepare(source, out).resumed_bytes == 0
    assert contents(out) == finished


@pytest.mark.parametrize("call", [3, 9, 14])
def test_a_full_disk_is_told_and_can_be_resumed(source, tmp_path, finished, monkeypatch, call):
    out, sync, calls = tmp_path / "out", os.fsync, iter(range(10**6))

    def full(handle: int) -> None:
        if next(calls) >= call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="full") as caught:
            prepare(source, out)
    assert "again" in caught.value.next_step
    prepare(source, out)
    assert contents(out) == finished


def lying_bytes(folder: Path) -> int:
    """What a folder's files take on the drive, holes left out."""
    found = [path.stat() for path in folder.iterdir()]
    return sum(min(s.st_size, getattr(s, "st_blocks", s.st_size) * 512) for s in found)


def test_what_a_full_disk_kept_is_not_asked_for_again(source, tmp_path, finished, monkeypatch):
    out, total = tmp_path / "out", sum(map(len, finished.values()))
    monkeypatch.setattr(writer, "SYNC_BYTES", total // 3)
    interrupted(source, out, 36, KeyboardInterrupt())
    free = SPARE_BYTES + total - lying_bytes(tmp_path / "out.partial")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=free))
    resumed = prepare(source, out).resumed_bytes
    assert total - resumed > free - SPARE_BYTES, "nothing lay there unconfirmed"
    assert contents(out) == finished


class LocalSupply:
    """Files that are there already; notes what was to stay free."""

    def __init__(self) -> None:
        self.reserved: list[int] = []

    def fetch(self, files: Sequence[str], reserve_bytes: int) -> None:
        self.reserved.append(reserve_bytes)

    def holds(self, file: str) -> bool:
        return False

    def release(self, file: str) -> None:
        raise AssertionError(file)


def test_shard_by_shard_does_not_ask_for_it_again_either(source, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "SYNC_BYTES", 1 << 30)
    supply, seen = LocalSupply(), iter(range(10**6))
    places = dict.fromkeys(read_file_header(source / "model.safetensors"), "model.safetensors")

    def convert(last_step: int) -> PrepareSummary:
        def report(progress: Progress) -> None:
            if next(seen) == last_step:
                raise KeyboardInterrupt

        with closing(open_checkpoint(source)) as checkpoint:
            stop = StopFlag()
            out = tmp_path / "out"
            return prepare_by_shard(checkpoint, places, out, supply, "nf4", "", report, stop)

    with pytest.raises(KeyboardInterrupt):
        convert(28)
    lying = lying_bytes(tmp_path / "out.partial")
    left = convert(-1).bytes - lying
    assert 0 < supply.reserved[-1] <= left


def test_the_work_folder_goes_with_its_journal(source, tmp_path):
    interrupted(source, tmp_path / "out", 36, KeyboardInterrupt())
    shutil.rmtree(tmp_path / "out.partial")
    assert prepare(source, tmp_path / "out").resumed_bytes == 0
