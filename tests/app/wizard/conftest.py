"""The app on the real engine, its models in an awkward folder; a tiny model to add."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import engine
from app.application import Application
from app.sampling import Sampling
from app.settings import Settings, write_settings
from app.wizard.wizard import Wizard
from tests.app.conftest import NO_STARTER
from tests.helpers.tiny_models import make_tiny_checkpoint


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint to convert."""
    return make_tiny_checkpoint("qwen3_moe", tmp_path_factory.mktemp("source") / "tiny 'é 模型")


@pytest.fixture
def real_app(qtbot: QtBot, folder: Path) -> Iterator[Application]:
    """A window on the real engine, with no model yet."""
    from PySide6.QtWidgets import QApplication

    settings = Settings(
        language="en",
        theme="light",
        models_folder=str(folder / "models"),
        sampling=Sampling(max_tokens=4),
    )
    write_settings(folder / "settings.json", settings)
    application = Application(QApplication.instance(), engine, folder, NO_STARTER)
    application.start()
    qtbot.waitExposed(application.window)
    yield application
    assert application.close()


@pytest.fixture
def wizard(qtbot: QtBot, real_app: Application) -> Wizard:
    """The wizard, its first page filled."""
    real_app.window.add_model()
    found = real_app.window.findChild(Wizard)
    assert found is not None
    qtbot.waitUntil(lambda: found.next.isEnabled(), timeout=20_000)
    return found
