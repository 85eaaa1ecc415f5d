"""An open model learns from replies and starts warm; nothing of it ever changes a word."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import Edge0Config, Edge0Runtime, GenerateOptions, Message, StopFlag
from engine import runtime as runtime_module
from engine.container.manifest import weights_id
from engine.container.reader import Container
from engine.model import planning
from engine.prepare.calibrate import calibrate
from engine.prepare.compact import compact
from engine.store.budget import MemoryPlan
from engine.store.cache_dir import model_cache
from engine.store.usage import read_usage, warm_order
from tests.helpers.tiny_containers import make_tiny_container

PROMPT = [7 * i % 250 for i in range(1, 40)]
GREEDY = GenerateOptions(max_tokens=24, temperature=0.0)


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("learned") / "model")


def opened(path: Path, cache: Path, **options: object) -> Edge0Runtime:
    return Edge0Runtime.from_config(
        Edge0Config(path, cache_dir=cache, context_tokens=256, threads=1, **options)  # type: ignore[arg-type]
    )


def usage_path(path: Path, cache: Path) -> Path:
    return model_cache(cache, weights_id(Container.open(path).manifest)) / "usage.json"


def talk(runtime: Edge0Runtime, text: str = "你好, tell me a story") -> str:
    return runtime.generate(text, max_tokens=24, temperature=0.0)


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Put a number in, and models open with so many slots; tiny records leave budgets no say."""
    slots: list[int] = []
    plan = planning.plan_memory

    def planned(*needs: object) -> MemoryPlan:
        found = plan(*needs)  # type: ignore[arg-type]
        return replace(found, expert_slots=slots[-1]) if slots else found

    monkeypatch.setattr(planning, "plan_memory", planned)
    yield slots


def test_replies_are_learned_and_the_next_start_is_warm(converted: Path, tmp_path: Path) -> None:
    with opened(converted, tmp_path) as runtime:
        assert runtime.model.store.resident().size == 0
        assert not usage_path(converted, tmp_path).exists()
        talk(runtime)
        used = set(runtime.model.store.resident().tolist())
    path = usage_path(converted, tmp_path)
    model_id = weights_id(Container.open(converted).manifest)
    usage = read_usage(path, model_id, 3, 8)
    assert usage is not None and set(np.flatnonzero(usage.counts).tolist()) == used
    assert usage.tokens > 24
    with opened(converted, tmp_path) as runtime:
        assert set(runtime.model.store.resident().tolist()) == used
        before = runtime.model.counters().expert_misses
        talk(runtime)
        assert runtime.model.counters().expert_misses == before


def test_raw_ids_and_logits_teach_nothing(converted: Path, tmp_path: Path) -> None:
    with opened(converted, tmp_path) as runtime:
        runtime.generate_ids(PROMPT, GREEDY)
        runtime.logits(PROMPT)
        runtime.routing(PROMPT, StopFlag())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("work", ["generate_ids", "logits", "routing"])
def test_raw_ids_before_a_reply_teach_nothing(converted: Path, tmp_path: Path, work: str) -> None:
    options = {"generate_ids": [GREEDY], "logits": [], "routing": [StopFlag()]}
    learned = []
    for cache, raw in ((tmp_path / "a", False), (tmp_path / "b", True)):
        with opened(converted, cache) as runtime:
            if raw:
                getattr(runtime, work)(PROMPT, *options[work])
            talk(runtime)
        learned.append(json.loads(usage_path(converted, cache).read_text(encoding="utf-8")))
    assert learned[0] == learned[1]


def test_the_model_folder_is_never_written(converted: Path, tmp_path: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in converted.iterdir()}
    with opened(converted, tmp_path) as runtime:
        talk(runtime)
    assert before == {path.name: path.stat().st_mtime_ns for path in converted.iterdir()}


@pytest.mark.parametrize("use_mmap", [True, False])
def test_the_words_never_depend_on_it(
    converted: Path, tmp_path: Path, tight: list[int], use_mmap: bool
) -> None:
    """Cold, warm, damaged file, short of memory, hot-first layout: the same words."""
    cache, texts, ids = tmp_path / "cache", set(), set()

    def ask(path: Path, slots: int = 24) -> None:
        tight.append(slots)
        with opened(path, cache, use_mmap=use_mmap) as runtime:
            assert runtime.model.store.slots == slots
            texts.add(talk(runtime))
            ids.add(tuple(runtime.generate_ids(PROMPT, GREEDY)))

    ask(converted)
    ask(converted)
    ask(converted, 5)
    path = usage_path(converted, cache)
    value = json.loads(path.read_text(encoding="utf-8"))
    value["counts"] = [row[::-1] for row in value["counts"]]
    path.write_text(json.dumps(value), encoding="utf-8")
    ask(converted, 9)
    path.write_bytes(b"\x00damaged")
    ask(converted, 9)
    moved = Path(shutil.copytree(converted, tmp_path / "moved"))
    compact(moved, np.tile(np.arange(8), (3, 1)))
    ask(moved)
    ask(moved, 5)
    assert len(texts) == 1 == len(ids)


def test_a_model_laid_out_anew_remembers(converted: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(converted, tmp_path / "moved"))
    with opened(moved, tmp_path / "cache") as runtime:
        talk(runtime)
    before = usage_path(moved, tmp_path / "cache")
    compact(moved, np.tile(np.arange(8), (3, 1)))
    assert usage_path(moved, tmp_path / "cache") == before
    assert Container.open(moved).manifest.id != Container.open(converted).manifest.id


def test_a_cache_folder_that_cannot_be_written_costs_nothing(
    converted: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    with opened(converted, tmp_path / "file") as runtime:
        assert talk(runtime)
    assert "not saved" in caplog.text


def test_warming_up_ends_when_memory_is_full_or_when_told(
    converted: Path, tmp_path: Path, tight: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(converted, tmp_path, use_mmap=False) as runtime:
        for text in ("one", "二", "three dogs", "4 * 4"):
            talk(runtime, text)
    tight.append(7)
    with opened(converted, tmp_path, use_mmap=False) as runtime:
        hottest = warm_order(runtime._usage.rates)[:7]
        assert set(runtime.model.store.resident().tolist()) == set(hottest.tolist())
        assert runtime.warm_up() == 0
    monkeypatch.setattr(runtime_module, "OPEN_WARM_S", 0.0)
    stop = StopFlag()
    stop.set()
    with opened(converted, tmp_path, use_mmap=False) as runtime:
        assert runtime.warm_up(stop=stop) == 0 == runtime.warm_up(seconds=0)
        assert runtime.warm_up() == 7


def test_no_warming_up_while_a_reply_is_written(converted: Path, tmp_path: Path) -> None:
    with opened(converted, tmp_path) as runtime:
        reply = runtime.session().reply([Message("user", "hi")], GREEDY)
        next(reply)
        assert runtime.warm_up() == 0
        assert len(list(reply)) > 1


def test_calibration_counts_what_the_router_picks(converted: Path, tmp_path: Path) -> None:
    text = "All that is gold does not glitter. 混合专家模型 def f(x): return x + 1"
    with opened(converted, tmp_path) as runtime:
        counts, tokens = calibrate(runtime, text), len(runtime.encode(text))
        assert counts.shape == (3, 8) and counts.sum(axis=1).tolist() == [2 * tokens] * 3
        assert (counts == calibrate(runtime, text)).all()
        one = runtime.routing(runtime.encode("x"), StopFlag())
        assert one.sum(axis=1).tolist() == [2, 2, 2] and one.max() == 1
    assert list(tmp_path.iterdir()) == []
