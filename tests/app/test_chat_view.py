"""A chat on screen: only what is seen is made, the end is followed or the place is kept."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.history import History, StoredMessage
from app.widgets.row_heights import RowHeights
from tests.app.fake_engine import Script


def test_row_heights_find_rows_and_follow_changes() -> None:
    rows = RowHeights([10, 20, 30], gap=5)
    assert (rows.total, rows.top(1), rows.top(2)) == (70, 15, 40)
    assert rows.rows_between(0, 10) == range(0, 1)
    assert rows.rows_between(14, 41) == range(0, 3)
    assert rows.rows_between(16, 20) == range(1, 2)
    assert rows.rows_between(500, 600) == range(3, 3)
    assert rows.set(0, 100) and not rows.set(0, 100)
    assert (rows.total, rows.top(1)) == (160, 105)
    assert RowHeights([], 5).total == 0


def fill(application: Application, count: int) -> None:
    """A stored conversation of so many messages."""
    archive = application.core.archive
    conversation = archive.new_id()
    archive.do(History.add_conversation, conversation, "long")
    parent = None
    for i in range(count):
        number = archive.new_id()
        role = "assistant" if i % 2 else "user"
        text = f"**message {i}**\n\n" + "some words, and more of them. " * (i % 30)
        message = StoredMessage(number, conversation, parent, role, text)  # type: ignore[arg-type]
        archive.do(History.add_message, message)
        parent = number
    application.core.conversations.refresh()
    application.window.open_conversation(conversation)


def on_screen(application: Application) -> list[str]:
    view = application.window.page.view
    area = view.viewport().rect()
    found = []
    for child in view._views.values():
        place = child.geometry().translated(0, -view.verticalScrollBar().value())
        if place.intersects(area):
            found.append((place.top(), child.message.text.split("\n")[0]))
    return [text for _, text in sorted(found)]


def test_a_long_chat_makes_only_what_is_seen(
    qtbot: QtBot, start: Callable[..., Application]
) -> None:
    application = start()
    fill(application, 2000)
    view = application.window.page.view
    assert on_screen(application)[-1] == "**message 1999**"
    assert len(view._views) < 60
    bar = view.verticalScrollBar()
    for share in (0.5, 0.1, 0.9, 0.0):
        bar.setValue(int(bar.maximum() * share))
        assert on_screen(application)
        assert len(view._views) < 60
    assert on_screen(application)[0] == "**message 0**"
    view.scroll_to_end()
    assert on_screen(application)[-1] == "**message 1999**"


def test_scrolling_up_shows_every_message_once_and_in_order(
    qtbot: QtBot, start: Callable[..., Application]
) -> None:
    application = start()
    fill(application, 120)
    bar = application.window.page.view.verticalScrollBar()
    seen: list[str] = []
    while True:
        for text in reversed(on_screen(application)):
            if text not in seen:
                seen.append(text)
        if bar.value() == 0:
            break
        bar.setValue(max(bar.value() - 150, 0))
    assert seen == [f"**message {i}**" for i in reversed(range(120))]


def test_a_reader_who_scrolled_up_stays_there(
    qtbot: QtBot, start: Callable[..., Application], script: Script
) -> None:
    application = start()
    fill(application, 40)
    page = application.window.page
    bar = page.view.verticalScrollBar()
    script.pieces = lambda messages: ["A line of text.\n\n"] * 200
    script.piece_s = 0.005
    page.composer.sent.emit("go on")
    qtbot.waitUntil(
        lambda: (
            "A line" in application.core.chat.path[-1].text
            or bool(application.core.chat.reply and len(application.core.chat.reply.pieces) > 20)
        )
    )
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())
    assert page.view.jump.isHidden()
    bar.setValue(bar.maximum() - 300)
    kept = on_screen(application)
    length, value = bar.maximum(), bar.value()
    qtbot.waitUntil(lambda: bar.maximum() > length + 100)
    assert on_screen(application) == kept and bar.value() == value
    assert page.view.jump.isVisible()
    page.view.jump.click()
    assert bar.value() == bar.maximum() and page.view.jump.isHidden()
    length = bar.maximum()
    qtbot.waitUntil(lambda: bar.maximum() > length)
    assert bar.value() == bar.maximum()
    application.core.chat.stop()
    qtbot.waitUntil(lambda: application.core.chat.reply is None)


def test_a_narrower_window_keeps_the_place(qtbot: QtBot, start: Callable[..., Application]) -> None:
    application = start()
    fill(application, 60)
    bar = application.window.page.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    first = on_screen(application)[0]
    application.window.resize(760, 640)
    qtbot.wait(30)
    assert first in on_screen(application)[:2]


def test_a_focused_message_is_kept_while_it_is_out_of_sight(
    qtbot: QtBot, start: Callable[..., Application]
) -> None:
    application = start()
    fill(application, 200)
    view = application.window.page.view
    last = view._views[max(view._views)]
    tab = Qt.FocusPolicy.TabFocus
    button = next(w for w in last.findChildren(QWidget) if w.focusPolicy() & tab and w.isVisible())
    button.setFocus()
    view.verticalScrollBar().setValue(0)
    assert last.message.id in view._views
    assert QGuiApplication.focusObject() is button
