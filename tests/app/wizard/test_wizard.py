"""The wizard in a window, on the real engine: from files or a hub to a first reply."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.wizard.model_page import HUB, LIST, LOCAL, STARTER
from app.wizard.wizard import Wizard
from tests.helpers.fake_hub import FakeHub
from tests.helpers.sharded import shard
from tests.helpers.tiny_models import make_tiny_checkpoint

SLOW = 60_000


def shown(widget: QWidget) -> str:
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


def type_into(qtbot: QtBot, field: QLineEdit, text: str) -> None:
    field.selectAll()
    qtbot.keyClicks(field, text)


def press_next(qtbot: QtBot, wizard: Wizard) -> None:
    assert wizard.next.isEnabled()
    wizard.next.setFocus()
    qtbot.keyClick(wizard.next, Qt.Key.Key_Space)


def finish(qtbot: QtBot, wizard: Wizard, application: Application) -> None:
    """Wait for the work, go to the chat and talk."""
    qtbot.waitUntil(lambda: wizard.model.job.state in ("done", "failed"), timeout=SLOW)
    assert wizard.model.job.state == "done", wizard.model.job.error
    order = wizard.model.at_work
    assert order is not None
    assert str(order.models / order.name) in shown(wizard.work)
    assert "You may close this window" not in shown(wizard.work)
    core = application.core
    qtbot.waitUntil(lambda: core.library.status == "ready", timeout=SLOW)
    press_next(qtbot, wizard)
    assert core.chat.send("hello")
    qtbot.waitUntil(lambda: core.chat.reply is None, timeout=SLOW)
    assert core.chat.path[-1].state in ("complete", "length")


def test_files_of_this_computer_become_a_chat_by_keyboard(
    qtbot: QtBot, wizard: Wizard, real_app: Application, tiny_model: Path
) -> None:
    assert "avx" in shown(wizard.machine) or "scalar" in shown(wizard.machine)
    press_next(qtbot, wizard)
    wizard.choice.where.setCurrentIndex(LOCAL)
    assert not wizard.next.isEnabled()
    wizard.choice.path.setText(str(tiny_model))
    press_next(qtbot, wizard)
    qtbot.waitUntil(lambda: wizard.model.outlook is not None, timeout=SLOW)
    qtbot.waitUntil(lambda: "qwen3_moe" in shown(wizard.options))
    assert "It will run here." in shown(wizard.options)
    wizard.options.calibrate.setChecked(False)
    assert wizard.model.outlook is not None  # calibration changes nothing it told
    press_next(qtbot, wizard)
    finish(qtbot, wizard, real_app)
    models = real_app.core.library.entries
    assert [entry.name for entry in models] == [f"{tiny_model.name}-nf4"]
    assert real_app.core.library.current == models[0].path
    assert models[0].path.parent == Path(real_app.core.settings.models_folder)


def test_a_hub_is_asked_only_when_told_and_then_delivers(
    qtbot: QtBot,
    wizard: Wizard,
    real_app: Application,
    tiny_model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    files = {path.name: path.read_bytes() for path in tiny_model.iterdir()}
    with FakeHub({"org/model": files}) as hub:
        press_next(qtbot, wizard)
        wizard.choice.where.setCurrentIndex(HUB)
        wizard.choice.name.setText("org/model")
        wizard.choice.endpoint.setEditText(hub.url)
        type_into(
            qtbot, wizard.choice.login.token, "hf_secret"
        )  # our hub is no official one: never sent
        press_next(qtbot, wizard)
        assert hub.requests == []
        wizard.options.calibrate.setChecked(False)
        qtbot.mouseClick(wizard.options.look, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not wizard.model.looking, timeout=SLOW)
        assert wizard.model.outlook is not None, wizard.model.look_problem
        qtbot.waitUntil(lambda: "Download" in shown(wizard.options))
        press_next(qtbot, wizard)
        finish(qtbot, wizard, real_app)
        assert all(request.authorization is None for request in hub.requests)
        assert real_app.core.settings.hub_endpoint == hub.url  # the next one comes from there, too


def test_on_a_small_drive_each_file_is_deleted_once_it_is_converted(
    qtbot: QtBot,
    wizard: Wizard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    source = shard(make_tiny_checkpoint("qwen3_moe", tmp_path / "source"), 6, in_order=True)
    files = {path.name: path.read_bytes() for path in source.iterdir()}
    with FakeHub({"org/model": files}) as hub:
        model = wizard.model
        model.choose(kind="hub", source="org/model", endpoint=hub.url)
        model.look()
        qtbot.waitUntil(lambda: not model.looking, timeout=SLOW)
        told = model.outlook.forecast
        for free, expected in ((told.disk_peak, False), (told.disk_peak - 1, True)):
            machine, drive = model.machine, model.machine.survey.drive
            machine.survey = replace(machine.survey, drive=replace(drive, free_bytes=free))
            model._looked(told)
            assert model.order.by_shard == expected
            assert ("--shard-by-shard" in model.order.command()) == expected
            assert model.disk_peak <= free
        wizard.options.refresh()
        assert "each downloaded file is deleted" in wizard.options._verdict.text()
        model.choose(quant="int8")  # another conversion takes another room
        assert not model.order.by_shard


def test_every_control_has_a_name_and_the_keyboard_reaches_it(wizard: Wizard) -> None:
    for number in range(len(wizard.pages)):
        wizard.go(number)
        page = wizard.pages[number]
        for control in page.findChildren(QWidget):
            policy = control.focusPolicy()
            if not control.isVisible() or policy == Qt.FocusPolicy.NoFocus:
                continue
            text = control.accessibleName() or getattr(control, "text", str)()
            inner = isinstance(control, QLabel) or "qt_" in control.objectName()
            assert text or inner or control.parent() in (wizard.choice.endpoint,), control
            assert policy & Qt.FocusPolicy.TabFocus or inner, control


def test_the_keyboard_is_at_each_page_s_first_choice(qtbot: QtBot, wizard: Wizard) -> None:
    """Space held down on the first page must not run through all pages and start a download."""
    wizard.model.choose(kind="hub", source="org/model")  # the starter has nothing to choose
    press_next(qtbot, wizard)
    assert wizard.focusWidget() is wizard.choice.where
    wizard.go(2)
    assert wizard.focusWidget() is wizard.options.quant
    wizard.model.choose(kind="starter")
    wizard.go(2)
    assert wizard.focusWidget() is wizard.next


def test_a_hub_that_says_no_is_told_in_words(
    qtbot: QtBot, wizard: Wizard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    with FakeHub({}) as hub:
        wizard.go(1)
        wizard.choice.where.setCurrentIndex(HUB)
        wizard.choice.name.setText("org/nothing")
        wizard.choice.endpoint.setEditText(hub.url)
        wizard.go(2)
        wizard.options.look.click()
        qtbot.waitUntil(lambda: bool(wizard.model.look_problem), timeout=SLOW)
        assert "org/nothing" in shown(wizard.options)


def test_paused_work_goes_on_and_outlives_the_window(
    qtbot: QtBot, wizard: Wizard, real_app: Application, tiny_model: Path
) -> None:
    wizard.model.choose(kind="local", source=str(tiny_model), calibrate=False)
    wizard.go(2)
    wizard.next.click()
    wizard.work.pause.click()
    qtbot.waitUntil(lambda: not wizard.model.job.alive, timeout=SLOW)
    assert "Paused" in shown(wizard.work) and not wizard.next.isEnabled()
    wizard.close()
    assert not wizard.isVisible()
    real_app.window.add_model()
    again = next(w for w in real_app.window.findChildren(Wizard) if w.isVisible())
    assert again.pages[again.at] is again.work
    again.work.go_on.click()
    qtbot.waitUntil(lambda: again.model.job.state == "done", timeout=SLOW)
    qtbot.waitUntil(lambda: real_app.core.library.status == "ready", timeout=SLOW)


def test_each_source_makes_its_order(qtbot: QtBot, wizard: Wizard, tmp_path: Path) -> None:
    page, model = wizard.choice, wizard.model
    page.where.setCurrentIndex(LIST)
    page.list.setCurrentRow(5)
    assert model.order.kind == "hub" and model.order.source == page.catalogue[5].id
    type_into(qtbot, page.login.token, "hf_secret")
    command = model.order.command()
    assert "hf_secret" not in command and "--token-stdin" in command
    page.endpoint.setEditText("https://hf-mirror.com")
    assert "--token-stdin" not in model.order.command()
    page.where.setCurrentIndex(LOCAL)
    page.path.setText(str(tmp_path / "gone"))
    assert not page.ready
    page.where.setCurrentIndex(STARTER)
    assert page.ready and "starter" in model.order.command()


def test_measuring_can_be_stopped(qtbot: QtBot, wizard: Wizard) -> None:
    wizard.machine.measure.click()
    assert wizard.machine.measure.text() == "Stop measuring"
    wizard.machine.measure.click()
    assert wizard.machine.measure.text().startswith("Measure")
    assert wizard.model.machine.measured is None
