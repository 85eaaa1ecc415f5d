"""`edge0 bench` against a fake model on a fake clock: every number is the counter it claims."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.cli import bench
from engine.cli.bench import Work, measure
from engine.cli.bench_tokens import ordinary_ids, prompt_ids, sample
from engine.errors import Edge0Error
from engine.events import IoChoice
from engine.machine.samples import MemorySample, ProcessIO
from engine.stop import StopFlag
from engine.telemetry import Counters, Snapshot

VOCAB = 100
EOS = 7


class FakeModel:
    """0.01 s a prompt token, 0.5 s a decoded one; always wants to end."""

    def __init__(self) -> None:
        self.now = 100.0
        self.position = 0
        self.seen: list[list[int]] = []
        self.total = Counters(expert_hits=1000, expert_misses=1000)

    def clock(self) -> float:
        return self.now

    def forward(self, ids: Sequence[int], stop: StopFlag) -> NDArray[np.float32]:
        self.seen.append(list(ids))
        self.position += len(ids)
        prefill = len(ids) > 1
        self.now += 0.01 * len(ids) if prefill else 0.5
        self.total = Counters(
            expert_hits=self.total.expert_hits + (0 if prefill else 3),
            expert_misses=self.total.expert_misses + (50 if prefill else 1),
            expert_bytes_read=self.total.expert_bytes_read + (5000 if prefill else 100),
            attention_s=self.total.attention_s + (0.2 if prefill else 0.1),
            expert_compute_s=self.total.expert_compute_s + 0.2,
            expert_wait_s=self.total.expert_wait_s + 0.05,
        )
        logits = np.full(VOCAB, 0.0, np.float32)
        logits[EOS] = 50.0
        return logits

    def rewind(self, position: int) -> None:
        self.position = position

    def counters(self) -> Counters:
        return self.total


class FakeRuntime:
    def __init__(self) -> None:
        self.model = FakeModel()
        self._io = 0

    def snapshot(self) -> Snapshot:
        self._io += 4096
        memory = MemorySample(minor_faults=self._io, major_faults=self._io // 4096)
        return Snapshot(
            0.0, memory, ProcessIO(self._io, 0, "block"), None, self.model.total,
            kv_bytes=777, io_mode="direct", isa="avx2", threads=2, budget_bytes=5, expert_slots=6,
            io=IoChoice("direct", "short", "Direct: memory is short."),
        )  # fmt: skip


def work(prompt: int = 20, generate: int = 5, seed: int = 1) -> Work:
    ids = np.setdiff1d(np.arange(VOCAB), [EOS, 0, 1])
    return Work(ids, prompt, generate, seed)


def test_every_number_is_what_it_says() -> None:
    runtime = FakeRuntime()
    result = measure(runtime, work(), runtime.model.clock)
    assert result == {
        "prompt": 20,
        "generate": 5,
        "seed": 1,
        "prefill_tok_s": pytest.approx(100.0),
        "first_token_s": pytest.approx(0.2),
        "decode_tok_s": pytest.approx(2.0),
        "expert_hit_rate": 0.75,
        "expert_bytes_read": 5400,
        "prefill_expert_bytes": 5000,
        "decode_bytes_per_token": 100.0,
        "ssd_bytes_read": 8192,
        "prefill_ssd_bytes": 4096,
        "decode_ssd_bytes_per_token": 1024.0,
        "ssd_bytes_counted": "block",
        "minor_faults": 8192,
        "major_faults": 2,
        "kv_bytes": 777,
        "expert_slots": 6,
        "budget_bytes": 5,
        "io_mode": "direct",
        "io_reason": "Direct: memory is short.",
        "memory_change": "",
        "isa": "avx2",
        "threads": 2,
        "ms_per_token": {
            "attention": pytest.approx(100.0),
            "expert_compute": pytest.approx(200.0),
            "expert_wait": pytest.approx(50.0),
            "sampling": 0.0,
            "other": pytest.approx(150.0),
        },
    }


def test_a_repetition_starts_from_an_empty_cache() -> None:
    runtime = FakeRuntime()
    measure(runtime, work(prompt=20, generate=5), runtime.model.clock)
    measure(runtime, work(prompt=20, generate=5), runtime.model.clock)
    assert runtime.model.position == 20 + 4


def test_the_median_is_of_each_number_by_itself() -> None:
    results = [
        {"isa": "avx2", "a": a, "b": 10 - a, "budget_gb": None, "parts": {"x": a * 2.0}}
        for a in (3, 1, 2)
    ]
    expected = {"isa": "avx2", "a": 2, "b": 8, "budget_gb": None, "parts": {"x": 4.0}}
    assert bench.median(results) == expected


def test_it_always_generates_the_whole_length_and_never_a_special_token() -> None:
    runtime = FakeRuntime()
    measure(runtime, work(generate=30), runtime.model.clock)
    prompt, *steps = runtime.model.seen
    assert (len(prompt), len(steps)) == (20, 29)
    assert not {EOS, 0, 1} & {i for ids in runtime.model.seen for i in ids}


def test_the_same_seed_is_the_same_work_another_is_not() -> None:
    def seen(seed: int) -> list[list[int]]:
        runtime = FakeRuntime()
        measure(runtime, work(seed=seed), runtime.model.clock)
        return runtime.model.seen

    assert seen(1) == seen(1) != seen(2)


def test_one_token_has_no_decode_speed() -> None:
    runtime = FakeRuntime()
    result = measure(runtime, work(generate=1), runtime.model.clock)
    assert result["decode_tok_s"] == 0.0
    assert result["expert_hit_rate"] == 0.0  # of the prefill, there was nothing else
    assert result["expert_bytes_read"] == 5000


def test_sampling_follows_the_probabilities() -> None:
    logits = np.log(np.array([0.5, 0.0001, 0.3, 0.2], np.float32))
    ids, rng = np.array([0, 2, 3]), np.random.default_rng(0)
    drawn = np.bincount([sample(logits, ids, rng) for _ in range(4000)], minlength=4) / 4000
    assert drawn[1] == 0
    assert np.allclose(drawn[[0, 2, 3]], [0.5, 0.3, 0.2], atol=0.04)


def test_broken_logits_are_told() -> None:
    logits = np.array([np.nan, 1.0], np.float32)
    with pytest.raises(Edge0Error, match="not finite"):
        sample(logits, np.array([0, 1]), np.random.default_rng(0))


def test_prompts_look_like_text_usual_words_come_again() -> None:
    ids = prompt_ids(np.arange(50_000), 2000, np.random.default_rng(3))
    assert 500 < len(set(ids)) < 1600
    assert np.median(ids) < 5000


def tokenizer(folder: Path, added: object) -> Path:
    text = json.dumps({"version": "1.0", "added_tokens": added, "model": {"vocab": {"é": 3}}})
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    return folder


def test_special_ids_at_the_start_and_padding_at_the_end_are_left_out(tmp_path: Path) -> None:
    ids = ordinary_ids(tokenizer(tmp_path, [{"id": i} for i in (0, 1, 90, 91)]), 100)
    assert list(ids) == list(range(2, 90))


@pytest.mark.parametrize("added", [[], "odd", [{"id": "x"}, 5, {"id": -4}, {"id": 10**9}]])
def test_odd_tokenizers_leave_all_ids(tmp_path: Path, added: object) -> None:
    assert list(ordinary_ids(tokenizer(tmp_path, added), 10)) == list(range(10))


def test_no_tokenizer_leaves_all_ids(tmp_path: Path) -> None:
    assert len(ordinary_ids(tmp_path, 10)) == 10
    (tmp_path / "tokenizer.json").write_text('{"added_tokens": [{"id": 1}', encoding="utf-8")
    assert len(ordinary_ids(tmp_path, 10)) == 10


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    result = {"isa": "avx2", "budget_gb": None, "ms_per_token": {"attention": 0.12345678}}
    bench._print(bench._rounded(result), as_json=True)
    bench._print(bench._rounded(result), as_json=False)
    first, *rest = capsys.readouterr().out.splitlines()
    assert json.loads(first) == {**result, "ms_per_token": {"attention": 0.1235}}
    assert rest == ["isa           avx2", "budget_gb     ", "ms_per_token  attention 0.1235"]


def test_a_snapshot_has_what_bench_reads() -> None:
    assert replace(FakeRuntime().snapshot(), isa="neon").isa == "neon"
