"""The Defender page, with Windows' part played by a fake: nothing before the button, and undo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.wizard.defender_page import DefenderPage
from engine.doctor.exclusion import DefenderExclusion
from engine.machine.windows_elevate import Refused

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
        return code


class Model:
    """As much of AddModel as the page uses."""

    def __init__(self, exclusion: DefenderExclusion) -> None:
        self.exclusion = exclusion


def step(tmp_path: Path, windows: Windows, models: str = MODELS) -> DefenderExclusion:
    ledger, install = tmp_path / "ledger.json", Path("C:\\Edge0")
    return DefenderExclusion(Path(models), ledger, install, windows, str)


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
    ("code", "words"), [(None, "You said no"), (4, "organisation"), (2, "refused"), (1, "Nothing")]
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
