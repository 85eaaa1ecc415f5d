"""An open model follows the machine's memory: fewer slots, another way to read, the same words."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine import Edge0Config, Edge0Runtime, GenerateOptions, Message
from engine.events import Finished, ReplyEvent, TextDelta
from engine.store.needs import GB
from tests.helpers.pressed import Machine, press, uncache
from tests.helpers.tiny_containers import make_tiny_container

PROMPT = [7 * i % 250 for i in range(1, 40)]
GREEDY = GenerateOptions(max_tokens=24, temperature=0.0)
ALL, FLOOR = 24, 4  # 3 layers of 8 experts, 2 used


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("placement") / "model")


def opened(path: Path, use_mmap: bool | None = None) -> Edge0Runtime:
    cache = path.parent / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    return Edge0Runtime.from_config(
        Edge0Config(path, context_tokens=256, threads=1, cache_dir=cache, use_mmap=use_mmap)
    )


@pytest.fixture
def runtime(converted: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Edge0Runtime]:
    uncache(monkeypatch)
    with opened(converted) as found:
        yield found


@pytest.fixture(scope="module")
def expected(converted: Path) -> list[int]:
    with opened(converted) as runtime:
        return runtime.generate_ids(PROMPT, GREEDY)


def say(runtime: Edge0Runtime, *texts: str) -> tuple[str, Finished]:
    """A reply to a conversation, and its end."""
    roles = ("user", "assistant")
    messages = [Message(roles[i % 2], text) for i, text in enumerate(texts)]
    events: list[ReplyEvent] = list(runtime.session().reply(messages, GREEDY))
    end = events[-1]
    assert isinstance(end, Finished)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), end


def test_it_starts_mapped_because_all_of_it_fits(runtime: Edge0Runtime) -> None:
    now = runtime.snapshot()
    assert now.io is not None and (now.io.mode, now.io.rule) == ("mapped", "whole")
    assert now.io_mode == "mapped" and now.memory_change is None


@pytest.mark.parametrize("use_mmap", [True, False])
def test_short_memory_takes_slots_in_steps_and_for_good(
    converted: Path, expected: list[int], use_mmap: bool
) -> None:
    machine = Machine(available=0)
    with opened(converted, use_mmap) as runtime:
        before = runtime.plan
        press(runtime, machine)
        slots = []
        for second in range(1, 5):
            machine.time_s = float(second)
            assert runtime.generate_ids(PROMPT, GREEDY) == expected
            slots.append(runtime.model.store.slots)
        assert slots == [12, 6, FLOOR, FLOOR]
        machine.available = 8 * GB
        for second in range(10, 60, 5):
            machine.time_s = float(second)
            assert runtime.generate_ids(PROMPT, GREEDY) == expected
        now, plan = runtime.snapshot(), runtime.plan
        assert runtime.model.store.slots == now.expert_slots == plan.expert_slots == FLOOR
        freed = (ALL - FLOOR) * (before.expert_bytes // ALL) + before.spare
        assert now.budget_bytes == plan.budget == before.budget - freed
        parts = plan.base + plan.dense + plan.kv + plan.workspace + plan.expert_bytes + plan.spare
        assert parts == plan.budget
        assert "lowered: memory got short" in plan.lines[0]
        assert now.io is not None and now.io.rule == "asked"
        change = now.memory_change
        assert change is not None and change.kind == "shrunk"
        assert change.reason == "Only 0.0 GB of memory was left."


def test_the_machine_is_looked_at_once_a_second(runtime: Edge0Runtime) -> None:
    machine = Machine()
    press(runtime, machine)
    runtime.generate_ids(PROMPT, GREEDY)
    assert machine.looks == 1
    machine.time_s = 0.9
    runtime.generate_ids(PROMPT, GREEDY)
    assert machine.looks == 1
    machine.time_s = 1.0
    runtime.generate_ids(PROMPT, GREEDY)
    assert machine.looks == 2


def test_a_lowered_limit_is_kept_and_changes_the_way_at_once(
    runtime: Edge0Runtime, expected: list[int]
) -> None:
    machine = Machine()
    press(runtime, machine)
    plan = runtime.plan
    assert runtime.generate_ids(PROMPT, GREEDY) == expected
    machine.total = plan.budget - plan.expert_bytes // 2 + GB // 16
    machine.available, machine.time_s = 0, 1.0
    runtime.model.rewind(0)
    assert runtime.generate_ids(PROMPT, GREEDY) == expected
    machine.time_s = 2.0
    assert runtime.generate_ids(PROMPT, GREEDY) == expected
    now = runtime.snapshot()
    assert now.budget_bytes <= machine.total
    assert now.io is not None and (now.io.mode, now.io.rule) == ("direct", "short")
    assert runtime.model.store.mode == "direct"
    assert now.memory_change is not None and now.memory_change.kind == "direct"


def test_another_regime_is_followed_when_it_stays(
    runtime: Edge0Runtime, expected: list[int]
) -> None:
    """Mapped to direct and back; squeezes that pass change nothing."""
    machine = Machine(available=0)
    press(runtime, machine)

    def after(seconds: float, available: int) -> str:
        machine.time_s += seconds
        machine.available = available
        runtime.model.rewind(0)
        assert runtime.generate_ids(PROMPT, GREEDY) == expected
        assert runtime.snapshot().io_mode == runtime.model.store.mode
        return runtime.model.store.mode

    assert after(10, 0) == "mapped"
    assert after(10, 8 * GB) == "mapped"
    assert after(10, 0) == "mapped"
    assert after(10, 0) == "mapped"
    assert after(10, 0) == "direct"
    slots = runtime.model.store.slots
    assert after(10, 8 * GB) == "direct"
    assert after(20, 8 * GB) == "mapped"
    assert runtime.model.store.slots == slots
    assert runtime.snapshot().io is not None and runtime.snapshot().io.rule == "room"


def switch(runtime: Edge0Runtime) -> Machine:
    """Let memory run out, so that the next replies end in direct mode."""
    machine = Machine(available=0)
    press(runtime, machine)
    for _ in range(3):
        machine.time_s += 10.0
        runtime._placement.before_chunk(2)
    return machine


def test_a_conversation_goes_on_over_a_switch(converted: Path, runtime: Edge0Runtime) -> None:
    """The KV cache stays: the second turn computes only what is new, and says the same."""
    first, _ = say(runtime, "tell me a story")
    assert runtime.model.store.mode == "mapped"
    switch(runtime)
    assert runtime.model.store.mode == "direct"
    second, end = say(runtime, "tell me a story", first, "and then?")
    assert end.stats.reused_tokens > 20
    with opened(converted) as fresh:
        assert say(fresh, "tell me a story", first, "and then?")[0] == second


def test_counters_and_learned_use_go_on_over_a_switch(runtime: Edge0Runtime) -> None:
    say(runtime, "one")
    before, uses = runtime.model.counters(), runtime._usage.recorder.uses.copy()
    switch(runtime)
    after = runtime.model.counters()
    assert after.expert_hits == before.expert_hits and after.attention_s == before.attention_s
    assert after.expert_misses == before.expert_misses
    assert after.expert_bytes_read >= before.expert_bytes_read
    assert (runtime._usage.recorder.uses == uses).all()
    assert len(runtime.model.store.resident()) == runtime.model.store.slots  # kept warm
    _, end = say(runtime, "two")
    assert end.stats.expert_hits + end.stats.expert_misses > 0


def test_a_switch_leaves_no_file_open(runtime: Edge0Runtime) -> None:
    handles = len(psutil.Process().open_files())
    switch(runtime)
    assert runtime.model.store.mode == "direct"
    assert len(psutil.Process().open_files()) == handles


def test_what_the_user_set_is_not_changed(converted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uncache(monkeypatch)
    with opened(converted, use_mmap=True) as runtime:
        switch(runtime)
        assert runtime.model.store.mode == "mapped"


@pytest.mark.parametrize("replaced", [False, True])
def test_files_that_are_gone_or_others_stay_open_as_they_are(
    converted: Path,
    tmp_path: Path,
    expected: list[int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    replaced: bool,
) -> None:
    """A switch would open the folder's files anew: never the wrong ones."""
    uncache(monkeypatch)
    path = Path(shutil.copytree(converted, tmp_path / "model"))
    with opened(path) as runtime, caplog.at_level(logging.WARNING):
        path.rename(tmp_path / "away")
        if replaced:
            make_tiny_container(tmp_path / "other", seed=5)
            (tmp_path / "other").rename(path)
        switch(runtime)
        assert runtime.model.store.mode == "mapped"
        assert "experts stay mapped" in caplog.text
        assert runtime.generate_ids(PROMPT, GREEDY) == expected


def test_warming_up_ends_where_memory_does(runtime: Edge0Runtime) -> None:
    machine = Machine(available=0)
    press(runtime, machine)
    runtime._usage.rates = None
    runtime.warm_up()
    assert runtime.model.store.slots == ALL // 2
