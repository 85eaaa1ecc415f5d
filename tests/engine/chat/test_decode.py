"""The generation loop: what ends it, and that a stop takes effect at once."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from engine.chat.decode import generate_ids
from engine.config import GenerateOptions
from engine.errors import ChatError, StorageError
from engine.stop import StopFlag
from tests.helpers.fake_model import FakeModel

GREEDY = GenerateOptions(temperature=0.0, max_tokens=10)


def counting(ids: list[int]) -> int:
    """A model that counts on from the last id."""
    return ids[-1] + 1


def run(tokens: Generator[int, None, str]) -> tuple[list[int], str]:
    ids: list[int] = []
    while True:
        try:
            ids.append(next(tokens))
        except StopIteration as end:
            return ids, end.value


def test_ends_at_a_stop_token_which_is_not_part_of_the_reply() -> None:
    model = FakeModel(50, counting)
    assert run(generate_ids(model, [1, 2], GREEDY, {6}, StopFlag())) == ([3, 4, 5], "stop")
    assert model.computed == [1, 2, 3, 4, 5]


def test_ends_after_max_tokens_without_computing_one_more() -> None:
    model = FakeModel(50, counting)
    ids, reason = run(generate_ids(model, [1], GREEDY, (), StopFlag()))
    assert (ids, reason) == (list(range(2, 12)), "length")
    assert model.computed == list(range(1, 11))


def test_ends_when_the_context_is_full() -> None:
    model = FakeModel(50, counting, context_tokens=6)
    ids, reason = run(generate_ids(model, [1, 2, 3], GREEDY, (), StopFlag()))
    assert (ids, reason) == ([4, 5, 6, 7], "context")
    assert model.position == 6


def test_a_stop_before_the_start_computes_nothing() -> None:
    model, stop = FakeModel(50, counting), StopFlag()
    stop.set()
    assert run(generate_ids(model, [1], GREEDY, (), stop)) == ([], "stopped")
    assert not model.computed


@pytest.mark.parametrize("when", [1, 5, 7, 9])
def test_a_stop_ends_prefill_or_decode_at_the_next_look(when: int) -> None:
    model, stop = FakeModel(50, counting), StopFlag()
    model.before = lambda token: stop.set() if token == when else None
    ids, reason = run(generate_ids(model, [1, 2, 3, 4, 5, 6], GREEDY, (), stop))
    assert reason == "stopped"
    assert ids == list(range(7, when + 1))
    assert model.computed == list(range(1, when))


def test_a_stop_between_two_tokens_computes_no_more() -> None:
    model, stop = FakeModel(50, counting), StopFlag()
    tokens = generate_ids(model, [1], GREEDY, (), stop)
    assert next(tokens) == 2
    stop.set()
    assert run(tokens) == ([], "stopped")
    assert model.computed == [1]


def test_prefill_progress_reaches_the_caller() -> None:
    seen: list[tuple[int, int]] = []
    model = FakeModel(50, counting)
    tokens = generate_ids(
        model, list(range(1, 11)), GREEDY, (), StopFlag(), lambda *step: seen.append(step)
    )
    next(tokens)
    assert seen == [(4, 10), (8, 10), (10, 10)]


def test_an_error_of_the_drive_comes_through() -> None:
    def fail(token: int) -> None:
        if token == 4:
            raise StorageError("The drive is gone.")

    model = FakeModel(50, counting)
    model.before = fail
    tokens = generate_ids(model, [1, 2], GREEDY, (), StopFlag())
    assert next(tokens) == 3
    assert next(tokens) == 4
    with pytest.raises(StorageError):
        next(tokens)


def test_a_model_that_writes_no_numbers_is_an_error() -> None:
    model = FakeModel(50, counting)
    forward = model.forward
    model.forward = lambda *args: forward(*args) * float("nan")  # type: ignore[method-assign]
    with pytest.raises(ChatError, match="not a number"):
        next(generate_ids(model, [1], GREEDY, (), StopFlag()))


def test_a_model_that_prefers_no_word_is_an_error_that_names_the_check() -> None:
    model = FakeModel(50, counting)
    forward = model.forward
    model.forward = lambda *args: forward(*args) * 0  # type: ignore[method-assign]
    with pytest.raises(ChatError, match="equally likely") as caught:
        next(generate_ids(model, [1], GREEDY, (), StopFlag()))
    assert "Check the files" in caught.value.next_step and "--deep" in caught.value.next_step


def test_the_repetition_penalty_knows_what_came_before_the_new_ids() -> None:
    model = FakeModel(50, lambda ids: 9)
    options = GenerateOptions(temperature=0.0, max_tokens=1, repetition_penalty=10.0)
    forward = model.forward

    def close_race(*args: object) -> object:
        logits = forward(*args)  # type: ignore[arg-type]
        logits[5] = 19  # the runner-up
        return logits

    model.forward = close_race  # type: ignore[method-assign, assignment]
    plain, _ = run(generate_ids(model, [1], options, (), StopFlag()))
    model.rewind(0)
    known, _ = run(generate_ids(model, [1], options, (), StopFlag(), history=[9]))
    assert (plain, known) == ([9], [5])
