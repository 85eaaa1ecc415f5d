"""Typing: Enter, Shift+Enter, input methods, drafts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets.composer import Composer

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def sent(composer: Composer) -> list[str]:
    texts: list[str] = []
    composer.sent.connect(texts.append)
    return texts


def compose(composer: Composer, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(composer.entry, event)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_sends(qtbot: QtBot, composer: Composer, sent: list[str], key: Qt.Key) -> None:
    qtbot.keyClicks(composer.entry, "hello")
    qtbot.keyClick(composer.entry, key)
    assert sent == ["hello"]
    assert composer.entry.toPlainText() == "hello"  # only who takes it clears it


def test_shift_enter_breaks_the_line(qtbot: QtBot, composer: Composer, sent: list[str]) -> None:
    qtbot.keyClicks(composer.entry, "a")
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return, SHIFT)
    qtbot.keyClicks(composer.entry, "b")
    assert composer.entry.toPlainText() == "a\nb" and sent == []


def test_enter_that_picks_a_candidate_does_not_send(
    qtbot: QtBot, composer: Composer, sent: list[str]
) -> None:
    compose(composer, "ni hao")
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)
    assert sent == []
    compose(composer, "", commit="你好")
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)  # passed on together with the commit
    assert sent == []
    qtbot.wait(1)
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)
    assert sent == ["你好"]


def test_commits_without_composing_do_not_block_enter(
    qtbot: QtBot, composer: Composer, sent: list[str]
) -> None:
    compose(composer, "", commit="。")
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)
    assert sent == ["。"]


def test_ctrl_enter_can_be_the_one_that_sends(
    qtbot: QtBot, composer: Composer, sent: list[str]
) -> None:
    composer.entry.ctrl_enter_sends = True
    qtbot.keyClicks(composer.entry, "a")
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)
    assert composer.entry.toPlainText() == "a\n" and sent == []
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return, CTRL)
    assert sent == ["a\n"]


def test_a_held_key_sends_once(qtbot: QtBot, composer: Composer, sent: list[str]) -> None:
    composer.set_draft("x")
    for repeated in (False, True, True):
        event = QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Return, NONE, "\r", autorep=repeated)
        QApplication.sendEvent(composer.entry, event)
    assert sent == ["x"]


def test_blank_text_and_a_missing_model_do_not_send(
    qtbot: QtBot, composer: Composer, sent: list[str]
) -> None:
    composer.set_draft(" \n ")
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)
    composer.set_draft("text")
    composer.set_allowed(False)
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)
    assert sent == [] and not composer.button.isEnabled()
    assert composer.entry.toPlainText() == "text"


def test_while_a_reply_is_written_the_button_and_escape_stop_it(
    qtbot: QtBot, composer: Composer, sent: list[str]
) -> None:
    stops: list[bool] = []
    composer.stopped.connect(lambda: stops.append(True))
    composer.set_draft("next question")
    composer.set_writing(True)
    qtbot.keyClick(composer.entry, Qt.Key.Key_Return)
    assert sent == [] and composer.button.accessibleName() == "Stop"
    composer.button.click()
    qtbot.keyClick(composer.entry, Qt.Key.Key_Escape)
    assert len(stops) == 2
    composer.set_writing(False)
    qtbot.keyClick(composer.entry, Qt.Key.Key_Escape)
    assert len(stops) == 2 and composer.entry.toPlainText() == "next question"


def test_typed_text_is_reported_soon_and_a_shown_draft_is_not(
    qtbot: QtBot, composer: Composer
) -> None:
    drafts: list[str] = []
    composer.draft_changed.connect(drafts.append)
    composer.set_draft("old")
    qtbot.wait(10)
    composer.keep_pending_draft()
    assert drafts == []
    qtbot.keyClicks(composer.entry, " new")
    qtbot.waitUntil(lambda: drafts == ["old new"], timeout=2000)


def test_pasted_text_is_plain(composer: Composer) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b>")
    data.setText("bold")
    composer.entry.insertFromMimeData(data)
    assert composer.entry.toPlainText() == "bold"


def test_the_field_grows_with_its_text_up_to_a_limit(composer: Composer) -> None:
    heights = []
    for lines in (1, 3, 9, 40):
        composer.set_draft("\n".join("x" * lines))
        heights.append(composer.entry.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]
