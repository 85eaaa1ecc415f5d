"""Starting: no display, a second start, the log and its secrets."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from app.__main__ import make_application
from app.display import display_problem
from app.logs import redact
from app.settings import Settings, write_settings
from app.single_instance import SingleInstance
from tests.app.fake_engine import FakeEngine

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(
    ("environment", "platform", "problem"),
    [
        ({}, "linux", "no display"),
        ({"DISPLAY": ":4711"}, "linux", "cannot be reached"),
        ({"QT_QPA_PLATFORM": "xcb"}, "linux", "no display"),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", ""),
        ({"QT_QPA_PLATFORM": "minimal:x=1"}, "linux", ""),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", ""),
        ({}, "win32", ""),
        ({}, "darwin", ""),
    ],
)
def test_the_display_is_checked_first(
    environment: dict[str, str], platform: str, problem: str
) -> None:
    found = display_problem(environment, platform)
    assert (problem in found) if problem else not found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can lack a display")
def test_without_a_display_the_terminal_is_offered(tmp_path: Path) -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "edge0 chat" in done.stderr and "Traceback" not in done.stderr


def test_chats_that_cannot_be_opened_are_told_in_the_chosen_language(
    qapp: QApplication, engine: FakeEngine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(folder / "settings.json", Settings(language="zh"))
    db = sqlite3.connect(folder / "chats.sqlite3")
    db.execute("PRAGMA user_version = 99")
    db.close()
    told: list[str] = []
    monkeypatch.setattr(QMessageBox, "critical", lambda *given: told.append(given[2]))
    assert make_application(qapp, engine, folder) is None
    assert "由更新版本的 Edge0 写入" in told[0] and "请更新 Edge0" in told[0]
    assert str(folder / "chats.sqlite3") in told[0]


def test_a_second_start_raises_the_first_window(qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "数据 'é%"
    first, second = SingleInstance(folder), SingleInstance(folder)
    assert first.take()
    with qtbot.waitSignal(first.raised):
        assert not second.take()
    first.release()
    assert second.take()
    second.release()


def test_a_lock_left_by_a_killed_app_does_not_keep_us_out(qtbot: QtBot, tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from app.single_instance import SingleInstance\n"
        "made = SingleInstance(Path(sys.argv[1])); assert made.take(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
    instance = SingleInstance(tmp_path)
    assert instance.take()
    instance.release()


@pytest.mark.parametrize(
    "secret",
    [
        "hf_AbCdEf0123456789",
        "Authorization: Bearer abc.def-123456",
        "token=s3cr3tvalue",
        '"api_key": "s3cr3tvalue"',
        "password: s3cr3tvalue",
        "https://user:s3cr3tvalue@example.org/x",
    ],
)
def test_secrets_do_not_reach_the_log(secret: str) -> None:
    cleaned = redact(f"before {secret} after")
    for word in ("AbCdEf0123456789", "abc.def-123456", "s3cr3tvalue"):
        assert word not in cleaned
    assert cleaned.startswith("before") and "after" in cleaned


def test_ordinary_text_is_logged_as_it_is() -> None:
    text = "opening /models/tokenizer.json took 3 tokens; see https://example.org/a:b"
    assert redact(text) == text


def test_the_log_file_has_no_secrets_in_tracebacks(tmp_path: Path) -> None:
    code = (
        "import logging, sys; from pathlib import Path; from app.logs import start_logging\n"
        "start_logging(Path(sys.argv[1]))\n"
        "try: raise ValueError('token=s3cr3tvalue')\n"
        "except ValueError: logging.getLogger('x').exception('failed')\n"
        "raise RuntimeError('at the end')"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "日志")], cwd=ROOT, capture_output=True
    )
    text = (tmp_path / "日志" / "edge0.log").read_text(encoding="utf-8")
    assert "s3cr3tvalue" not in text and "ValueError" in text
    assert "at the end" in text
