"""The list of models: broken, unfinished and missing ones are shown, and hide nothing."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

import pytest

from engine import library
from engine.cli import main
from engine.cli.shared import default_model
from engine.container.reader import Container
from engine.errors import ConfigError, ContainerError, StorageError
from engine.library import find_model, inspect_model, list_models, models_dir
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers.damage import damage
from tests.helpers.tiny_models import make_tiny_checkpoint


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("测试 用户　é'&#%")
    checkpoint = make_tiny_checkpoint("qwen3_moe", root / "source")
    return prepare(checkpoint, root / "qwen", "nf4").path


@pytest.fixture
def models(tmp_path: Path, container: Path) -> Path:
    shutil.copytree(container, tmp_path / "models" / "Qwen tiny")
    return tmp_path / "models"


def test_a_good_model(models: Path, container: Path) -> None:
    (model,) = list_models(models)
    assert (model.name, model.path, model.problem) == ("Qwen tiny", models / "Qwen tiny", "")
    assert (model.format, model.model_type) == ("nf4", "qwen3_moe")
    assert (model.layers, model.experts, model.top_k, model.dense) == (3, 8, 2, False)
    weights = [*container.glob("*.moex"), container / "dense.safetensors"]
    assert model.size_bytes == sum(file.stat().st_size for file in weights)


def test_broken_folders_are_listed_beside_the_good_one(models: Path) -> None:
    good = models / "Qwen tiny"
    for name in ("a cut", "b alien", "c newer", "d no manifest"):
        shutil.copytree(good, models / name)
    (file,) = (models / "a cut").glob("*.moex")
    file.write_bytes(file.read_bytes()[:-4096])
    (models / "b alien/manifest.json").write_text("[]", encoding="utf-8")
    manifest = json.loads((good / "manifest.json").read_text(encoding="utf-8"))
    manifest["version"] = 99
    (models / "c newer/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (models / "d no manifest/manifest.json").unlink()

    found = {model.name: model for model in list_models(models)}
    assert list(found) == ["a cut", "b alien", "c newer", "d no manifest", "Qwen tiny"]
    assert not found["Qwen tiny"].problem
    problems = [found[name].problem for name in list(found)[:4]]
    for problem, word in zip(
        problems, ("bytes instead", "Edge0 model", "newer", "missing"), strict=True
    ):
        assert word in problem
    assert found["a cut"].size_bytes > 0


def found_damaged(path: Path) -> None:
    """A check of the files finds a wrong byte."""
    damage(next(path.glob("*.moex")), 9000)
    with pytest.raises(ContainerError):
        Container.open(path).verify(lambda _: None, StopFlag())


def test_a_model_that_a_check_found_damaged_is_not_offered_as_fine(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, sound = models / "Qwen tiny", models / "Qwen tiny 2"
    shutil.copytree(damaged, sound, copy_function=shutil.copy)  # with times of its own
    found_damaged(damaged)
    first, second = list_models(models)
    assert (first.name, first.damaged, first.layers) == ("Qwen tiny", True, 3)
    assert "found wrong bytes" in first.problem and "--deep" in first.next_step
    assert (second.damaged, second.problem) == (False, "")
    assert find_model("qwen", models) == sound and find_model("Qwen tiny", models) == damaged
    assert main(["models", "--models-dir", str(models)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "damaged: " in lines[0] and "Convert or download" in lines[0] and "nf4" in lines[1]
    assert default_model(argparse.Namespace(models_dir=models)) == sound.name
    shutil.rmtree(sound)
    with pytest.raises(ConfigError, match="None of the installed models can be opened"):
        default_model(argparse.Namespace(models_dir=models))
    damage(next(damaged.glob("*.moex")), 9000)  # the drive has come to its senses
    Container.open(damaged).verify(lambda _: None, StopFlag())
    assert not inspect_model(damaged).damaged


def test_unfinished_conversions_and_leftovers(models: Path) -> None:
    (models / "Mixtral.partial").mkdir()
    (models / "Mixtral.partial/journal.jsonl").write_text("x", encoding="utf-8")
    (models / "Qwen tiny.replaced").mkdir()
    (models / ".starter").mkdir()
    (models / "notes.txt").write_text("x", encoding="utf-8")
    (models / "Qwen tiny.lock").touch()
    found = list_models(models)
    assert [model.name for model in found] == ["Mixtral", "Qwen tiny"]
    assert "not finished" in found[0].problem and found[0].size_bytes == 1
    assert "same conversion again" in found[0].next_step


def test_folders_that_are_no_models_are_not_listed(models: Path) -> None:
    (models / "photos/2024").mkdir(parents=True)
    (models / "empty").mkdir()
    source = models / "source"
    source.mkdir()
    (source / "config.json").write_text("{}", encoding="utf-8")
    (source / "model.safetensors").write_bytes(b"x")
    (models / "cut copy").mkdir()
    (models / "cut copy/experts-00001.moex").write_bytes(b"x")
    if sys.platform != "win32":
        (models / "a link").symlink_to(models / "photos")
        (models / "to a file").symlink_to(source / "config.json")
    assert [model.name for model in list_models(models)] == ["cut copy", "Qwen tiny"]
    with pytest.raises(ConfigError) as error:
        find_model("llama", models)
    assert error.value.next_step == "Installed: cut copy, Qwen tiny."


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_to_a_drive_that_is_gone_stays_listed(models: Path) -> None:
    (models / "on usb").symlink_to("/media/gone/model")
    found = {model.name: model for model in list_models(models)}
    assert found["on usb"].problem and not found["Qwen tiny"].problem


def test_no_folder_yet_is_an_empty_list(tmp_path: Path) -> None:
    assert list_models(tmp_path / "none") == []


def test_a_folder_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(library.os, "scandir", refuse)
    with pytest.raises(StorageError, match="Permission denied"):
        list_models(tmp_path)


@pytest.mark.parametrize("name", ["Qwen tiny", "qwen TINY", "qwen"])
def test_names_are_found_loosely(models: Path, name: str) -> None:
    assert find_model(name, models) == models / "Qwen tiny"


def test_a_path_is_taken_as_it_is(models: Path, container: Path) -> None:
    assert find_model(container, models) == container
    assert find_model(str(container), models) == container


def test_an_unknown_name_lists_what_there_is(models: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        find_model("llama", models)
    assert error.value.next_step == "Installed: Qwen tiny."
    with pytest.raises(ConfigError) as error:
        find_model("llama", tmp_path / "empty")
    assert "edge0 starter" in error.value.next_step


def test_an_ambiguous_start_names_the_candidates(models: Path) -> None:
    shutil.copytree(models / "Qwen tiny", models / "Qwen large")
    with pytest.raises(ConfigError, match="could mean Qwen large, Qwen tiny"):
        find_model("qwen", models)
    assert find_model("qwen tiny", models) == models / "Qwen tiny"


def test_a_start_means_the_model_that_opens_not_the_broken_one(models: Path) -> None:
    (models / "Qwen tiny.partial").mkdir()
    (models / "Qwen source").mkdir()
    (models / "Qwen source/manifest.json").write_text("{}", encoding="utf-8")
    assert find_model("qwen", models) == models / "Qwen tiny"
    assert find_model("Qwen source", models) == models / "Qwen source"


def test_a_source_model_is_pointed_to_the_converter(models: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.gguf"
    source.write_bytes(b"GGUF")
    with pytest.raises(ConfigError) as error:
        find_model(source, models)
    assert f'edge0 prepare --model "{source}"' in error.value.next_step


def test_where_models_are_kept(tmp_path: Path) -> None:
    assert models_dir(tmp_path) == tmp_path
    assert models_dir().parts[-2:] == ("Edge0", "models")


def test_inspecting_nothing_never_raises(tmp_path: Path) -> None:
    assert inspect_model(tmp_path / "gone").problem
