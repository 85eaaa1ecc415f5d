"""Another model is opened in place of the open one: the first is gone before the second comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import engine
from app.engine_worker import EngineWorker, Failed, LoadJob
from app.event_buffer import EventBuffer
from engine import Edge0Config, memory_now
from engine.container.reader import Container
from engine.machine.memory import peak_working_set, restart_peak
from engine.model.dense_arena import dense_bytes
from tests.helpers.tiny_containers import make_tiny_container

ROOMY = {"hidden_size": 512, "vocab_size": 32_000}  # a head of 33 MB as bf16


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("models")
    return [
        make_tiny_container(folder / name, quant="bf16", seed=seed, **ROOMY)
        for seed, name in enumerate(("first", "second"))
    ]


def test_two_models_are_never_in_memory_together(qtbot: QtBot, models: list[Path]) -> None:
    buffer = EventBuffer()
    worker = EngineWorker(engine, buffer)
    size = dense_bytes(Container.open(models[0]))
    assert size > 30_000_000
    opened = []
    for number in range(6):
        config = Edge0Config(models[number % 2], context_tokens=64, threads=1)
        counted = restart_peak()
        worker.run(LoadJob(number, config))
        opened.append(memory_now().working_set)
        if counted and number:
            assert peak_working_set() < max(opened[-2:]) + size // 2
    assert not [e for e in buffer.drain() if isinstance(e.event, Failed)]
    assert opened[-1] < opened[1] + size // 4  # nothing stays behind
    worker.run(LoadJob(9, None))
    assert memory_now().working_set < opened[-1] - size * 3 // 4
