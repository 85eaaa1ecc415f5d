"""A reply that ends before its end: stopped, failed, closed, never read; the next one is right."""

from __future__ import annotations

import threading

import pytest

from engine.chat.template import Message
from engine.errors import ChatError, StorageError
from engine.events import Finished, PrefillProgress, TextDelta
from tests.helpers.fake_model import CHUNK
from tests.helpers.scripted_session import (
    GREEDY,
    TOKENIZER,
    USER,
    finish,
    make,
)


def test_stop_during_prefill_ends_the_reply_and_keeps_what_was_computed() -> None:
    session, model = make()
    seen = 0

    def stop_at_ten(token: int) -> None:
        nonlocal seen
        seen += 1
        if seen == 10:
            session.stop()

    model.before = stop_at_ten
    written, end = finish(session.reply(USER, GREEDY))
    assert (written, end.reason) == ("", "stopped")
    assert len(model.computed) == 9  # it stopped within a token, not at the end of the prompt
    assert end.stats.generated_tokens == 0
    reply, end = finish(session.reply(USER, GREEDY))
    assert end.stats.reused_tokens == 8  # whole chunks
    fresh, _ = make()
    assert reply == finish(fresh.reply(USER, GREEDY))[0]


def test_stop_during_decode_shows_no_half_character() -> None:
    session, model = make("ab🦔cd")
    hedgehog = TOKENIZER.encode("🦔")
    assert len(hedgehog) > 1

    def stop_inside(token: int) -> None:
        if token == hedgehog[0]:
            session.stop()

    model.before = stop_inside
    written, end = finish(session.reply(USER, GREEDY))
    assert (written, end.reason) == ("ab", "stopped")
    model.before = lambda token: None
    assert finish(session.reply(USER, GREEDY))[0] == "ab🦔cd"


def test_stop_from_another_thread_while_the_model_computes() -> None:
    session, model = make()
    computing, stopped = threading.Event(), threading.Event()

    def wait_for_stop(token: int) -> None:
        computing.set()
        assert stopped.wait(10)

    model.before = wait_for_stop

    def press_stop() -> None:
        computing.wait(10)
        session.stop()
        stopped.set()

    button = threading.Thread(target=press_stop)
    button.start()
    assert finish(session.reply(USER, GREEDY))[1].reason == "stopped"
    button.join()
    assert not model.computed


def test_stop_before_the_first_event_is_not_lost() -> None:
    session, model = make()
    events = session.reply(USER, GREEDY)
    session.stop()
    assert finish(events)[1].reason == "stopped"
    assert not model.computed
    assert finish(session.reply(USER, GREEDY))[1].reason == "length"


def test_a_stop_when_nothing_runs_does_not_stop_the_next_reply() -> None:
    session, _ = make("Hello!")
    session.stop()
    assert finish(session.reply(USER, GREEDY))[0] == "Hello!"


@pytest.mark.parametrize("computed", [0, 3, 9, 30])
def test_an_error_comes_through_and_the_next_reply_is_right(computed: int) -> None:
    session, model = make()
    expected = finish(make()[0].reply(USER, GREEDY))[0]

    def fail(token: int) -> None:
        if len(model.computed) == computed:
            raise StorageError("The drive is gone.", "Plug it in.")

    model.before = fail
    with pytest.raises(StorageError, match="drive"):
        list(session.reply(USER, GREEDY))
    assert not session.busy
    model.before = lambda token: None
    assert finish(session.reply(USER, GREEDY))[0] == expected


def test_closing_early_in_decode_leaves_the_session_ready() -> None:
    session, _ = make()
    expected = finish(make()[0].reply(USER, GREEDY))[0]
    events = session.reply(USER, GREEDY)
    for event in events:
        if isinstance(event, TextDelta):
            break
    assert session.busy
    events.close()  # type: ignore[attr-defined]
    assert not session.busy
    assert finish(session.reply(USER, GREEDY))[0] == expected


def test_closing_early_in_prefill_stops_the_model() -> None:
    session, model = make()
    gate, held = threading.Event(), threading.Event()

    def hold(token: int) -> None:
        if len(model.computed) == CHUNK:
            held.set()
            assert gate.wait(10)

    model.before = hold
    events = session.reply(USER, GREEDY)
    assert next(events) == PrefillProgress(0, session.count_tokens(USER))
    assert next(events) == PrefillProgress(CHUNK, session.count_tokens(USER))
    assert held.wait(10)
    threading.Timer(0.05, gate.set).start()
    events.close()  # type: ignore[attr-defined]
    assert len(model.computed) <= CHUNK + 1
    assert not session.busy
    model.before = lambda token: None
    assert finish(session.reply(USER, GREEDY))[1].stats.reused_tokens == CHUNK


def test_a_reply_that_is_never_read_holds_nothing() -> None:
    session, _ = make("Hello!")
    session.reply(USER, GREEDY)
    assert not session.busy
    assert finish(session.reply(USER, GREEDY))[0] == "Hello!"


def test_one_reply_at_a_time() -> None:
    session, _ = make()
    events = session.reply(USER, GREEDY)
    next(events)
    with pytest.raises(ChatError, match="already"):
        session.reply(USER, GREEDY)
    assert finish(events)[1].reason == "length"  # and the first one is not disturbed


def test_the_next_reply_may_be_asked_for_at_the_finished_event() -> None:
    session, _ = make("One.", "Two.")
    events = session.reply(USER, GREEDY)
    while not isinstance(next(events), Finished):
        pass
    chat = [*USER, Message("assistant", "One."), Message("user", "And?")]
    assert finish(session.reply(chat, GREEDY))[0] == "Two."
