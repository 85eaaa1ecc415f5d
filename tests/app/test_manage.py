"""Managing models and the doctor: real files, real child processes, a real window."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.core import Core
from app.diagnostics import write_diagnostics
from app.settings import Settings
from app.viewmodels.manage import PREFIX, ManageModel
from app.widgets.doctor_dialog import DoctorDialog
from app.widgets.models_dialog import ModelsDialog
from engine.doctor import Finding
from engine.prepare.prepare import prepare
from tests.app.fake_engine import FakeEngine, installed
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
    quick = ManageModel(core.library, core, undo_ms=30)
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
    record = next(path.glob("*.moex"))
    data = bytearray(record.read_bytes())
    data[5000] ^= 1
    record.write_bytes(data)
    manage.verify(path)
    qtbot.waitUntil(lambda: not manage.busy, timeout=SLOW)
    assert "layer" in manage.problem or "expert" in manage.problem, manage.problem


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
    dialog = ModelsDialog(core.manage)
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
