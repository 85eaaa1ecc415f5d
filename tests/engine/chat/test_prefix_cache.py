"""The record of what is in the KV cache stays true, whatever happens to the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat.prefix_cache import PrefixCache, common_prefix
from engine.errors import ChatError, Stopped, StorageError
from engine.stop import StopFlag
from tests.helpers.fake_model import FakeModel

ids = st.lists(st.integers(0, 2), max_size=20)


@given(ids, ids, ids)
def test_common_prefix_is_the_longest(shared: list[int], a: list[int], b: list[int]) -> None:
    one, two = shared + a, shared + b
    length = common_prefix(one, two)
    assert one[:length] == two[:length]
    assert length >= len(shared)
    assert length == min(len(one), len(two)) or one[length] != two[length]


def test_a_hundred_thousand_ids() -> None:
    one = list(range(100_000))
    two = [*one[:77_777], -1, *one[77_778:]]
    assert common_prefix(one, two) == 77_777
    assert common_prefix(one, one) == 100_000


def test_one_token_is_always_left_to_compute() -> None:
    cache = PrefixCache(FakeModel(9))
    cache.forward([1, 2, 3], StopFlag())
    assert cache.keep([1, 2, 3]) == 2
    assert cache.position == 2


def test_a_stopped_prefill_keeps_what_was_computed() -> None:
    model, stop = FakeModel(9), StopFlag()
    cache = PrefixCache(model)
    model.before = lambda token: stop.set() if token == 6 else None
    with pytest.raises(Stopped):
        cache.forward([1, 2, 3, 4, 5, 6, 7, 8], stop)
    assert model.cache == [1, 2, 3, 4]  # whole chunks
    assert cache.keep([1, 2, 3, 4, 5, 6]) == 4


def test_after_an_error_nothing_of_the_call_counts() -> None:
    model = FakeModel(9)
    cache = PrefixCache(model)
    cache.forward([1, 2], StopFlag())

    def fail(token: int) -> None:
        if token == 8:
            raise StorageError("The drive is gone.")

    model.before = fail
    with pytest.raises(StorageError):
        cache.forward([3, 4, 5, 6, 7, 8], StopFlag())
    assert model.cache == [1, 2]
    assert cache.keep([1, 2, 3, 4]) == 2


def test_a_model_used_behind_our_back_is_started_anew() -> None:
    model = FakeModel(9)
    cache = PrefixCache(model)
    cache.forward([1, 2, 3], StopFlag())
    model.rewind(0)
    model.forward([7, 7], StopFlag())
    assert cache.keep([1, 2, 3, 4]) == 0
    assert model.position == 0


def test_one_at_a_time() -> None:
    cache = PrefixCache(FakeModel(9))
    with cache.exclusive():
        assert cache.busy
        with pytest.raises(ChatError, match="already"), cache.exclusive():
            pass
        assert cache.busy
    assert not cache.busy
