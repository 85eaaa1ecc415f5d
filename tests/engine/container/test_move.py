"""Moving a model: whole at one place at any instant, also between drives and after a kill."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from engine.cli import main
from engine.container import move
from engine.container.move import move_model
from engine.container.reader import Container
from engine.errors import ContainerError, Stopped, StorageError
from engine.events import Progress
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers.tiny_models import make_tiny_checkpoint


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("move 'é 测试")
    return prepare(make_tiny_checkpoint("qwen3_moe", root / "source"), root / "qwen", "nf4").path


@pytest.fixture
def model(made: Path, tmp_path: Path) -> Path:
    path = tmp_path / "old" / "模型 'é"
    shutil.copytree(made, path)
    (path / "NOTES.txt").write_text("mine", encoding="utf-8")
    return path


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that counts as another drive: a rename across fails."""
    folder, rename = tmp_path / "far", os.rename
    folder.mkdir()

    def strict(a: str | Path, b: str | Path) -> None:
        if (folder in Path(a).parents) != (folder in Path(b).parents):
            raise OSError(18, "another drive")
        rename(a, b)

    class Os:
        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

        rename = staticmethod(strict)

        @staticmethod
        def stat(path: Path) -> object:
            return type("Status", (), {"st_dev": 2 if Path(path) == folder else 1})

    monkeypatch.setattr(move, "os", Os())
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def is_whole(path: Path) -> bool:
    with closing(Container.open(path)) as container:
        container.verify(lambda _: None, StopFlag())
    return True


def test_on_one_drive_it_is_one_step(model: Path, tmp_path: Path) -> None:
    before = content(model)
    moved = move_model(model, tmp_path / "new" / "deep")
    assert moved == tmp_path / "new" / "deep" / model.name and content(moved) == before
    assert not model.exists()


def test_to_another_drive_everything_is_copied_and_compared(model: Path, far: Path) -> None:
    before, steps = content(model), list[Progress]()
    moved = move_model(model, far, steps.append)
    assert content(moved) == before and list(model.parent.iterdir()) == []
    assert Container.open(moved).verified[0] == "intact"
    assert [path.name for path in far.iterdir()] == [model.name]
    assert steps[-1].done == steps[-1].total
    assert [s.done for s in steps] == sorted(s.done for s in steps)


@pytest.mark.parametrize("word", ["copying", "checking"])
def test_stopped_anywhere_the_old_one_is_whole_and_it_goes_on(
    model: Path, far: Path, word: str
) -> None:
    stop, copied = StopFlag(), list[str]()

    def stop_once(step: Progress) -> None:
        if step.what.startswith(word) and step.done > step.total // 4:
            stop.set()

    with pytest.raises(Stopped):
        move_model(model, far, stop_once, stop)
    assert is_whole(model) and not (far / model.name).exists()
    moved = move_model(model, far, lambda step: copied.append(step.what))
    assert is_whole(moved) and not model.exists()
    if word == "checking":
        assert not [what for what in copied if what.startswith("copying")]


def test_killed_before_the_old_one_was_removed(model: Path, far: Path) -> None:
    shutil.copytree(model, far / model.name)
    assert move_model(model, far) == far / model.name
    assert not model.exists() and is_whole(far / model.name)


def test_an_old_place_that_cannot_be_given_up_is_told_with_the_new_one(
    model: Path, far: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(a: Path, b: Path) -> None:
        if a == model and b.parent == model.parent:
            raise PermissionError(13, "held open")  # as Windows does
        os.rename(a, b)

    monkeypatch.setattr(move.os, "rename", held)
    with pytest.raises(StorageError, match="could not be removed") as caught:
        move_model(model, far)
    assert str(far / model.name) in caught.value.message
    assert is_whole(model) and is_whole(far / model.name)


def test_a_copy_that_went_wrong_is_not_taken(
    model: Path, far: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_file = move._copy_file

    def damage(path: Path, target: Path, *rest: object) -> int:
        done = copy_file(path, target, *rest)  # type: ignore[arg-type]
        if target.suffix == ".moex":
            data = bytearray(target.read_bytes())
            data[-1] ^= 1
            target.write_bytes(data)
        return done

    with monkeypatch.context() as patch:
        patch.setattr(move, "_copy_file", damage)
        with pytest.raises(ContainerError):
            move_model(model, far)
    assert is_whole(model) and list(far.iterdir()) == []
    assert is_whole(move_model(model, far))


def test_nothing_else_is_replaced(model: Path, far: Path) -> None:
    (far / model.name).mkdir()
    with pytest.raises(StorageError, match="exists"):
        move_model(model, far)
    with pytest.raises(StorageError, match="is where"):
        move_model(model, model.parent)
    assert is_whole(model)


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_file_is_no_place_for_a_model(model: Path, tmp_path: Path, below: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError) as caught:
        move_model(model, file / below)
    assert caught.value.message == f"{file} is not a folder."
    assert caught.value.next_step == "Choose another folder."
    assert is_whole(model)


def test_the_command_tells_the_new_place(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["move", str(model), str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "new" / model.name)
