"""Messages on screen: Markdown as widgets, long chats, following and not following the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.history import History, StoredMessage
from app.widgets.code_view import CodeView
from app.widgets.document_view import open_link
from app.widgets.message_body import PROSE_BLOCKS, MessageBody
from app.widgets.prose_view import ProseView
from app.widgets.row_heights import RowHeights
from app.widgets.table_view import TableView
from tests.app.fake_engine import Script

EVERYTHING = """# Head

Text with **bold**.

1. one

   ```python
   x = 1
   ```
2. two

| a | b |
|---|---|
| 1 | 2 |

> quote
> - in it

---
end <script>alert(1)</script>"""


@pytest.fixture
def body(qtbot: QtBot) -> MessageBody:
    made = MessageBody()
    qtbot.addWidget(made)
    made.resize(600, 400)
    return made


def pieces(body: MessageBody) -> list[tuple[str, str]]:
    shown = []
    for piece in body._pieces:
        widget = piece.widget
        text = widget._block.text if isinstance(widget, CodeView) else ""
        if isinstance(widget, ProseView):
            text = widget.toPlainText()
        shown.append((type(widget).__name__, text))
    return shown


def test_a_message_becomes_prose_code_and_tables(body: MessageBody) -> None:
    body.set_text(EVERYTHING, finished=True)
    assert body.fit(600) > 200
    assert [name for name, _ in pieces(body)] == [
        "ProseView",
        "CodeView",
        "ProseView",
        "TableView",
        "ProseView",
    ]
    assert pieces(body)[0][1] == "Head\nText with bold.\n1.\tone"
    assert pieces(body)[1][1] == "x = 1"
    assert pieces(body)[4][1].endswith("end <script>alert(1)</script>")
    table = body.findChild(TableView)
    assert table is not None and table._text.document().rootFrame().childFrames()


@pytest.mark.parametrize("step", [1, 7, 30])
def test_growing_shows_the_same_as_the_whole(qtbot: QtBot, body: MessageBody, step: int) -> None:
    for start in range(0, len(EVERYTHING), step):
        body.add_text(EVERYTHING[start : start + step])
        if start % 5 == 0:
            body.update_now()
            body.fit(600)
    body.finish()
    whole = MessageBody()
    qtbot.addWidget(whole)
    whole.set_text(EVERYTHING, finished=True)
    assert pieces(body) == pieces(whole)
    assert body.fit(600) == whole.fit(600)


def test_a_burst_is_drawn_in_parts_and_wholly(qtbot: QtBot, body: MessageBody) -> None:
    text = (EVERYTHING + "\n\n") * 60
    body.add_text(text)
    body.finish()
    assert body._waiting  # only a part is drawn so far
    whole = MessageBody()
    qtbot.addWidget(whole)
    whole.set_text(text, finished=True)
    qtbot.waitUntil(lambda: not body._waiting, timeout=30_000)
    assert pieces(body) == pieces(whole)


def test_a_growing_message_keeps_its_widgets(body: MessageBody) -> None:
    body.add_text("First.\n\n```py\na = 1\n")
    body.update_now()
    before = [piece.widget for piece in body._pieces]
    for i in range(50):
        body.add_text(f"b = {i}\n")
        body.update_now()
    assert [piece.widget for piece in body._pieces] == before
    body.add_text("```\n" + "More.\n\n" * (PROSE_BLOCKS + 5))
    body.finish()
    assert [piece.widget for piece in body._pieces][:2] == before
    assert [piece.count for piece in body._pieces] == [1, 1, PROSE_BLOCKS, 5]


def test_code_is_coloured_after_its_fence_closed_and_can_be_copied(
    qtbot: QtBot, body: MessageBody
) -> None:
    body.show()
    body.add_text("```python\ndef f(): return '字'\n")
    body.update_now()
    code = body.findChild(CodeView)
    assert code is not None
    document = code._text.document()

    def colours() -> set[str]:
        formats = document.firstBlock().layout().formats()
        return {item.format.foreground().color().name() for item in formats}  # type: ignore[attr-defined]

    qtbot.wait(20)
    assert colours() == set()
    body.add_text("```\n")
    body.update_now()
    qtbot.waitUntil(lambda: len(colours()) >= 3)
    code._copy.click()
    assert QGuiApplication.clipboard().text() == "def f(): return '字'"


def test_wide_code_scrolls_sideways_and_is_not_wrapped(body: MessageBody) -> None:
    body.set_text("```\n" + "x" * 400 + "\n```\n\n```\nshort\n```", finished=True)
    body.fit(500)
    wide, narrow = body.findChildren(CodeView)
    assert wide._text.document().firstBlock().layout().lineCount() == 1
    assert wide.height() > narrow.height()


def test_right_to_left_text_is_right_to_left_and_code_is_not(body: MessageBody) -> None:
    body.set_text("مرحبا **بك**\n\nHello\n\n- عنصر\n\n```\nمرحبا\n```", finished=True)
    prose, code = body._pieces[0].widget, body._pieces[1].widget
    assert isinstance(prose, ProseView) and isinstance(code, CodeView)
    directions = []
    block = prose.document().begin()
    while block.isValid():
        directions.append(block.textDirection())
        block = block.next()
    left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
    assert directions == [right, left, right]
    assert code._text.document().firstBlock().textDirection() == left


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:x", "smb://host/x", "x.exe"])
def test_only_web_and_mail_addresses_open(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    open_link(QUrl(address))
    assert opened == []
    open_link(QUrl("https://example.org"))
    assert opened == [QUrl("https://example.org")]


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
