"""The window stays alive: a long reply at full speed leaves no gap in the event loop."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.application import Application
from tests.app.fake_engine import Script

PARAGRAPH = (
    "Some **bold** words with `code` and a [link](https://example.org), then more of them. "
    "又有一些中文文字，和 $x_i^2$ 一样的公式。\n\n"
)
PIECES = (
    [word + " " for word in (PARAGRAPH * 360).split(" ")]
    + ["```python\n"]
    + ["value = compute(value, 'text')  # note\n"] * 300
    + ["```\n\n"]
    + [f"{i}. an item with *some* words\n" for i in range(1, 400)]
    + ["\n| a | b |\n|---|---|\n"]
    + ["| cell | cell |\n"] * 60
    + ["\n<think>" + "x y " * 200 + "\n"]
    + [word + " " for word in ("one endless paragraph without a break " * 400).split(" ")]
)


class Heartbeat(QTimer):
    """Notes how long the event loop was away at worst: on the clock, and in work of this thread."""

    def __init__(self) -> None:
        super().__init__(interval=5)
        self.worst = self.worst_work = 0.0
        self._last = (time.perf_counter(), time.thread_time())
        self.timeout.connect(self._beat)
        self.start()

    def _beat(self) -> None:
        now = (time.perf_counter(), time.thread_time())
        self.worst = max(self.worst, now[0] - self._last[0])
        self.worst_work = max(self.worst_work, now[1] - self._last[1])
        self._last = now


def test_eight_thousand_tokens_leave_no_gap(
    qtbot: QtBot, start: Callable[..., Application], script: Script
) -> None:
    """The promise is 100 ms, also at 1,000 tokens a second. It is measured in work of the window's
    thread, which other programs cannot stretch; the clock's limit is wide for the same reason.
    """
    assert len(PIECES) > 8000
    script.pieces = lambda messages: PIECES
    script.piece_s = 0.0003
    application = start()
    chat = application.core.chat
    heartbeat = Heartbeat()
    chat.send("go")
    qtbot.waitUntil(lambda: chat.reply is None, timeout=60_000)
    qtbot.wait(50)
    heartbeat.stop()
    assert chat.path[-1].text == "".join(PIECES)
    assert heartbeat.worst_work < 0.1
    assert heartbeat.worst < 1.0
