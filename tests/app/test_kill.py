"""kill -9 while a reply is written: the prompt is there, at most a second of text is gone."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.history import History

ROOT = Path(__file__).resolve().parent.parent.parent

WRITER = """
import sys, time
from pathlib import Path
from PySide6.QtWidgets import QApplication
from app.application import Application
from tests.app.fake_engine import FakeEngine, Script, installed
folder = Path(sys.argv[1])
script = Script(pieces=lambda m: (f"{time.time():.3f} " for _ in range(100_000)), piece_s=0.01)
qt = QApplication([])
app = Application(qt, FakeEngine([installed(folder / "models" / "m", "M")], script), folder, ["x"])
app.start()
app.window.page.composer.sent.emit("the prompt 提示")
app.window.page.composer.set_draft("")
print("sent", flush=True)
qt.exec()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("seed", range(2))
def test_a_kill_costs_at_most_a_second_of_text(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "测试 用户　é'&#%"
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "sent\n"
    time.sleep(random.Random(seed).uniform(0.05, 2.0))
    killed_at = time.time()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    history = History(folder / "chats.sqlite3")
    assert history.moved_to is None
    (conversation,) = history.conversations()
    prompt, reply = history.messages(conversation.id)
    history.close()
    assert prompt.text == "the prompt 提示"
    assert reply.state == "interrupted"
    last = float(reply.text.split()[-1]) if reply.text else killed_at - 1
    assert killed_at - last < 1.5  # a second, and what a loaded machine adds
