"""For every test: no real user data, no screen, fixed seeds, and a failure for a leaked thread."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import filelock
import hypothesis
import numpy as np
import platformdirs
import pytest

from tests.helpers.real_environment import REAL, hide_user_folders

_HOME = Path(tempfile.mkdtemp(prefix="edge0-test-home-"))
hide_user_folders(_HOME)  # at import: libraries read these when they are first imported
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"

hypothesis.settings.register_profile("edge0", deadline=None, derandomize=True)
hypothesis.settings.load_profile("edge0")

THREAD_GRACE_S = 3.0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """The workers start in this process's environment, and hide the user's folders themselves."""
    os.environ.clear()
    os.environ.update(REAL)


def pytest_unconfigure() -> None:
    shutil.rmtree(_HOME, ignore_errors=True)


def _stray_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t not in before and not t.daemon and t.is_alive()]


@pytest.fixture(autouse=True)
def no_leaked_threads() -> Iterator[None]:
    """A thread that outlives its test would work on files and objects that are gone."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + THREAD_GRACE_S
    while (stray := _stray_threads(before)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not stray, f"threads left running: {[thread.name for thread in stray]}"


@pytest.fixture(autouse=True)
def usual_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that lower their process's priority run inside ours, which could not get it back."""
    from engine.machine import background

    monkeypatch.setattr(background, "yield_to_others", lambda: None)


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    random.seed(0)
    np.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture(autouse=True)
def no_memory_of_other_tests() -> Iterator[None]:
    """What one test's model learned must not warm up another's."""
    yield
    shutil.rmtree(platformdirs.user_cache_path("Edge0", appauthor=False), ignore_errors=True)


@pytest.fixture(scope="session")
def starter_gguf() -> Path:
    """The starter model's GGUF file (read only; 98 MB)."""
    from tests.helpers.starter import cached_gguf

    return cached_gguf()


@pytest.fixture(scope="session")
def starter_container(starter_gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter model converted to int8 (read only: tests, and pytest's workers, share it)."""
    from engine.prepare.prepare import prepare

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    target = folder / "models" / "SmolLM2-135M-Instruct-int8"
    with filelock.FileLock(folder / "starter.lock"):
        prepare(starter_gguf, target, quant="int8")  # the second time, nothing is left to do
    return target
