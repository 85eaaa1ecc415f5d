"""Which files of a repository make one model: a plan to download. Pure; raises before any byte.

Only what `names` allows is taken, only from the top folder (GGUF parts may lie deeper), and never
two files that one disk would confuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.checkpoint.files import SMALL_FILE
from engine.checkpoint.safetensors import INDEX, SINGLE
from engine.errors import UnsupportedModelError
from engine.hub import names
from engine.hub.plan import DownloadPlan, RemoteFile, Repository
from engine.text import Text

MAX_FILES = 2000
_OTHER_VERSION = Text("Choose another version of the model.")
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


@dataclass(frozen=True)
class GgufChoice:
    """One GGUF model of a repository. name: its file, or the first part of a split one."""

    name: str
    files: tuple[RemoteFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(file.size for file in self.files)


def has_safetensors(repository: Repository) -> bool:
    """Whether the top folder holds weights in the form `transformers` reads."""
    return repository.find(INDEX) is not None or repository.find(SINGLE) is not None


def gguf_choices(repository: Repository) -> list[GgufChoice]:
    """The complete GGUF models, by name."""
    whole: dict[str, list[RemoteFile]] = {}
    for file in repository.files:
        if names.is_gguf(file.name):
            match = _PART.fullmatch(file.path)
            key = f"{match['stem']} {match['count']}" if match else file.path
            whole.setdefault(key, []).append(file)
    choices = [_choice(sorted(parts, key=lambda f: f.path)) for parts in whole.values()]
    return sorted((c for c in choices if c is not None), key=lambda choice: choice.name)


def _choice(parts: list[RemoteFile]) -> GgufChoice | None:
    """The model, unless parts are missing."""
    match = _PART.fullmatch(parts[0].path)
    if match is None:
        return GgufChoice(parts[0].path, tuple(parts))
    numbers = [int(m["number"]) for p in parts if (m := _PART.fullmatch(p.path))]
    complete = numbers == list(range(1, int(match["count"]) + 1))
    return GgufChoice(parts[0].path, tuple(parts)) if complete else None


def gguf_plan(repository: Repository, name: str) -> DownloadPlan:
    """One GGUF model, by a part of its name, and the licence."""
    choices = gguf_choices(repository)
    found = [c for c in choices if c.name == name] or [
        c for c in choices if name.lower() in c.name.lower()
    ]
    if len(found) != 1:
        listed = ", ".join(c.name for c in choices[:20]) or Text("none")
        text = (
            Text("{0} has {1} GGUF models named {2}.", repository.id, len(found), repr(name[:80]))
            if found
            else Text("{0} has no GGUF model named {1}.", repository.id, repr(name[:80]))
        )
        raise UnsupportedModelError(text, Text("Choose one of: {0}.", listed))
    licence = [f for f in _side_files(repository) if f.name.lower().startswith("license")]
    return _plan(repository, licence, found[0].files)


def safetensors_plan(repository: Repository, index: Mapping[str, object] | None) -> DownloadPlan:
    """The model's shards, as its index (if it has one) names them, and the small files beside."""
    if index is None:
        wanted = {SINGLE}
    else:
        places = index.get("weight_map")
        values = places.values() if isinstance(places, dict) else [None]
        wanted = {str(value) for value in values if isinstance(value, str)}
        if len(wanted) > MAX_FILES or not all(isinstance(value, str) for value in values):
            raise _unusable(repository, Text("has a damaged {0}", INDEX))
    shards = []
    for name in sorted(wanted):
        file = repository.find(name)
        if file is None or not names.is_weights(name):
            text = Text("lacks the file {0} that its index names", repr(name[:100]))
            raise _unusable(repository, text)
        shards.append(file)
    return _plan(repository, _side_files(repository), shards)


def refuse_unusable(repository: Repository) -> None:
    """Say why there is nothing to take."""
    choices = gguf_choices(repository)
    if choices:
        listed = ", ".join(choice.name for choice in choices[:20])
        step = Text("Choose one of: {0}.", listed)
        raise _unusable(repository, Text("holds several GGUF models"), step)
    if repository.pickles:
        raise _unusable(
            repository,
            Text("has only pickled weights, which could run any code"),
            Text("Choose a version of the model with .safetensors or .gguf files."),
        )
    raise _unusable(repository, Text("holds no model weights"))


def _side_files(repository: Repository) -> list[RemoteFile]:
    """Small files of the top folder with names that suit every disk."""
    return [
        file
        for file in repository.files
        if file.path == file.name
        and names.is_side_file(file.name)
        and names.is_safe_name(file.name)
        and file.size <= SMALL_FILE
    ]


def _plan(
    repository: Repository, side_files: Iterable[RemoteFile], weights: Iterable[RemoteFile]
) -> DownloadPlan:
    """Small files first: a wrong tokenizer is told before the long work."""
    files = (*side_files, *weights)
    for file in files:
        if not names.is_safe_name(file.name):
            text = Text("holds a file named {0}", repr(file.name[:100]))
            raise _unusable(repository, text)
    if len({file.name.casefold() for file in files}) != len(files):
        raise _unusable(repository, Text("holds files whose names differ only in case"))
    if len(files) > MAX_FILES:
        raise _unusable(repository, Text("has more than {0} files", MAX_FILES))
    return DownloadPlan(repository, files)


def _unusable(
    repository: Repository,
    problem: Text,
    next_step: Text = _OTHER_VERSION,
) -> UnsupportedModelError:
    return UnsupportedModelError(Text("{0} {1}.", repository.id, problem), next_step)
