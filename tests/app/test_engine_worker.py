"""The engine's thread: order, stop at every moment, errors, and any order of commands."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.engine_worker import EngineClient, Failed, FirstText, JobDone, Loaded
from app.sampling import Sampling
from engine import ContainerError, Edge0Config, Finished, TextDelta
from tests.app.fake_engine import FakeEngine, Script

OPTIONS = Sampling()
HELLO = (("user", "hello"),)


@pytest.fixture
def client(qtbot: QtBot, engine: FakeEngine) -> Iterator[EngineClient]:
    made = EngineClient(engine)
    yield made
    assert made.close()


@pytest.fixture
def model(engine: FakeEngine) -> Edge0Config:
    return Edge0Config(engine.models[0].path)


def collect(client: EngineClient) -> list[tuple[int, Any]]:
    events: list[tuple[int, Any]] = []
    client.arrived.connect(lambda job, event: events.append((job, event)))
    return events


def of(events: list[tuple[int, Any]], job: int, kind: type) -> list[Any]:
    return [event for number, event in events if number == job and isinstance(event, kind)]


def test_a_reply_comes_in_order_and_off_the_gui_thread(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    events = collect(client)
    client.load(model)
    job = client.reply(HELLO, OPTIONS)
    qtbot.waitUntil(lambda: not client.busy)
    kinds = [type(event).__name__ for number, event in events if number == job]
    wanted = ["PrefillProgress", "FirstText", "TextDelta", "Finished", "JobDone"]
    assert [kind for kind in kinds if kind in wanted] == wanted
    assert "".join(event.text for event in of(events, job, TextDelta)) == "Hello there."
    assert threading.main_thread().name not in script.threads
    assert script.replies[0][0].content == "hello"


def test_nothing_runs_while_there_is_nothing_to_do(
    qtbot: QtBot, client: EngineClient, model: Edge0Config
) -> None:
    client.load(model)
    qtbot.waitUntil(lambda: not client.busy)
    assert not client._timer.isActive()


def test_idle_time_warms_the_model_up_and_never_delays_a_reply(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    script.warm_slices = 10**9
    client.load(model)
    qtbot.waitUntil(lambda: script.warmed > 20)
    events = collect(client)
    job = client.reply(HELLO, OPTIONS)
    qtbot.waitUntil(lambda: not client.busy, timeout=2000)
    assert of(events, job, Finished)
    assert threading.main_thread().name not in script.threads
    client.load(None)
    qtbot.waitUntil(lambda: not client.busy)
    done = script.warmed
    script.warm_slices = 3
    client.load(model)
    qtbot.waitUntil(lambda: script.warmed == done + 3)


def test_stop_ends_a_running_reply(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    script.pieces = lambda messages: ["word "] * 100_000
    script.piece_s = 0.001
    events = collect(client)
    client.load(model)
    job = client.reply(HELLO, OPTIONS)
    qtbot.waitUntil(lambda: bool(of(events, job, TextDelta)))
    client.stop(job)
    qtbot.waitUntil(lambda: not client.busy, timeout=2000)
    (end,) = of(events, job, Finished)
    assert end.reason == "stopped"


def test_stop_reaches_a_job_that_has_not_begun(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    script.load_s = 0.2
    events = collect(client)
    client.load(model)
    job = client.reply(HELLO, OPTIONS)
    client.stop(job)
    qtbot.waitUntil(lambda: not client.busy)
    assert script.replies == []
    assert [event for number, event in events if number == job] == [JobDone()]


def test_stop_ends_the_opening_of_a_model(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    script.load_s = 0.6
    job = client.load(model)
    client.stop(job)
    qtbot.waitUntil(lambda: not client.busy)
    assert script.loads == []


def test_the_reply_waits_until_the_prompt_is_saved(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    client.load(model)
    saved: Future[None] = Future()
    client.reply(HELLO, OPTIONS, saved)
    qtbot.wait(80)
    assert script.replies == []
    saved.set_result(None)
    qtbot.waitUntil(lambda: not client.busy)
    assert len(script.replies) == 1


def test_a_prompt_that_could_not_be_saved_is_not_answered(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    events = collect(client)
    client.load(model)
    saved: Future[None] = Future()
    saved.set_exception(OSError("disk full"))
    job = client.reply(HELLO, OPTIONS, saved)
    qtbot.waitUntil(lambda: not client.busy)
    assert "disk full" in of(events, job, Failed)[0].message
    assert script.replies == []


def test_errors_keep_their_words(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    events = collect(client)
    job = client.reply(HELLO, OPTIONS)
    script.fail_load = ContainerError("expert 3 is damaged.", "Convert again.")
    second = client.load(model)
    qtbot.waitUntil(lambda: not client.busy)
    assert of(events, job, Failed)[0].next_step == "Choose a model above the chat."
    assert of(events, second, Failed) == [
        Failed("expert 3 is damaged.", "Convert again.", "ContainerError")
    ]


def test_the_first_text_is_timed_once(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    script.pieces = lambda messages: ["a"] * 50
    events = collect(client)
    client.load(model)
    job = client.reply(HELLO, OPTIONS)
    qtbot.waitUntil(lambda: not client.busy)
    assert len(of(events, job, FirstText)) == 1


def test_switching_closes_the_old_model_first(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script
) -> None:
    events = collect(client)
    first = client.load(model)
    second = client.load(model)
    last = client.load(None)
    qtbot.waitUntil(lambda: not client.busy)
    assert script.closes == 2 and len(script.loads) == 2
    path = Path(model.model_path)
    assert [of(events, job, Loaded)[-1].model for job in (first, second, last)] == [
        path,
        path,
        None,
    ]


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_commands_ends_well(
    qtbot: QtBot, client: EngineClient, model: Edge0Config, script: Script, seed: int
) -> None:
    dice = random.Random(seed)
    script.pieces = lambda messages: ["word "] * 40
    script.piece_s = script.load_s = 0.002
    events = collect(client)
    jobs: list[int] = []
    for _ in range(20):
        action = dice.choice(["load", "unload", "reply", "reply", "stop", "wait", "fail"])
        script.fail_load = ContainerError("bad") if action == "fail" else None
        if action in ("load", "fail"):
            jobs.append(client.load(model))
        elif action == "unload":
            jobs.append(client.load(None))
        elif action == "reply":
            jobs.append(client.reply(HELLO, OPTIONS))
        elif action == "stop" and jobs:
            client.stop(dice.choice(jobs))
        else:
            qtbot.wait(dice.randrange(1, 8))
    for job in jobs:
        client.stop(job)
    qtbot.waitUntil(lambda: not client.busy, timeout=5000)
    assert [number for number, event in events if isinstance(event, JobDone)] == jobs
