"""Conversations that come back are read from disk: which rows are kept, when, and for whom."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat import snapshots
from engine.chat.prefix_cache import PrefixCache, common_prefix
from engine.chat.snapshots import BLOCK, MIN_NEW_TOKENS, block_keys, worth_saving
from engine.machine.samples import DriveInfo
from engine.stop import StopFlag
from engine.store import snapshot_folder
from engine.store.cache_dir import forget_all, snapshot_root
from engine.store.snapshot_file import Rows
from tests.engine.chat.conftest import TOKENIZER, files, opened
from tests.helpers.fake_model import FakeModel

STOP = StopFlag()


def text(length: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(3, 200, length).tolist()


def read(cache: PrefixCache, ids: list[int], save: bool = True) -> int:
    """Prefills a prompt, as a reply does; how much of it was there."""
    reused = cache.keep(ids)
    cache.forward(ids[reused:], STOP)
    if save:
        cache.save(lambda: ids)
    return reused


@given(
    shared=st.lists(st.integers(0, 5), max_size=3 * BLOCK),
    a=st.lists(st.integers(0, 5), max_size=2 * BLOCK),
    b=st.lists(st.integers(0, 5), max_size=2 * BLOCK),
)
def test_keys_are_shared_as_far_as_the_ids_are(
    shared: list[int], a: list[int], b: list[int]
) -> None:
    one, two = shared + a, shared + b
    keys = block_keys(b"m", one), block_keys(b"m", two)
    assert common_prefix(*keys) == common_prefix(one, two) // BLOCK
    assert not set(block_keys(b"other", one)) & set(keys[0])


def test_a_text_comes_back_after_a_restart(caches: list[PrefixCache], tmp_path: Path) -> None:
    ids = text(5 * BLOCK + 7)
    first = opened(caches, tmp_path)
    assert read(first, ids) == 0
    first.close()
    model = FakeModel(TOKENIZER.vocab_size)
    second = opened(caches, tmp_path, model=model)
    assert second.keep(ids) == 5 * BLOCK == second.position
    assert model.cache == ids[: 5 * BLOCK] and model.computed == []


def test_a_conversation_in_between(caches: list[PrefixCache], tmp_path: Path) -> None:
    """Two that take turns at once: each finds what it had, without time to write in between."""
    cache, one, two = opened(caches, tmp_path), text(400, 1), text(700, 2)
    assert [read(cache, ids) for ids in (one, two)] == [0, 0]
    assert read(cache, one) == 6 * BLOCK
    assert read(cache, two) == 10 * BLOCK


def test_the_longer_of_cache_and_disk_is_used(caches: list[PrefixCache], tmp_path: Path) -> None:
    cache, ids = opened(caches, tmp_path), text(500)
    read(cache, ids)
    other = [*ids[:200], *text(100, 2)]
    assert read(cache, other) == 200  # the cache reaches further than whole blocks
    assert read(cache, ids) == 7 * BLOCK  # the disk goes on in the middle of a block


def test_one_token_is_always_left(caches: list[PrefixCache], tmp_path: Path) -> None:
    cache, ids = opened(caches, tmp_path), text(5 * BLOCK)
    read(cache, ids)
    cache.close()
    assert opened(caches, tmp_path).keep(ids) == 4 * BLOCK


def test_what_grows_is_written_once(caches: list[PrefixCache], tmp_path: Path) -> None:
    """A few new tokens wait for more; no block is written twice."""
    cache, ids, times = opened(caches, tmp_path), text(2000), {}
    for length in range(MIN_NEW_TOKENS, 2000, 100):
        read(cache, ids[:length])
        cache.close()
        for path in snapshot_root(tmp_path).glob("*/*.kv"):
            assert times.setdefault(path, path.stat().st_ino) == path.stat().st_ino
        assert (length - BLOCK * files(tmp_path)) < MIN_NEW_TOKENS + BLOCK
    assert opened(caches, tmp_path).keep(ids) == BLOCK * len(times) > 1500


def test_short_texts_are_not_worth_a_file(caches: list[PrefixCache], tmp_path: Path) -> None:
    cache = opened(caches, tmp_path)
    read(cache, text(MIN_NEW_TOKENS - 1))
    cache.close()
    assert not snapshot_root(tmp_path).exists()


@pytest.mark.parametrize(
    ("speed", "prefill", "worth"),
    [(1e9, 50.0, True), (1e9, None, True), (10e6, 50.0, False), (0.0, None, False)],
)
def test_reading_must_be_much_faster_than_computing(
    speed: float, prefill: float | None, worth: bool
) -> None:
    """A 30B model's rows are 98 KB a token: a drive reads ten thousand a second, a network 100."""
    assert worth_saving(98_304, speed, prefill) == worth


def test_nothing_is_written_where_reading_would_be_slow(
    caches: list[PrefixCache], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_folder, "drive_info", lambda _: DriveInfo("network"))
    cache = opened(caches, tmp_path)
    read(cache, text(500))
    cache.close()
    assert not snapshot_root(tmp_path).exists()


def test_another_model_finds_nothing(caches: list[PrefixCache], tmp_path: Path) -> None:
    ids = text(500)
    read(opened(caches, tmp_path), ids)
    caches[-1].close()
    assert opened(caches, tmp_path, b"the same weights, an int8 cache").keep(ids) == 0


def test_a_damaged_block_ends_what_is_restored_and_is_written_anew(
    caches: list[PrefixCache], tmp_path: Path
) -> None:
    ids = text(8 * BLOCK + 1)
    read(opened(caches, tmp_path), ids)
    caches[-1].close()
    third = next(snapshot_root(tmp_path).glob(f"*/{block_keys(b'model', ids)[2].hex()}.kv"))
    third.write_bytes(third.read_bytes()[:-1])
    model = FakeModel(TOKENIZER.vocab_size)
    cache = opened(caches, tmp_path, model=model)
    assert read(cache, ids) == 2 * BLOCK
    assert model.cache == ids
    assert not third.exists()  # one block alone is not worth a write


def test_a_text_longer_than_the_cap_keeps_its_beginning(
    caches: list[PrefixCache], tmp_path: Path
) -> None:
    ids = text(900)
    for _ in range(3):
        read(opened(caches, tmp_path, blocks=6), ids)
        caches[-1].close()
        assert files(tmp_path) == 6
    assert opened(caches, tmp_path).keep(ids) == 6 * BLOCK


def test_a_full_cache_gives_up_other_conversations_first(
    caches: list[PrefixCache], tmp_path: Path
) -> None:
    cache, texts = opened(caches, tmp_path, blocks=12), [text(400, seed) for seed in range(4)]
    for ids in texts:
        read(cache, ids)
        cache.close()
        assert files(tmp_path) <= 12
    assert [opened(caches, tmp_path).keep(ids) for ids in texts] == [0, 0, 384, 384]


class SlowModel(FakeModel):
    """Copying a block takes until `go_on` is set; notes what was copied."""

    def __init__(self) -> None:
        super().__init__(TOKENIZER.vocab_size)
        self.go_on, self.begun = threading.Event(), threading.Event()
        self.copied: list[int] = []

    def export_rows(self, begin: int, rows: Rows) -> None:
        self.begun.set()
        assert self.go_on.wait(10)
        super().export_rows(begin, rows)
        self.copied.append(begin)


def test_the_next_prompt_does_not_wait_for_the_rest(
    caches: list[PrefixCache], tmp_path: Path
) -> None:
    """A save that is under way is broken off, and completed after the next reply."""
    model, ids = SlowModel(), text(1000)
    cache = opened(caches, tmp_path, model=model)
    read(cache, ids[:600])
    assert model.begun.wait(10)
    threading.Timer(0.05, model.go_on.set).start()  # only the block at hand is waited for
    assert read(cache, ids) == 600
    cache.close()
    assert files(tmp_path) == 15 and sorted(set(model.copied)) == [*range(0, 960, BLOCK)]
    assert opened(caches, tmp_path).keep(ids) == 960


def test_rows_never_change_while_they_are_copied(
    caches: list[PrefixCache], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conversation that replaces one being saved may cut its save short, but not spoil it."""
    monkeypatch.setattr(snapshots, "PATIENCE_S", 0.0)
    texts = [text(600 + seed, seed) for seed in range(6)]
    for _ in range(5):
        cache = opened(caches, tmp_path)
        for ids in texts:
            read(cache, ids)
        cache.close()
    for ids in texts:
        model = FakeModel(TOKENIZER.vocab_size)
        reached = opened(caches, tmp_path, model=model).keep(ids)
        assert model.cache == ids[:reached]


def test_what_is_forgotten_while_it_is_saved_stays_forgotten(
    caches: list[PrefixCache], tmp_path: Path
) -> None:
    model, ids = SlowModel(), text(600)
    cache = opened(caches, tmp_path, model=model)
    read(cache, ids)
    assert model.begun.wait(10)
    forget_all(tmp_path)
    model.go_on.set()
    cache.close()
    assert files(tmp_path) == 0
    assert opened(caches, tmp_path).keep(ids) == 0


def test_a_place_that_cannot_be_written_costs_nothing(
    caches: list[PrefixCache], tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache, ids = opened(caches, tmp_path / "file"), text(600)
    assert [read(cache, ids), read(cache, ids)] == [0, 599]


def test_a_stop_ends_the_reading(caches: list[PrefixCache], tmp_path: Path) -> None:
    ids, stop = text(600), StopFlag()
    read(opened(caches, tmp_path), ids)
    caches[-1].close()
    stop.set()
    cache = opened(caches, tmp_path)
    assert cache.keep(ids, stop) == 0
    assert cache.keep(ids, StopFlag()) == 9 * BLOCK
