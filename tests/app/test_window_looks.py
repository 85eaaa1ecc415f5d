"""Themes, languages and fonts of the whole window; they change at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtGui import QColor, QFontDatabase, QFontMetricsF
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.theme import DARK, LIGHT, current_theme, mono_families, ui_families
from app.widgets.prose_view import ProseView
from tests.app.conftest import ENGLISH, Start, button, say, views


@pytest.mark.parametrize(("choice", "theme"), [("light", LIGHT), ("dark", DARK)])
def test_both_themes_paint_in_their_colours(
    qtbot: QtBot, start: Start, choice: str, theme: object
) -> None:
    application = start(replace(ENGLISH, theme=choice))  # type: ignore[arg-type]
    say(qtbot, application, "Hi")
    assert current_theme() is theme
    window = application.window
    picture = window.grab().toImage()
    middle = picture.pixelColor(
        window.width() // 2, window.page.view.mapTo(window, window.page.view.rect().center()).y()
    )
    assert middle == QColor(current_theme().window)
    assert picture.pixelColor(3, window.height() // 2) == QColor(current_theme().side)


def test_the_theme_changes_at_once(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    say(qtbot, application, "Hi")
    application.core.keep(replace(application.core.settings, theme="dark"))
    qtbot.wait(20)
    assert current_theme() is DARK
    assert len(views(application)) == 2
    colour = views(application)[1].findChildren(ProseView)[0].palette().text().color()
    assert colour == QColor(DARK.text)


def test_the_language_changes_at_once_and_nothing_is_lost(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    say(qtbot, application, "Hi")
    qtbot.keyClicks(application.window.page.composer.entry, "typed")
    old = application.window
    application.core.keep(replace(application.core.settings, language="zh"))
    window = application.window
    assert window is not old
    assert button(window, "停止" if application.core.chat.reply else "发送") is not None
    assert window.page.composer.entry.toPlainText() == "typed"
    assert [view.message.text for view in views(application)] == ["Hi", "Hello there."]
    assert any(b.text() == "新聊天" for b in window.findChildren(QPushButton))
    say(qtbot, application, " more")
    assert application.core.chat.path[2].text == "typed more"


def test_the_fonts_have_chinese_and_code_has_its_own() -> None:
    families = set(QFontDatabase.families())
    for wanted in (ui_families(), mono_families()):
        assert families & set(wanted), f"none of {wanted} is installed"
    metrics = QFontMetricsF(QApplication.font())
    assert metrics.horizontalAdvance("字") > 0
