"""A small sound container, copied to be damaged, and how it must be refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.container.checks import check
from engine.container.manifest import Manifest, parse
from engine.container.reader import Container
from engine.errors import ContainerError
from tests.helpers.tiny_containers import make_tiny_container


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return make_tiny_container(
        tmp_path_factory.mktemp("hostile") / "model", num_hidden_layers=2, num_experts=4
    )


@pytest.fixture(scope="module")
def good(tiny) -> dict[str, Any]:
    return json.loads((tiny / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tiny, tmp_path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


def refused(folder: Path, match: str) -> ContainerError:
    with pytest.raises(ContainerError, match=match) as caught:
        Container.open(folder)
    assert caught.value.next_step
    return caught.value


def rewrite(folder: Path, change: Any) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def checked(value: object) -> Manifest:
    manifest = parse(json.dumps(value).encode())
    check(manifest)
    return manifest
