"""The converted models on this machine: where they are kept, what each is, what is wrong with it.

Reads manifests and headers, never weights. One broken folder is listed with its problem and never
hides the others. Any thread; holds nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from engine.container.files import storage_errors
from engine.container.manifest import MANIFEST_NAME
from engine.container.reader import Container
from engine.errors import ConfigError, Edge0Error
from engine.machine.disk import folder_bytes
from engine.text import Text

_PARTIAL = ".partial"  # a conversion at work, or interrupted
_WEIGHTS = ".moex"  # no other program writes those
_REPLACED = ".replaced"  # an old model about to be deleted


@dataclass(frozen=True)
class InstalledModel:
    """One model folder. When `problem` is not empty the model cannot be opened and says why;
    unfinished: because its conversion is not done yet; damaged: because a check found wrong bytes.

    format: number format of the experts. dense: every block is used for every token.
    """

    name: str
    path: Path
    size_bytes: int
    format: str = ""
    model_type: str = ""
    layers: int = 0
    experts: int = 0
    top_k: int = 0
    dense: bool = False
    problem: str = ""
    next_step: str = ""
    unfinished: bool = False
    damaged: bool = False


def models_dir(override: Path | None = None) -> Path:
    """The folder models are kept in; it may not exist yet. `override` is the user's own choice."""
    return override or platformdirs.user_data_path("Edge0", appauthor=False) / "models"


def list_models(folder: Path | None = None) -> list[InstalledModel]:
    """Every model folder in `folder`, by name. Raises StorageError when it cannot be read."""
    folder = models_dir(folder)
    if not folder.is_dir():
        return []
    with storage_errors(folder), os.scandir(folder) as entries:
        paths = [Path(entry.path) for entry in entries if _may_be_model(entry)]
    models = [_unfinished(p) if p.name.endswith(_PARTIAL) else inspect_model(p) for p in paths]
    return sorted(models, key=lambda model: (model.name.lower(), model.name))


def inspect_model(path: Path) -> InstalledModel:
    """What one folder holds; never raises for a damaged one."""
    try:
        container = Container.open(path)
    except Edge0Error as error:
        size, (problem, advice) = folder_bytes(path), (error.message, error.next_step)
        return InstalledModel(path.name, path, size, problem=problem, next_step=advice)
    manifest, shape = container.manifest, container.shape
    model = InstalledModel(
        name=path.name,
        path=path,
        size_bytes=manifest.weight_bytes,
        format=manifest.quant,
        model_type=shape.model_type,
        layers=shape.layers,
        experts=shape.experts,
        top_k=shape.top_k,
        dense=shape.dense,
    )
    try:
        container.refuse_known_damage()
    except Edge0Error as error:
        return replace(model, problem=error.message, next_step=error.next_step, damaged=True)
    return model


def find_model(name_or_dir: str | Path, folder: Path | None = None) -> Path:
    """The folder meant by a path, a model's name, or the start of just one name.

    Raises ConfigError that lists what there is.
    """
    path = Path(name_or_dir).expanduser()
    if (path / MANIFEST_NAME).is_file():
        return path
    models = list_models(folder)
    found = _by_name(str(name_or_dir), models)
    if len(found) == 1:
        return found[0].path
    if path.exists():
        raise ConfigError(
            Text("{0} is not a converted model.", path),
            Text('Convert it first: edge0 prepare --model "{0}" --out FOLDER.', path),
        )
    if found:
        names = ", ".join(model.name for model in found)
        raise ConfigError(
            Text("{0} could mean {1}.", name_or_dir, names), Text("Type more of the name.")
        )
    raise ConfigError(Text("There is no model named {0}.", name_or_dir), _what_there_is(models))


def _by_name(name: str, models: list[InstalledModel]) -> list[InstalledModel]:
    """Models of exactly this name, else in any case, else beginning with it; good ones first."""
    lower = name.lower()
    for match in (
        [model for model in models if model.name == name],
        [model for model in models if model.name.lower() == lower],
        [model for model in models if lower and model.name.lower().startswith(lower)],
    ):
        if match:
            return [model for model in match if not model.problem] or match
    return []


def _what_there_is(models: list[InstalledModel]) -> Text:
    if not models:
        return Text(
            "No model is installed yet: run edge0 starter, or edge0 prepare to convert one."
        )
    return Text("Installed: {0}.", ", ".join(model.name for model in models))


def _may_be_model(entry: os.DirEntry[str]) -> bool:
    """A folder with a manifest, or with our weights: a copy that broke off before the manifest."""
    if entry.name.startswith(".") or entry.name.endswith(_REPLACED):
        return False
    try:
        if not entry.is_dir():
            return entry.is_symlink() and not os.path.exists(entry.path)  # its drive is gone
        with os.scandir(entry.path) as files:
            return entry.name.endswith(_PARTIAL) or any(_is_ours(file.name) for file in files)
    except OSError as error:
        return not isinstance(error, PermissionError)  # that is a folder of the system


def _is_ours(name: str) -> bool:
    return name == MANIFEST_NAME or name.endswith(_WEIGHTS)


def _unfinished(path: Path) -> InstalledModel:
    name = path.name.removesuffix(_PARTIAL)
    problem = Text("Its conversion is not finished.")
    again = Text("Run the same conversion again to go on.")
    size = folder_bytes(path)
    return InstalledModel(name, path, size, problem=problem, next_step=again, unfinished=True)
