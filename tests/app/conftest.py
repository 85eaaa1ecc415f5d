"""A whole app on a fake engine, in a folder with an awkward name; one Qt application for all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.core import Core
from app.settings import Settings, write_settings
from app.widgets.message_view import MessageView
from tests.app.fake_engine import FakeEngine, Script, installed

Start = Callable[..., Application]
ENGLISH = Settings(language="en", theme="light")
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
def start(qtbot: QtBot, engine: FakeEngine, folder: Path) -> Iterator[Start]:
    """Start the app with some settings; may be called again after closing the first one."""
    running: list[Application] = []

    def run(settings: Settings | None = None, door: FakeEngine | None = None) -> Application:
        if settings is not None:
            write_settings(folder / "settings.json", settings)
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


def say(qtbot: QtBot, application: Application, text: str) -> None:
    """Type a prompt and wait for the end of its reply."""
    entry = application.window.page.composer.entry
    entry.setFocus()
    qtbot.keyClicks(entry, text)
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: application.core.chat.reply is None)


def views(application: Application) -> list[MessageView]:
    """The messages on screen, in order."""
    view = application.window.page.view
    return [view._views[m.id] for m in application.core.chat.path if m.id in view._views]


def button(widget: QWidget, name: str) -> QToolButton:
    """The button a screen reader would call by this name."""
    return next(b for b in widget.findChildren(QToolButton) if b.accessibleName() == name)
