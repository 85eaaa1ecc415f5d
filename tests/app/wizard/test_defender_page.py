"""The Defender page, with Windows' part played by a fake: nothing before the button, and undo."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.core import Core
from app.main_window import MainWindow
from app.widgets.exclusions_page import ExclusionsPage
from app.widgets.settings_dialog import SettingsDialog
from app.wizard.defender_page import DefenderPage
from engine import StopFlag
from engine.doctor.exclusion import DefenderExclusion, our_exclusions
from engine.doctor.scan_stall import ScanStall
from engine.machine.defender_status import DefenderStatus, explanation
from engine.machine.windows_elevate import Refused

NORMAL = DefenderStatus("Normal")
MODELS = r"D:\Edge0\models"


class Windows:
    """Answers with exit codes; None in `codes` says no to the question for permission."""

    def __init__(self, *codes: int | None) -> None:
        self.codes = list(codes)
        self.asked: list[str] = []

    def __call__(self, parameters: str) -> int:
        self.asked.append(parameters)
        code = self.codes.pop(0)
        if code is None:
            raise Refused()
        if code == 1260:  # a policy of the system
            raise OSError(1260, "ShellExecuteExW failed")
        return code


class Machine:
    """As much of the machine as the page uses."""

    def __init__(self, exclusion: DefenderExclusion) -> None:
        self.exclusion = exclusion
        self.stall = ScanStall(1.84, 0.01)

    def explain(self, status: DefenderStatus) -> str:
        return explanation(status)

    def measure_stall(self, stop: StopFlag) -> ScanStall:
        return self.stall


class Model:
    """As much of AddModel as the page uses."""

    def __init__(self, exclusion: DefenderExclusion) -> None:
        self.machine = Machine(exclusion)


def step(
    tmp_path: Path,
    windows: Windows,
    models: str = MODELS,
    status: DefenderStatus = NORMAL,
) -> DefenderExclusion:
    ledger, install = tmp_path / "ledger.json", Path("C:\\Edge0")
    return DefenderExclusion(Path(models), ledger, install, windows, str, lambda: status)


def page(qtbot: QtBot, exclusion: DefenderExclusion) -> DefenderPage:
    shown = DefenderPage(Model(exclusion))  # type: ignore[arg-type]
    qtbot.addWidget(shown)
    shown.refresh()
    shown.show()
    return shown


def told(shown: DefenderPage, qtbot: QtBot) -> str:
    qtbot.waitUntil(lambda: not shown._task.running)
    return shown._outcome.text()


def test_added_only_when_asked_and_undone_again(qtbot: QtBot, tmp_path: Path) -> None:
    windows = Windows(0, 0)
    exclusion = step(tmp_path, windows)
    shown = page(qtbot, exclusion)
    assert windows.asked == [] and not exclusion.ours
    texts = "\n".join(label.text() for label in shown.findChildren(QLabel))
    assert r"D:\Edge0\models\*\*.moex" in texts and "Add-MpPreference" in texts
    shown.add.click()
    assert told(shown, qtbot) == "It is excluded now."
    assert exclusion.ours and shown.add.isHidden()
    shown.remove.click()
    assert told(shown, qtbot) == "It is scanned again."
    assert not exclusion.ours and len(windows.asked) == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (None, "You said no"),
        (4, "organisation"),
        (2, "refused"),
        (1, "Nothing"),
        (1260, "may not act as administrator"),
    ],
)
def test_what_did_not_happen_is_not_ours(
    qtbot: QtBot, tmp_path: Path, code: int | None, words: str
) -> None:
    windows = Windows(code)
    exclusion = step(tmp_path, windows)
    shown = page(qtbot, exclusion)
    shown.add.click()
    assert words in told(shown, qtbot)
    assert not exclusion.ours and len(windows.asked) == 1
    assert exclusion.remove() == "already" and len(windows.asked) == 1


def test_a_folder_that_may_not_be_excluded_has_no_button(qtbot: QtBot, tmp_path: Path) -> None:
    windows = Windows()
    exclusion = step(tmp_path, windows, "C:\\Users\\Eva\\Downloads")
    shown = page(qtbot, exclusion)
    assert not shown.add.isEnabled() and "never" in shown._outcome.text()
    assert replace(exclusion).add() == "refused" and windows.asked == []


def shown(widget: QWidget) -> str:
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (DefenderStatus("Passive Mode"), "Another antivirus is in charge"),
        (DefenderStatus("Not running"), "it says: Not running"),
        (DefenderStatus("Normal", managed=True), "Your organisation decides"),
        (DefenderStatus("Normal", tamper_protected=True), "Tamper protection is on"),
    ],
)
def test_what_is_special_about_this_computer_is_said_first(
    qtbot: QtBot, tmp_path: Path, status: DefenderStatus, words: str
) -> None:
    windows = Windows()
    page_ = page(qtbot, step(tmp_path, windows, status=status))
    page_.enter()
    qtbot.waitUntil(lambda: words in shown(page_))
    assert windows.asked == []


def test_an_ordinary_computer_needs_no_warning(qtbot: QtBot, tmp_path: Path) -> None:
    page_ = page(qtbot, step(tmp_path, Windows()))
    page_.enter()
    qtbot.waitUntil(lambda: not page_._asking.running)
    assert not page_._status.isVisible()


@pytest.mark.parametrize(
    ("stall", "words"),
    [
        (ScanStall(1.84, 0.01), "1.84 s"),
        (ScanStall(1.84, 0.01), "may help"),
        (ScanStall(0.02, 0.01), "no exclusion is needed"),
    ],
)
def test_the_pause_is_measured_when_asked(
    qtbot: QtBot, tmp_path: Path, stall: ScanStall, words: str
) -> None:
    page_ = page(qtbot, step(tmp_path, Windows()))
    page_.model.machine.stall = stall  # type: ignore[attr-defined]
    assert not page_._stall.isVisible()
    page_.measure.click()
    qtbot.waitUntil(lambda: words in page_._stall.text())


def test_the_settings_undo_what_was_excluded_also_for_folders_of_old(
    qtbot: QtBot, tmp_path: Path
) -> None:
    for models in (MODELS, "E:\\old"):
        assert step(tmp_path, Windows(0), models).add() == "done"
    windows = Windows(None, 0)
    settings = ExclusionsPage(lambda: our_exclusions(tmp_path / "ledger.json", windows))
    qtbot.addWidget(settings)
    settings.show()
    assert len(settings.undo) == 2 and r"E:\old\*\*.moex" in shown(settings)
    settings.undo[1].click()
    qtbot.waitUntil(lambda: "You said no" in shown(settings))
    assert len(settings.undo) == 2
    settings.undo[1].click()
    qtbot.waitUntil(lambda: "It is scanned again." in shown(settings))
    assert len(settings.undo) == 1 and r"E:\old" not in shown(settings)
    assert "Remove-MpPreference" in windows.asked[1] and r"E:\old\*\*.moex" in windows.asked[1]


@pytest.mark.skipif(sys.platform == "win32", reason="there it is shown")
def test_elsewhere_the_settings_have_no_such_page(qtbot: QtBot, core: Core) -> None:
    window = MainWindow(core)
    qtbot.addWidget(window)
    window.edit_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    names = [dialog.tabs.tabText(place) for place in range(dialog.tabs.count())]
    assert "Downloads" in names and "Windows Defender" not in names
