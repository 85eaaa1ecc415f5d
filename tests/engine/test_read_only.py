"""A models folder on a read-only drive: what is said, and what works all the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.cli import main
from engine.container.move import move_model
from engine.container.reader import Container
from engine.doctor.survey import survey
from engine.errors import Edge0Error, StorageError
from engine.hub.unfinished import list_unfinished
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers.read_only import read_only
from tests.helpers.tiny_containers import make_tiny_container


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("source") / "tiny")


@pytest.fixture
def models(tmp_path: Path, tiny: Path) -> Path:
    folder = tmp_path / "模型 é"
    folder.mkdir()
    shutil.copytree(tiny, folder / "there")
    return folder


def is_plain(error: Edge0Error) -> bool:
    return "its drive is read-only." in error.message and "another folder" in error.next_step


def test_the_wizard_is_told_before_anything_is_fetched(models: Path) -> None:
    with read_only(models):
        for folder in (models, models / "not yet"):
            assert survey(folder).not_writable.endswith("its drive is read-only.")


def test_converting_and_moving_there_are_refused(models: Path, tiny: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(tiny, tmp_path / "mine"))
    with read_only(models):
        with pytest.raises(StorageError) as converted:
            prepare(tiny.with_name("tiny-source"), models / "new")
        with pytest.raises(StorageError) as moved:
            move_model(mine, models)
        assert is_plain(converted.value) and is_plain(moved.value)
        assert list_unfinished(models) == []
    assert Container.open(mine) and [path.name for path in models.iterdir()] == ["there"]


def test_moving_away_from_there_is_refused_before_anything_is_copied(
    models: Path, tmp_path: Path
) -> None:
    with read_only(models), pytest.raises(StorageError) as caught:
        move_model(models / "there", tmp_path / "new")
    assert "is on a drive that cannot be written" in caught.value.message
    assert caught.value.next_step == "Copy the folder instead."
    assert not (tmp_path / "new").exists()


def test_a_model_there_is_opened_checked_and_answers(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with read_only(models):
        container = Container.open(models / "there")
        container.verify(lambda _: None, StopFlag())
        assert container.verified[0] == "intact"  # noted beside it, in the cache
        folder = ["--models-dir", str(models), "--max-tokens", "3"]
        assert main(["chat", "there", "--once", "hello", *folder]) == 0
    assert "first token" in capsys.readouterr().err
