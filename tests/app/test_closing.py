"""Closing the window while a full disk still owes part of a chat."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.application import Application
from app.history import History
from app.settings import Settings
from tests.app.test_archive import LONG, fill, make_room

Start = Callable[..., Application]
WARNING = {"en": ("not saved yet", "Close anyway"), "zh": ("尚未保存", "仍然关闭")}


def say(qtbot: QtBot, application: Application, text: str) -> None:
    entry = application.window.page.composer.entry
    entry.setPlainText(text)
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: application.core.chat.reply is None)


def close_button(application: Application) -> QPushButton:
    buttons = application.window.page.notice.findChildren(QPushButton)
    return next(button for button in buttons if button.isVisible())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_closing_warns_while_something_is_not_saved(
    qtbot: QtBot, start: Start, language: str
) -> None:
    application = start(Settings(language=language, theme="light"))
    window, archive = application.window, application.core.archive
    say(qtbot, application, "first")
    fill(archive)
    say(qtbot, application, LONG)
    say(qtbot, application, "third")  # the chat goes on
    assert [m.text for m in application.core.chat.path][::2] == ["first", LONG, "third"]
    assert all(m.state == "complete" for m in application.core.chat.path)
    assert not window.close() and window.isVisible()
    words, anyway = WARNING[language]
    assert words in window.page.notice.text and close_button(application).text() == anyway
    make_room(archive)
    assert window.close() and not archive.owes
    (chat,) = archive.fetch(History.conversations)
    found = {message.text for message in archive.fetch(History.messages, chat.id)}
    assert {"first", LONG, "third"} <= found


def test_one_may_close_and_lose_it(qtbot: QtBot, start: Start) -> None:
    application = start(Settings(language="en", theme="light"))
    say(qtbot, application, "first")
    fill(application.core.archive)
    say(qtbot, application, LONG)
    assert not application.window.close()
    close_button(application).click()
    assert not application.window.isVisible()


def test_nothing_is_asked_when_all_is_saved(qtbot: QtBot, start: Start) -> None:
    application = start(Settings(language="en", theme="light"))
    say(qtbot, application, "first")
    assert application.window.close()
