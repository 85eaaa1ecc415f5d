"""Learned usage: it grows, fades and survives; whatever is wrong with the file, nothing fails."""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store import usage as module
from engine.store.policy import POLICIES, DecayedFrequency, Policy
from engine.store.usage import (
    HALF_LIFE_TOKENS,
    PRIOR_TOKENS,
    SAVE_S,
    LearnedUsage,
    Usage,
    UsageRecorder,
    expected_rates,
    no_usage,
    read_usage,
    warm_order,
    write_usage,
)

MODEL = "ab" * 32
SHAPE = (3, 4)


def some_usage(tokens: float = 100.0) -> Usage:
    counts = np.arange(12, dtype=np.float64).reshape(SHAPE) * tokens / 12
    return Usage(counts, tokens)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "缓存 é'&#%" / "usage.json"


def change(path: Path, **fields: Any) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**value, **fields}), encoding="utf-8")


def test_what_is_written_is_read(path: Path) -> None:
    assert read_usage(path, MODEL, *SHAPE) is None
    assert write_usage(path, MODEL, some_usage())
    found = read_usage(path, MODEL, *SHAPE)
    assert found is not None and found.tokens == 100.0
    np.testing.assert_allclose(found.counts, some_usage().counts, atol=1e-3)
    assert [entry.name for entry in path.parent.iterdir()] == ["usage.json"]


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "cd" * 32},
        {"version": 2},
        {"format": "something"},
        {"counts": [[1.0] * 4] * 2},
        {"counts": [[1.0] * 5] * 3},
        {"counts": [[1.0] * 4, [1.0] * 4, [1.0, "x", 1.0, 1.0]]},
        {"counts": [[-1.0] * 4] * 3},
        {"counts": [[1e9] * 4] * 3},
        {"tokens": -5.0},
        {"tokens": None},
        {"extra": 1},
    ],
)
def test_a_file_that_cannot_be_is_ignored_with_a_word(
    path: Path, fields: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    write_usage(path, MODEL, some_usage())
    change(path, **fields)
    with caplog.at_level(logging.WARNING):
        assert read_usage(path, MODEL, *SHAPE) is None
    assert "usage.json is ignored" in caplog.text


@given(st.binary(max_size=300))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any-usage.json"
    path.write_bytes(data)
    assert read_usage(path, MODEL, *SHAPE) is None


def test_a_cut_file_and_a_huge_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_usage(path, MODEL, some_usage())
    os.truncate(path, path.stat().st_size - 3)
    assert read_usage(path, MODEL, *SHAPE) is None
    write_usage(path, MODEL, some_usage())
    monkeypatch.setattr(module, "MAX_BYTES", path.stat().st_size - 1)
    assert read_usage(path, MODEL, *SHAPE) is None


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in folders")
def test_a_pipe_does_not_hang(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    assert read_usage(path, MODEL, *SHAPE) is None


def test_a_full_disk_costs_nothing_but_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_usage(path, MODEL, some_usage())
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with caplog.at_level(logging.WARNING):
        assert not write_usage(path, MODEL, some_usage(500))
    assert "not saved" in caplog.text and path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["usage.json"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert not write_usage(tmp_path / "file" / "cache" / "usage.json", MODEL, some_usage())


def test_old_habits_fade() -> None:
    old, new = Usage(np.full(SHAPE, 80.0), 100.0), Usage(np.zeros(SHAPE), HALF_LIFE_TOKENS)
    merged = old.merged(new)
    np.testing.assert_allclose(merged.counts, 40.0)
    assert merged.tokens == 50.0 + HALF_LIFE_TOKENS


def test_rates_come_from_use_and_calibration() -> None:
    counts = np.array([[6, 2, 0, 0], [1, 1, 1, 1], [0, 0, 0, 8]])
    assert expected_rates(None, None, 2) is None
    prior = expected_rates(None, counts, 2)
    assert prior is not None
    np.testing.assert_allclose(prior.sum(axis=1), 2)
    assert prior[0].tolist() == [1.5, 0.5, 0, 0]
    used = expected_rates(some_usage(), None, 2)
    np.testing.assert_allclose(used, some_usage().counts / 100)  # type: ignore[arg-type]
    both = expected_rates(Usage(some_usage().counts * PRIOR_TOKENS / 100, PRIOR_TOKENS), counts, 2)
    np.testing.assert_allclose(both, (prior + some_usage().counts / 100) / 2)  # type: ignore[arg-type]
    assert expected_rates(no_usage(*SHAPE), None, 2) is None
    assert expected_rates(None, np.zeros(SHAPE, int), 2) is None


def test_the_hottest_are_warmed_first() -> None:
    rates = np.zeros(SHAPE)
    rates[2, 1], rates[0, 3], rates[1, 0], rates[1, 2] = 0.9, 0.5, 0.5, 0.1
    assert warm_order(rates).tolist() == [9, 3, 4, 6]
    assert warm_order(rates).dtype == np.int32
    assert warm_order(None).tolist() == []


@pytest.mark.parametrize("name", POLICIES)
def test_a_seeded_policy_keeps_the_hot_ones_until_use_says_otherwise(name: str) -> None:
    policy: Policy = POLICIES[name](4)
    policy.seed(np.array([0.1, 0.9, 0.0, 0.5]))
    resident = np.arange(4, dtype=np.int32)
    assert policy.victims(resident, 4).tolist() == [2, 0, 3, 1]
    for _ in range(100):
        policy.touch(np.array([2], np.int32), np.array([1], np.int32), 1)
    assert policy.victims(resident, 4).tolist()[-1] == 2


def recorder() -> UsageRecorder:
    return UsageRecorder(DecayedFrequency(12), *SHAPE)


def touch(record: UsageRecorder, keys: list[int], uses: list[int], tokens: int) -> None:
    record.touch(np.array(keys, np.int32), np.array(uses, np.int32), tokens)


def test_the_recorder_counts_and_changes_no_decision() -> None:
    record, plain = recorder(), DecayedFrequency(12)
    for keys, uses, tokens in [([0, 5], [1, 1], 1), ([5, 7, 5], [60, 4, 4], 64)]:
        touch(record, keys, uses, tokens)
        plain.touch(np.array(keys, np.int32), np.array(uses, np.int32), tokens)
    everything = np.arange(12, dtype=np.int32)
    assert record.victims(everything, 12).tolist() == plain.victims(everything, 12).tolist()
    assert record.uses.reshape(-1).tolist() == [1, 0, 0, 0, 0, 65, 0, 4, 0, 0, 0, 0]
    taken = record.take()
    assert taken.tokens == 1 + 32  # a chunk of 64 weighs as much as 32 tokens of a reply
    assert taken.counts.reshape(-1)[[0, 5, 7]].tolist() == [1, 1 + 64 / 2, 4 / 2]
    assert record.take().tokens == 0 and record.uses.sum() == 0


def test_a_chunk_that_used_nothing_teaches_nothing() -> None:
    record = recorder()
    touch(record, [], [], 1)
    assert record.take().tokens == 0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_saved_at_most_once_a_minute_and_at_the_end(path: Path) -> None:
    record, clock = recorder(), Clock()
    learned = LearnedUsage(path, MODEL, record, clock)
    touch(record, [3], [1], 1)
    learned.learn()
    assert not path.exists()
    clock.now = SAVE_S
    touch(record, [3], [1], 1)
    learned.learn()
    first = learned.read()
    assert first is not None and first.tokens == 2 and first.counts[0, 3] == 2
    touch(record, [4], [1], 1)
    learned.learn()
    assert learned.read().tokens == 2  # type: ignore[union-attr]
    learned.save()
    last = learned.read()
    assert last is not None
    assert last.tokens == pytest.approx(3, abs=1e-2) and last.counts[1, 0] == 1


def test_what_is_not_a_reply_is_not_learned(path: Path) -> None:
    record = recorder()
    learned = LearnedUsage(path, MODEL, record)
    touch(record, [3], [1], 1)
    learned.forget()
    learned.learn()
    learned.save()
    assert not path.exists()


def test_two_programs_with_one_model_both_count(path: Path) -> None:
    first, second = recorder(), recorder()
    one, two = LearnedUsage(path, MODEL, first), LearnedUsage(path, MODEL, second)
    for record, learned, key in ((first, one, 1), (second, two, 2)):
        touch(record, [key], [1], 1)
        learned.learn()
        learned.save()
    found = one.read()
    assert found is not None and found.counts.reshape(-1)[[1, 2]].round(2).tolist() == [1, 1]


def test_a_save_that_failed_is_made_up_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, clock = recorder(), Clock()
    learned = LearnedUsage(path, MODEL, record, clock)
    touch(record, [1], [1], 1)
    learned.learn()
    with monkeypatch.context() as patch:
        patch.setattr(module, "write_durably", _refuse)
        learned.save()
    assert not path.exists()
    learned.save()
    assert learned.read().tokens == 1  # type: ignore[union-attr]


def _refuse(path: Path, data: bytes) -> None:
    from engine.container.files import storage_error

    raise storage_error(path, PermissionError())
