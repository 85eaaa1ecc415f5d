"""Work that was begun and not finished: listed, dropped, and never listed in vain."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DownloadError, Stopped, StorageError
from engine.events import Progress
from engine.hub.get import GetOptions, get_model
from engine.hub.policy import DownloadPolicy
from engine.hub.progress import DownloadProgress
from engine.hub.unfinished import drop_unfinished, list_unfinished
from engine.prepare.target import claimed
from engine.starter import STARTER_NAME
from engine.stop import StopFlag
from tests.helpers.fake_hub import FakeHub, Fault

NAME = "model-nf4"


@pytest.fixture
def hub(tiny_files: dict[str, bytes]) -> FakeHub:
    with FakeHub({"org/model": tiny_files}) as hub:
        yield hub


def options(hub: FakeHub, quick: DownloadPolicy, **more: Any) -> GetOptions:
    return GetOptions("org/model", endpoint=hub.url, policy=quick, **more)


def test_what_local_conversions_and_the_starter_left_is_listed_and_dropped(models: Path) -> None:
    (models / "模型 é-nf4.partial").mkdir(parents=True)
    (models / "模型 é-nf4.partial/dense").write_bytes(bytes(9000))
    (models / "whole").mkdir()
    (models / ".starter").mkdir()
    assert STARTER_NAME not in [one.name for one in list_unfinished(models)]  # nothing came yet
    (models / ".starter/wheel.part").write_bytes(bytes(9000))
    found = {one.name: one.kind for one in list_unfinished(models)}
    assert found == {"模型 é-nf4": "local", STARTER_NAME: "starter"}
    for name in (*found, "../models", "whole"):
        drop_unfinished(models, name)
    assert [path.name for path in models.iterdir()] == ["whole"]


def test_what_is_at_work_is_not_dropped(models: Path) -> None:
    (models / "m.partial").mkdir(parents=True)
    with claimed(models / "m"), pytest.raises(StorageError):
        drop_unfinished(models, "m")
    assert (models / "m.partial").is_dir()


def test_cancel_leaves_nothing(hub: FakeHub, models: Path, quick: DownloadPolicy) -> None:
    hub.faults = [Fault("status", "model-00002", times=-1, after=1, status=500)]
    with pytest.raises(DownloadError):
        get_model(options(hub, quick), models)
    assert len(list_unfinished(models)) == 1
    drop_unfinished(models, NAME)
    assert not list_unfinished(models)
    assert [path for path in models.rglob("*") if path.is_file()] == []


def test_an_order_that_could_never_fit_is_not_listed(
    hub: FakeHub, models: Path, quick: DownloadPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.mkdir()
    usage = shutil.disk_usage(models)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=60_000_000))
    with pytest.raises(StorageError, match="too full"):
        get_model(options(hub, quick), models)
    assert list_unfinished(models) == []
    assert [path for path in models.rglob("*") if path.is_file()] == []


def test_an_order_begun_stays_listed_when_the_disk_is_full_later(
    hub: FakeHub, models: Path, quick: DownloadPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = StopFlag()

    def stop_early(progress: Progress) -> None:
        if isinstance(progress, DownloadProgress) and progress.done:
            stop.set()

    hub.bytes_per_s = 400_000
    with pytest.raises(Stopped):
        get_model(options(hub, quick), models, stop_early, stop)
    usage = shutil.disk_usage(models)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=60_000_000))
    with pytest.raises(StorageError, match="too full"):
        get_model(options(hub, quick), models)
    (work,) = list_unfinished(models)
    assert (work.name, work.kind) == (NAME, "hub") and work.done > 0
