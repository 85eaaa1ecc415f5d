"""The modules of installers/, and a faked edge to the system."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installers() -> Iterator[SimpleNamespace]:
    """The modules of installers/, imported as bootstrap.py imports its neighbours."""
    sys.path.insert(0, str(ROOT / "installers"))
    try:
        names = ("bootstrap", "environment", "system_packages")
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(ROOT / "installers"))


@pytest.fixture
def system(installers: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The edge to the system, faked: libxcb-cursor and libEGL are missing; apt calls are noted."""
    packages = installers.system_packages
    missing = ["libEGL.so.1", "libxcb-cursor.so.0"]
    packages.asked = []

    def note(names: list[str]) -> bool:
        packages.asked += [list(names)]
        return True

    monkeypatch.setattr(packages, "can_load", lambda soname: soname not in missing)
    monkeypatch.setattr(packages, "apt_install", note)
    monkeypatch.setattr(packages, "has_cjk_font", lambda: False)
    monkeypatch.setattr(packages, "is_root", lambda: False)
    return packages
