"""A whole app on a fake engine, in a folder with an awkward name; one Qt application for all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Application
from app.core import Core
from app.settings import Settings, write_settings
from tests.app.fake_engine import FakeEngine, Script, installed

AWKWARD = "测试 用户　é'&#%"
NO_STARTER = [sys.executable, "-c", "raise SystemExit('not in this test')"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data folder."""
    path = tmp_path / AWKWARD
    path.mkdir()
    return path


@pytest.fixture
def script() -> Script:
    """How the fake engine behaves; change it before or during a test."""
    return Script()


@pytest.fixture
def engine(folder: Path, script: Script) -> FakeEngine:
    """A fake engine with one model."""
    return FakeEngine([installed(folder / "models" / "one", "One")], script)


@pytest.fixture
def core(qtbot: QtBot, engine: FakeEngine, folder: Path) -> Iterator[Core]:
    """The app without a window, its model open."""
    made = Core(engine, folder, NO_STARTER)
    made.library.open_last()
    qtbot.waitUntil(lambda: made.library.status == "ready")
    yield made
    assert made.close()


@pytest.fixture
def start(qtbot: QtBot, engine: FakeEngine, folder: Path) -> Iterator[Callable[..., Application]]:
    """Start the app with some settings; may be called again after closing the first one."""
    running: list[Application] = []

    def run(settings: Settings | None = None, door: FakeEngine | None = None) -> Application:
        if settings is not None:
            write_settings(folder / "settings.json", settings)
        from PySide6.QtWidgets import QApplication

        application = Application(QApplication.instance(), door or engine, folder, NO_STARTER)
        running.append(application)
        application.window.resize(1100, 700)
        application.start()
        qtbot.waitExposed(application.window)
        qtbot.waitUntil(lambda: application.core.library.status != "loading")
        return application

    yield run
    for application in running:
        assert application.close()


def reply_to(qtbot: QtBot, core: Core, text: str) -> None:
    """Send a prompt and wait for the end of its reply."""
    assert core.chat.send(text)
    qtbot.waitUntil(lambda: core.chat.reply is None)
