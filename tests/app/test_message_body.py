"""A message on screen: Markdown as widgets that stay while the text grows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from pytestqt.qtbot import QtBot

from app.widgets.code_view import CodeView
from app.widgets.document_view import open_link
from app.widgets.message_body import PROSE_BLOCKS, MessageBody
from app.widgets.prose_view import ProseView
from app.widgets.table_view import TableView

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
