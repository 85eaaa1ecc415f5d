"""The model list: opening, switching, failing, and folders that are gone."""

from __future__ import annotations

import shutil
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.core import Core
from app.settings import Settings, write_settings
from engine import BudgetError
from tests.app.conftest import NO_STARTER
from tests.app.fake_engine import FakeEngine, Script, installed


def names(core: Core) -> list[tuple[str, bool]]:
    return [(entry.name, entry.present) for entry in core.library.entries]


def test_a_missing_folder_is_marked_and_not_forgotten(
    qtbot: QtBot, engine: FakeEngine, folder: Path
) -> None:
    away = installed(folder / "drive" / "away model")
    write_settings(folder / "settings.json", Settings(models=(str(away.path),)))
    shutil.rmtree(folder / "drive")
    core = Core(engine, folder, NO_STARTER)
    assert names(core) == [("One", True), ("away model", False)]
    core.library.open_last()  # the last used one is gone: the one that is there opens
    qtbot.waitUntil(lambda: core.library.status == "ready")
    assert core.library.current == engine.models[0].path
    installed(away.path)  # the drive is back
    core.library.refresh()
    assert ("away model", True) in names(core)
    shutil.rmtree(folder / "drive")
    core.library.forget(away.path)
    assert names(core) == [("One", True)]
    assert core.close()


def test_the_last_used_model_opens_again(qtbot: QtBot, engine: FakeEngine, folder: Path) -> None:
    engine.models.append(installed(folder / "models" / "two", "Two"))
    core = Core(engine, folder, NO_STARTER)
    core.library.open_last()
    assert core.library.status == "none"  # two, and none used before: the user chooses
    core.library.open(engine.models[1].path)
    qtbot.waitUntil(lambda: core.library.status == "ready")
    assert core.close()
    again = Core(engine, folder, NO_STARTER)
    again.library.open_last()
    qtbot.waitUntil(lambda: again.library.status == "ready")
    assert again.library.current == engine.models[1].path
    assert again.close()


def test_choosing_another_model_while_one_opens(
    qtbot: QtBot, core: Core, engine: FakeEngine, script: Script, folder: Path
) -> None:
    engine.models.append(installed(folder / "models" / "two", "Two"))
    script.load_s = 0.3
    script.loads.clear()
    core.library.open(engine.models[0].path)
    core.library.open(engine.models[1].path)
    qtbot.waitUntil(lambda: not core.engine.busy)
    assert core.library.status == "ready"
    assert core.library.current == engine.models[1].path
    assert script.loads == [engine.models[1].path]


def test_a_model_that_does_not_fit_says_so(
    qtbot: QtBot, core: Core, engine: FakeEngine, script: Script
) -> None:
    script.fail_load = BudgetError("3 GB cannot hold this model.", "Give it 5 GB.", 5.0)
    core.library.open(engine.models[0].path)
    qtbot.waitUntil(lambda: core.library.status == "failed")
    assert core.library.error is not None and core.library.error.next_step == "Give it 5 GB."
    assert core.library.current is None
