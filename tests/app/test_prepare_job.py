"""The starter job: a real child process, its progress, its end, and no orphans."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.commands import starter_command
from app.prepare_job import PrepareJob

HEAD = "import json, sys, time, subprocess, os\ndef say(**k): print(json.dumps(k), flush=True)\n"


def job(qtbot: QtBot, body: str) -> PrepareJob:
    return PrepareJob([sys.executable, "-c", HEAD + body])


def test_progress_then_the_path(qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "模型 é"
    made = job(
        qtbot,
        "say(done=1, total=4, what='model.gguf')\nprint('not json')\nprint('[1]')\n"
        f"say(done=4, total=4, what='ready')\nsay(finished={str(folder)!r})",
    )
    seen: list[tuple[int, str]] = []
    made.changed.connect(lambda: seen.append((made.done, made.what)))
    with qtbot.waitSignal(made.finished) as ended:
        made.start()
    assert ended.args == [folder]
    assert (1, "model.gguf") in seen and made.state == "done"


def test_an_error_is_told_with_its_next_step(qtbot: QtBot) -> None:
    made = job(qtbot, "say(error='No network.', next_step='Connect, then go on.'); sys.exit(1)")
    made.start()
    qtbot.waitUntil(lambda: made.state == "failed")
    assert (made.error, made.next_step) == ("No network.", "Connect, then go on.")


def test_a_crash_tells_its_last_line(qtbot: QtBot) -> None:
    made = job(qtbot, "sys.exit('it broke: 字')")
    made.start()
    qtbot.waitUntil(lambda: made.state == "failed")
    assert made.error == "it broke: 字"


def test_a_program_that_is_not_there(qtbot: QtBot, tmp_path: Path) -> None:
    made = PrepareJob([str(tmp_path / "no such program")])
    made.start()
    qtbot.waitUntil(lambda: made.state == "failed")
    assert "no such program" in made.error


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
@pytest.mark.parametrize("closing", [False, True])
def test_cancelling_ends_the_child_and_its_children(qtbot: QtBot, closing: bool) -> None:
    made = job(
        qtbot,
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "say(done=p.pid, total=os.getpid(), what='x'); time.sleep(60)",
    )
    made.start()
    qtbot.waitUntil(lambda: made.done > 0)
    pids = (made.done, made.total)
    made.close() if closing else made.cancel()
    if not closing:
        assert made.state == "cancelled"
        qtbot.waitUntil(lambda: made._process is None)
        made.cancel()  # once more does nothing
    end = time.monotonic() + 5
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(alive(pid) for pid in pids)


def test_going_on_after_a_cancel(qtbot: QtBot, tmp_path: Path) -> None:
    mark = tmp_path / "half done"
    made = job(
        qtbot,
        f"import pathlib; mark = pathlib.Path({str(mark)!r})\n"
        "if mark.exists(): say(finished='/there'); sys.exit()\n"
        "mark.touch(); say(done=1, total=2, what='half'); time.sleep(60)",
    )
    made.start()
    qtbot.waitUntil(lambda: made.done == 1)
    made.cancel()
    qtbot.waitUntil(lambda: made._process is None)
    with qtbot.waitSignal(made.finished):
        made.start()


def test_the_command_is_the_terminal_one(monkeypatch: pytest.MonkeyPatch) -> None:
    command = starter_command(Path("/a b"))
    assert command[-5:] == ["starter", "--progress", "json", "--models-dir", str(Path("/a b"))]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert Path(starter_command(Path())[0]).name.startswith("edge0-cli")
