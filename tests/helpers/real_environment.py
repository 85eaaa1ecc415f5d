"""The environment as it was before conftest.py hid the user's folders from the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

REAL = dict(os.environ)
REAL_CACHE = platformdirs.user_cache_path("edge0-tests", appauthor=False)
HIDDEN = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")


def hide_user_folders(home: Path) -> None:
    """Every folder where programs keep a user's data lies below `home` from now on."""
    for name in HIDDEN:
        os.environ[name] = str(home)
    for name in XDG:
        folder = home / name.lower()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[name] = str(folder)


@contextmanager
def real_environment() -> Iterator[None]:
    """The user's own environment for a moment: pip needs its settings and its cache."""
    hidden = dict(os.environ)
    os.environ.clear()
    os.environ.update(REAL)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(hidden)
