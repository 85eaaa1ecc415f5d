"""The .venv's stamp: it vouches for one project at one place, and for nothing after damage."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.tiny_project import write_project

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(installers: Any, tmp_path: Path) -> Any:
    """An installed project, as its stamp says."""
    write_project(tmp_path / "here")
    made = installers.environment.Project(tmp_path / "here")
    made.venv.mkdir()
    (made.root / "engine/kernels/lib").mkdir()
    (made.root / "engine/kernels/lib/edge0-kernels-linux-x86_64.so").touch()
    installers.environment.write_stamp(made, ["test"])
    return made


def test_the_stamp_vouches_for_its_extras_only(installers: Any, project: Any) -> None:
    is_installed = installers.environment.is_installed
    assert is_installed(project, ["test"]) and is_installed(project, [])
    installers.environment.write_stamp(project, [])
    assert is_installed(project, []) and not is_installed(project, ["test"])


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"fingerprint": 1}', '{"extras": 3}'])
def test_a_damaged_stamp_means_installing_again(installers: Any, project: Any, damage: str) -> None:
    project.stamp.write_text(damage, encoding="utf-8")
    assert not installers.environment.is_installed(project, [])


def test_a_moved_project_and_a_missing_library_are_noticed(
    installers: Any, project: Any, tmp_path: Path
) -> None:
    project.root.rename(tmp_path / "there")
    moved = installers.environment.Project(tmp_path / "there")
    assert not installers.environment.is_installed(moved, [])
    assert not installers.environment.venv_works(moved)
    stamp = json.loads(moved.stamp.read_text(encoding="utf-8"))
    moved.stamp.write_text(json.dumps({**stamp, "root": str(moved.root)}), encoding="utf-8")
    assert installers.environment.is_installed(moved, [])
    shutil.rmtree(moved.root / "engine/kernels/lib")
    assert not installers.environment.is_installed(moved, [])


def test_the_projects_own_pin_of_torch_is_found(installers: Any) -> None:
    real = installers.environment.Project(ROOT)
    assert installers.environment.torch_pin(real).count(".") == 2


def test_a_python_without_ensurepip_names_the_debian_package(
    installers: Any, system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installers.environment.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(system, "package_manager", lambda: "apt-get")
    package = f"python3.{sys.version_info.minor}-venv"
    with pytest.raises(installers.environment.SetupError, match=package):
        installers.environment.ensure_venv_module()
    monkeypatch.setattr(system, "is_root", lambda: True)
    installers.environment.ensure_venv_module()
    assert system.asked == [[package]]
