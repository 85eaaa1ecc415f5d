"""What was begun is listed, goes on or is deleted, also after a restart; a model made anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

import engine
from app.application import Application
from app.commands import STARTER_NAME, Order
from app.orders import Orders
from app.replaced import settle, step_aside
from app.sampling import Sampling
from app.settings import Settings, write_settings
from app.widgets.models_dialog import ModelsDialog
from app.widgets.unfinished_list import UnfinishedList
from app.wizard.wizard import Wizard
from engine.starter import STARTER_NAME as ENGINES_STARTER_NAME
from tests.app.conftest import NO_STARTER
from tests.helpers.fake_hub import FakeHub
from tests.helpers.tiny_models import make_tiny_checkpoint

SLOW = 60_000
Launch = Callable[[], Application]


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_checkpoint("qwen3_moe", tmp_path_factory.mktemp("unfinished") / "tiny 模型")


@pytest.fixture
def launch(qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Starts the app on the real engine; a second call after the first is a restart."""
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    settings = Settings("light", "en", models_folder=str(folder / "models"))
    write_settings(folder / "settings.json", settings)
    running: list[Application] = []

    def start() -> Application:
        for application in running:
            assert application.close()
        running[:] = [Application(QApplication.instance(), engine, folder, NO_STARTER)]
        running[0].start()
        qtbot.waitExposed(running[0].window)
        return running[0]

    yield start
    for application in running:
        assert application.close()


def shown(widget: QWidget) -> str:
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


def wizard_of(application: Application) -> Wizard:
    return next(w for w in application.window.findChildren(Wizard) if w.isVisible())


def begin(qtbot: QtBot, application: Application, order: Order) -> None:
    """Start an order and wait until something of it is there."""
    core = application.core
    core.adding.choose(**{**vars(order), "models": core.adding.order.models})
    core.adding.start()
    job = core.adding.job
    qtbot.waitUntil(lambda: job.stage == "download" and job.done > 0, timeout=SLOW)


@contextmanager
def begun(qtbot: QtBot, launch: Launch, source: Path) -> Iterator[FakeHub]:
    """A slow hub from which the app has begun to download."""
    files = {path.name: path.read_bytes() for path in source.iterdir()}
    with FakeHub({"org/model": files}, bytes_per_s=400_000) as hub:
        begin(qtbot, launch(), Order("hub", "org/model", calibrate=False, endpoint=hub.url))
        yield hub


def test_a_download_goes_on_after_a_restart(
    qtbot: QtBot, launch: Launch, source: Path, folder: Path
) -> None:
    with begun(qtbot, launch, source) as hub:
        application = launch()
        hub.bytes_per_s = 0
        application.window.add_model()
        wizard = wizard_of(application)
        rows = wizard.machine.unfinished.rows
        assert len(rows) == 1 and "model-nf4" in shown(wizard.machine)
        rows[0].go_on.click()
        assert wizard.pages[wizard.at] is wizard.work
        qtbot.waitUntil(lambda: wizard.model.job.state == "done", timeout=SLOW)
    assert (folder / "models" / "model-nf4" / "manifest.json").exists()
    assert not wizard.machine.unfinished.rows and not wizard.model.orders.begun
    qtbot.waitUntil(lambda: application.core.library.status == "ready", timeout=SLOW)


def test_what_is_deleted_leaves_nothing(
    qtbot: QtBot, launch: Launch, source: Path, folder: Path
) -> None:
    with begun(qtbot, launch, source):
        pass  # the hub goes away as well
    application = launch()
    application.window.manage_models()
    dialog = application.window.findChild(ModelsDialog)
    assert dialog is not None
    (row,) = dialog.unfinished.rows
    row.drop.click()
    assert row.drop.text() == "Really delete?" and (folder / "models" / ".downloads").exists()
    row.drop.click()
    qtbot.waitUntil(lambda: not dialog.unfinished.rows, timeout=SLOW)
    assert [p for p in (folder / "models").rglob("*") if p.is_file()] == []
    assert json.loads((folder / "orders.json").read_text(encoding="utf-8"))["orders"] == []


def test_conversions_of_the_terminal_are_listed_and_not_as_models(
    qtbot: QtBot, launch: Launch, folder: Path
) -> None:
    (folder / "models" / "mine-nf4.partial").mkdir(parents=True)
    application = launch()
    assert application.core.library.entries == []
    listed = UnfinishedList(application.core.unfinished)
    qtbot.addWidget(listed)
    listed.show()
    assert "convert the same files again" in shown(listed)
    assert not listed.rows[0].go_on.isVisible() and listed.rows[0].drop.isVisible()


def test_a_model_is_made_anew_and_the_old_one_waits_until_then(
    qtbot: QtBot, launch: Launch, source: Path, folder: Path
) -> None:
    application = launch()
    core = application.core
    core.keep(Settings(models_folder=str(folder / "models"), sampling=Sampling(max_tokens=2)))
    core.adding.choose(kind="local", source=str(source), calibrate=False)
    core.adding.start()
    qtbot.waitUntil(lambda: core.library.status == "ready", timeout=SLOW)
    model = core.library.current
    assert model is not None
    (model / "mark").touch()
    application.window.manage_models()
    dialog = application.window.findChild(ModelsDialog)
    assert dialog is not None
    dialog.again.click()
    wizard = wizard_of(application)
    assert wizard.pages[wizard.at] is wizard.options
    assert wizard.model.order.source == str(source) == wizard.choice.path.text()
    assert "is deleted when the new one is ready" in shown(wizard.options)
    wizard.next.click()
    qtbot.waitUntil(lambda: core.adding.job.state == "running", timeout=SLOW)
    assert not (model / "mark").exists()
    qtbot.waitUntil(lambda: core.adding.job.state == "done", timeout=SLOW)
    assert (model / "manifest.json").exists() and not (model / "mark").exists()
    qtbot.waitUntil(lambda: [p.name for p in model.parent.iterdir()] == [model.name])
    qtbot.waitUntil(lambda: core.library.status == "ready", timeout=SLOW)


def test_the_old_model_comes_back_when_the_new_one_is_given_up(
    qtbot: QtBot, tmp_path: Path
) -> None:
    model = tmp_path / "模型-nf4"
    model.mkdir()
    (model / "old").touch()
    step_aside(model)
    settle(tmp_path, [model.name])
    assert not model.exists()  # its successor is at work
    settle(tmp_path, [])
    assert (model / "old").exists() and [p.name for p in tmp_path.iterdir()] == [model.name]
    step_aside(model)
    model.mkdir()
    settle(tmp_path, [])
    qtbot.waitUntil(lambda: [p.name for p in tmp_path.iterdir()] == [model.name])


def test_notes_of_orders_survive_and_damage_costs_only_the_notes(tmp_path: Path) -> None:
    file, order = tmp_path / "orders.json", Order("hub", "a/b", Path("/m"), quant="int4")
    orders = Orders(file)
    orders.begin(order)
    orders.begin(Order("local", "/src", Path("/m")))
    orders.end(order)
    again = Orders(file)
    assert [o.source for o in again.begun] == ["/src"]
    assert again.receipt(Path("/m/b-int4")) == order
    again.moved(Path("/m/b-int4"), Path("/n/b-int4"))
    assert again.receipt(Path("/n/b-int4")) is not None
    for damage in ("", "[]", '{"orders": [{"kind": 3}, 7], "made": 1}'):
        file.write_text(damage, encoding="utf-8")
        assert (Orders(file).begun, Orders(file).made) == ([], [])


def test_the_starter_has_one_name() -> None:
    assert STARTER_NAME == ENGINES_STARTER_NAME
