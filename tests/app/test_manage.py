"""Managing models and the doctor: real files, real child processes, a real window."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.core import Core
from app.diagnostics import write_diagnostics
from app.settings import Settings
from app.viewmodels.manage import PREFIX, ManageModel
from app.widgets.doctor_dialog import DoctorDialog
from app.widgets.model_picker import ModelPicker
from app.widgets.models_dialog import ModelsDialog
from engine import ContainerError, StopFlag, list_models
from engine.container.reader import Container
from engine.doctor import Finding
from engine.prepare.prepare import prepare
from tests.app.conftest import NO_STARTER, reply_to
from tests.app.fake_engine import FakeEngine, Installed, Script, installed
from tests.helpers.damage import damage
from tests.helpers.tiny_models import make_tiny_checkpoint

SLOW = 60_000


@pytest.fixture
def manage(core: Core) -> ManageModel:
    return core.manage


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Converts a tiny model to a path."""
    source = make_tiny_checkpoint("qwen3_moe", tmp_path_factory.mktemp("manage") / "m")
    return lambda target: prepare(source, target).path


def aside(folder: Path) -> list[Path]:
    return list(folder.glob(f"{PREFIX}*"))


def test_the_open_model_is_closed_deleted_and_brought_back(
    qtbot: QtBot, core: Core, manage: ManageModel, engine: FakeEngine
) -> None:
    path = core.library.current
    assert path is not None
    manage.delete(path)
    qtbot.waitUntil(lambda: manage.deleted is not None)
    assert not path.exists() and core.library.current is None and core.library.status == "none"
    assert (aside(path.parent)[0] / "manifest.json").exists()
    manage.undo()
    assert (path / "manifest.json").exists() and not aside(path.parent)
    assert manage.state == "restored"


def test_what_was_deleted_goes_when_the_undo_window_ends(
    qtbot: QtBot, core: Core, folder: Path
) -> None:
    other = installed(folder / "models" / "two", "Two").path
    quick = ManageModel(
        core.library, core.speeds, core.adding.orders, lambda *_: None, core, undo_ms=30
    )
    quick.delete(other)
    assert quick.deleted is not None
    qtbot.waitUntil(lambda: quick.deleted is None)
    qtbot.waitUntil(lambda: not aside(other.parent))
    quick.undo()  # too late: nothing happens
    assert not other.exists()


def test_what_the_last_run_left_is_swept(qtbot: QtBot, manage: ManageModel, tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}1-old").mkdir()
    (tmp_path / "model").mkdir()
    manage.sweep([tmp_path, tmp_path / "gone"])
    qtbot.waitUntil(lambda: not aside(tmp_path))
    assert (tmp_path / "model").exists()


def test_files_are_checked_and_damage_is_told(
    qtbot: QtBot, manage: ManageModel, tiny: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = tiny(tmp_path / "模型 'é%")
    manage.verify(path)
    assert manage.busy
    qtbot.waitUntil(lambda: not manage.busy, timeout=SLOW)
    assert (manage.state, manage.problem) == ("sound", "")
    damage(next(path.glob("*.moex")), 5000)
    manage.verify(path)
    qtbot.waitUntil(lambda: not manage.busy, timeout=SLOW)
    assert "layer" in manage.problem or "expert" in manage.problem, manage.problem


def test_a_damaged_model_says_so_everywhere_and_is_checked_again(
    qtbot: QtBot, tiny: Callable[[Path], Path], folder: Path
) -> None:
    path = tiny(folder / "models" / "m")
    file = next(path.glob("*.moex"))
    damage(file, 9000)
    with pytest.raises(ContainerError):
        Container.open(path).verify(lambda _: None, StopFlag())
    engine = FakeEngine()
    engine.list_models = lambda _: list_models(path.parent)  # type: ignore[method-assign]
    core = Core(engine, folder, NO_STARTER)
    core.library.open_last()  # the only one, and not offered
    assert core.library.status == "none" and not core.library.has_models
    dialog, picker = ModelsDialog(core.manage, core.unfinished), ModelPicker(core.library)
    qtbot.addWidget(dialog)
    qtbot.addWidget(picker)
    dialog.show()
    picker.menu().aboutToShow.emit()
    action = picker.menu().actions()[0]
    assert action.text() == "m (damaged)" and not action.isEnabled()
    assert "found wrong bytes" in action.toolTip() and "Check the files" in action.toolTip()
    assert "damaged: check the files again, or convert it again" in dialog.list.item(0).text()
    buttons = (dialog.chat, dialog.compact, dialog.move_to, dialog.verify, dialog.delete)
    assert [button.isEnabled() for button in buttons] == [False, False, False, True, True]
    damage(file, 9000)  # it was the drive, not the file
    dialog.verify.click()
    qtbot.waitUntil(lambda: not core.manage.busy, timeout=SLOW)
    assert dialog.chat.isEnabled() and core.library.has_models
    assert core.close()


def test_laying_out_by_use_leaves_a_sound_model(
    qtbot: QtBot, manage: ManageModel, tiny: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = tiny(tmp_path / "m")
    manage.compact(path)
    qtbot.waitUntil(lambda: not manage.busy, timeout=SLOW)
    assert (manage.state, manage.problem) == ("compacted", "")


def test_the_list_says_what_is_missing(qtbot: QtBot, core: Core, folder: Path) -> None:
    core.keep(Settings(models=(str(folder / "unplugged"),)))
    core.library.refresh()
    dialog = ModelsDialog(core.manage, core.unfinished)
    qtbot.addWidget(dialog)
    dialog.show()
    lines = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert any("unplugged" in line and "drive" in line for line in lines)
    dialog.list.setCurrentRow(next(i for i, line in enumerate(lines) if "unplugged" in line))
    assert not dialog.chat.isEnabled() and not dialog.delete.isEnabled()
    dialog.list.setCurrentRow(0)
    assert dialog.chat.isEnabled() and dialog.delete.isEnabled()


def test_the_doctor_shows_the_worst_first_and_saves(qtbot: QtBot, tmp_path: Path) -> None:
    found = [
        Finding("memory", "ok", "Memory", "8 GB"),
        Finding("drive", "fail", "The drive is very slow", "1 MB/s", "Move the model."),
    ]
    saved: list[object] = []
    dialog = DoctorDialog(lambda stop: found, lambda path, what: saved.append((path, what)))
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.save.isEnabled())
    texts = [label.text() for label in dialog._list.findChildren(QLabel)]
    assert texts[:3] == ["Problem: The drive is very slow", "1 MB/s", "Move the model."]
    dialog.save_to(tmp_path / "x.zip")
    assert saved == [(tmp_path / "x.zip", dialog.findings)]


def test_diagnostics_hold_no_secrets_and_no_names(tmp_path: Path) -> None:
    home = tmp_path / "Eva Müller"
    logs = home / "data" / "logs"
    logs.mkdir(parents=True)
    (logs / "edge0.log").write_text(f"opened {home}/m token=hf_abcdefghijkl", encoding="utf-8")
    settings = Settings(system_prompt="I am Eva", models=(str(home / "models" / "m"),))
    target = tmp_path / "out.zip"
    finding = Finding("models-folder", "ok", "Models folder", str(home / "models"))
    write_diagnostics(target, [finding], settings, home / "data", home)
    with zipfile.ZipFile(target) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(texts) == {"doctor.json", "settings.json", "logs/edge0.log"}
    everything = "".join(texts.values())
    for secret in ("Eva", "hf_abcdefghijkl", "Müller"):
        assert secret not in everything
    assert json.loads(texts["settings.json"])["models"][0].startswith("~")
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.suffix] == []


@pytest.fixture
def manager(qtbot: QtBot, core: Core) -> ModelsDialog:
    dialog = ModelsDialog(core.manage, core.unfinished)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def shown(widget: QWidget) -> str:
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


def test_the_last_speed_of_each_model_survives_a_restart(
    qtbot: QtBot, core: Core, engine: FakeEngine, script: Script, folder: Path
) -> None:
    script.pieces = lambda messages: [f"{n} " for n in range(20)]
    reply_to(qtbot, core, "hello")
    again = Core(engine, folder, NO_STARTER)
    try:
        dialog = ModelsDialog(again.manage, again.unfinished)
        qtbot.addWidget(dialog)
        dialog.show()
        assert "Last reply: 14.2 tok/s, first word after 0.42 s" in shown(dialog)
        script.pieces = lambda messages: ["No."]  # one token says nothing about decoding
        reply_to(qtbot, core, "hello")
        assert core.library.current is not None
        speed = core.speeds.of(core.library.current)
        assert speed is not None and round(speed.decode_tok_s, 1) == 14.2
    finally:
        assert again.close()


def test_a_model_moves_and_keeps_its_place_in_the_lists(
    qtbot: QtBot,
    core: Core,
    manager: ModelsDialog,
    engine: FakeEngine,
    tiny: Callable[[Path], Path],
    folder: Path,
) -> None:
    old = tiny(folder / "models" / "模型 é")
    engine.models.append(Installed(old, "tiny"))
    core.keep(replace(core.settings, models=(*core.settings.models, str(old))))
    core.library.refresh()
    core.manage.move(old, folder / "elsewhere")
    qtbot.waitUntil(lambda: not core.manage.busy, timeout=SLOW)
    assert (core.manage.state, core.manage.problem) == ("moved", "")
    new = folder / "elsewhere" / old.name
    assert (new / "manifest.json").exists() and not old.exists()
    assert core.settings.models[-1] == str(new) and str(old) not in core.settings.models
    engine.models.pop()
    core.library.refresh()
    entry = next(entry for entry in core.library.entries if entry.path == new)
    assert entry.usable and entry.about
    assert "in its new place" in shown(manager)


def test_a_move_that_fails_says_why_and_leaves_the_model(
    qtbot: QtBot, core: Core, manager: ModelsDialog, tiny: Callable[[Path], Path], folder: Path
) -> None:
    old = tiny(folder / "models" / "m")
    (folder / "taken" / "m").mkdir(parents=True)
    core.manage.move(old, folder / "taken")
    qtbot.waitUntil(lambda: not core.manage.busy, timeout=SLOW)
    assert "exists already" in shown(manager) and (old / "manifest.json").exists()


def test_a_model_on_a_drive_that_is_away_can_only_be_taken_off_the_list(
    qtbot: QtBot, core: Core, folder: Path
) -> None:
    away = folder / "drive" / "big"
    core.keep(replace(core.settings, models=(str(away),)))
    dialog = ModelsDialog(core.manage, core.unfinished)
    qtbot.addWidget(dialog)
    dialog.show()
    row = next(i for i, entry in enumerate(core.manage.entries) if entry.path == away)
    dialog.list.setCurrentRow(row)
    assert "is its drive connected" in dialog.list.item(row).text()
    for button in (dialog.chat, dialog.move_to, dialog.again, dialog.verify, dialog.delete):
        assert not button.isEnabled()
    installed(away)  # plugged in again
    core.manage.refresh()
    dialog.list.setCurrentRow(row)
    assert dialog.chat.isEnabled() and not dialog.forget.isVisible()
    (away / "manifest.json").unlink()
    core.manage.refresh()
    dialog.list.setCurrentRow(row)
    dialog.forget.click()
    assert str(away) not in core.settings.models
