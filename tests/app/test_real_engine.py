"""The window on the real engine and the real starter model: the whole path of a message."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import engine
from app.core import Core
from app.history import History
from app.sampling import Sampling
from app.settings import Settings, write_settings
from tests.app.conftest import NO_STARTER

ROOT = Path(__file__).resolve().parent.parent.parent
GREEDY = Sampling(temperature=0.0, max_tokens=24)


@pytest.fixture
def real(qtbot: QtBot, folder: Path, starter_container: Path) -> Iterator[Core]:
    write_settings(folder / "settings.json", Settings(sampling=GREEDY, threads=2))
    core = Core(engine, folder, NO_STARTER)
    core.library.add(starter_container)
    qtbot.waitUntil(lambda: core.library.status in ("ready", "failed"), timeout=60_000)
    assert core.library.error is None
    yield core
    assert core.close()


def test_the_starter_answers_and_its_numbers_are_shown(qtbot: QtBot, real: Core) -> None:
    real.stats.take()
    for prompt in ("What is the capital of France?", "And of Italy?"):
        assert real.chat.send(prompt)
        qtbot.waitUntil(lambda: real.chat.reply is None, timeout=60_000)
    real.stats.take()
    messages = real.archive.fetch(History.messages, real.chat.conversation)
    assert messages[1].state in ("complete", "length")
    assert len(messages[1].text.split()) > 3
    first, second = messages[1].stats, messages[3].stats
    assert second["reused_tokens"] > first["prompt_tokens"] // 2
    now = real.stats.now
    assert now.kv_bytes and now.first_token_s and now.decode_tok_s and now.hit_rate is not None
    assert 0 < now.working_set <= now.virtual and now.budget > 0
    real.chat.regenerate(messages[1].id)
    qtbot.waitUntil(lambda: real.chat.reply is None, timeout=60_000)
    assert real.chat.path[-1].text == messages[1].text  # greedy: the same words again


def test_stop_ends_the_engine_in_the_middle_of_a_reply(qtbot: QtBot, real: Core) -> None:
    real.keep(Settings(sampling=Sampling(temperature=0.0, max_tokens=2000), threads=2))
    qtbot.waitUntil(lambda: not real.engine.busy, timeout=60_000)
    real.chat.send("Count from one to one thousand, one number a line.")
    qtbot.waitUntil(lambda: bool(real.chat.reply and real.chat.reply.pieces), timeout=60_000)
    real.chat.stop()
    qtbot.waitUntil(lambda: not real.engine.busy, timeout=10_000)
    last = real.chat.path[-1]
    assert last.state == "stopped" and last.text


def test_a_drive_that_fails_costs_one_reply_and_not_the_app(
    qtbot: QtBot, folder: Path, starter_container: Path, tmp_path: Path
) -> None:
    model = Path(shutil.copytree(starter_container, tmp_path / "model"))
    write_settings(folder / "settings.json", Settings(sampling=GREEDY, io_mode="direct"))
    core = Core(engine, folder, NO_STARTER)
    core.library.add(model)
    qtbot.waitUntil(lambda: core.library.status in ("ready", "failed"), timeout=60_000)
    (file,) = model.glob("*.moex")
    whole = file.read_bytes()
    os.truncate(file, len(whole) // 2)
    core.chat.send("What is the capital of France?")
    qtbot.waitUntil(lambda: not core.engine.busy, timeout=60_000)
    assert core.chat.path[-1].state == "failed"
    file.write_bytes(whole)
    core.chat.regenerate(core.chat.path[-1].id)
    qtbot.waitUntil(lambda: not core.engine.busy, timeout=60_000)
    assert core.chat.path[-1].state in ("complete", "length") and core.chat.path[-1].text
    assert core.close()


def test_the_window_needs_no_torch() -> None:
    code = (
        "import engine, sys, json; from app.application import Application\n"
        "engine.Edge0Runtime, engine.Snapshot(), engine.list_models()\n"
        "print(json.dumps('torch' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) is False
