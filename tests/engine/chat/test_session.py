"""Whole replies with a model without weights: what is reused, stops, fails and is counted."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from engine.chat.prefix_cache import PrefixCache
from engine.chat.session import Session
from engine.chat.template import ChatTemplate, Message
from engine.chat.tokenizer import Tokenizer
from engine.config import GenerateOptions
from engine.errors import ChatError, ContextError, StorageError
from engine.events import Finished, PrefillProgress, ReplyEvent, ReplyStats, TextDelta
from tests.helpers.fake_model import CHUNK, FakeModel
from tests.helpers.tiny_tokenizers import CONFIG, byte_level

TOKENIZER = Tokenizer(byte_level(), CONFIG)
END = 2
GREEDY = GenerateOptions(temperature=0.0, max_tokens=40)
USER = [Message("user", "What is the quick brown fox?")]


def plain(text: str) -> list[int]:
    """Ids of the text as a model writes it: a control token that it quotes is plain text."""
    return TOKENIZER.encode(text.replace("<|", "\U000f0000|"), {"\U000f0000": "<"})


class Script:
    """A model's part in a conversation: after each prompt it writes the next of these texts."""

    def __init__(self, *replies: str) -> None:
        self.replies = [[*plain(reply), END] for reply in replies]

    def __call__(self, ids: list[int]) -> int:
        starts = [place for place, token in enumerate(ids) if token == 1]
        reply = self.replies[len(starts) // 2 - 1]
        written = len(ids) - starts[-1] - len(TOKENIZER.encode("<|im_start|>assistant\n"))
        return reply[written]


def make(*replies: str, context_tokens: int = 4096) -> tuple[Session, FakeModel]:
    script = Script(*replies) if replies else None
    model = FakeModel(TOKENIZER.vocab_size, script, context_tokens)
    return Session(model, TOKENIZER, ChatTemplate()), model


def finish(events: Iterator[ReplyEvent]) -> tuple[str, Finished]:
    got = list(events)
    end = got[-1]
    assert isinstance(end, Finished)
    assert not any(isinstance(event, Finished) for event in got[:-1])
    return text(got), end


def text(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def stats_of(events: Iterator[ReplyEvent]) -> ReplyStats:
    return finish(events)[1].stats


@pytest.mark.parametrize(
    "reply", ["Hello!", "", "日本 👩\u200d👩\u200d👧 <|im_end|> is a token", " \n x "]
)
def test_the_reply_arrives_whole(reply: str) -> None:
    session, _ = make(reply)
    written, end = finish(session.reply(USER, GREEDY))
    assert (written, end.reason) == (reply, "stop")


def test_events_come_in_order_and_progress_reaches_the_whole_prompt() -> None:
    session, _ = make("one two three")
    events = list(session.reply(USER, GREEDY))
    kinds = [type(event) for event in events]
    assert kinds == sorted(kinds, key=[PrefillProgress, TextDelta, Finished].index)
    total = session.count_tokens(USER)
    progress = [event for event in events if isinstance(event, PrefillProgress)]
    assert [event.done for event in progress] == [*range(0, total, CHUNK), total]
    assert {event.total for event in progress} == {total}


def test_every_turn_prefills_only_what_is_new() -> None:
    """What was prompted and written before is reused to the token, whoever rendered it."""
    session, model = make("I am fine.", "你好 🤖!", "Good bye.")
    chat: list[Message] = []
    for turn, question in enumerate(["How are you?", "Say hello.", "Leave."]):
        chat.append(Message("user", question))
        known, before = model.position, len(model.computed)
        reply, end = finish(session.reply(chat, GREEDY))
        chat.append(Message("assistant", reply))
        prompt = session.count_tokens(chat[:-1])
        assert end.stats.prompt_tokens == prompt
        assert end.stats.reused_tokens == known  # all of it
        written = end.stats.generated_tokens - 1  # the last one is never fed back
        assert len(model.computed) - before == prompt - known + written
        assert (turn == 0) == (known == 0)


def test_an_edited_message_reuses_what_stands_before_it() -> None:
    session, _ = make()
    chat = [Message("system", "Be brief, be kind."), Message("user", "The quick brown fox")]
    finish(session.reply(chat, GREEDY))
    edited = [chat[0], Message("user", "A lazy dog")]
    ids = TOKENIZER.encode(ChatTemplate().render(chat[:1], add_generation_prompt=False))
    end = stats_of(session.reply(edited, GREEDY))
    assert len(ids) <= end.reused_tokens < end.prompt_tokens


def test_the_same_question_again_computes_one_prompt_token() -> None:
    session, _ = make()
    first = finish(session.reply(USER, GREEDY))
    again = finish(session.reply(USER, GREEDY))
    assert again[0] == first[0]
    assert again[1].stats.reused_tokens == again[1].stats.prompt_tokens - 1


def test_reuse_never_changes_a_reply() -> None:
    """This model's words depend on all of its cache: a wrong cache would say something else."""
    session, _ = make()
    chats = [
        USER,
        [*USER, Message("assistant", "A fox."), Message("user", "Why?")],
        [Message("system", "Be brief."), *USER],
        [*USER, Message("assistant", "A dog."), Message("user", "Why?")],
        USER,
    ]
    for chat in chats:
        fresh, _ = make()
        assert finish(session.reply(chat, GREEDY))[0] == finish(fresh.reply(chat, GREEDY))[0]


def test_sessions_that_share_a_model_share_its_cache() -> None:
    model = FakeModel(TOKENIZER.vocab_size)
    cache = PrefixCache(model)
    one, two = (Session(cache, TOKENIZER, ChatTemplate()) for _ in range(2))
    finish(one.reply(USER, GREEDY))
    assert stats_of(two.reply(USER, GREEDY)).reused_tokens > 0
    other = [Message("user", "Something else")]
    fresh, _ = make()
    expected = finish(fresh.reply(USER, GREEDY))[0]
    finish(two.reply(other, GREEDY))
    assert finish(one.reply(USER, GREEDY))[0] == expected


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


def test_a_prompt_that_does_not_fit_is_refused_with_numbers() -> None:
    session, model = make(context_tokens=64)
    long = [Message("user", "The quick brown fox " * 30)]
    needed = session.count_tokens(long)
    with pytest.raises(ContextError) as caught:
        session.reply(long, GREEDY)
    assert str(needed) in caught.value.message and "63" in caught.value.message
    assert caught.value.next_step
    assert not model.computed  # nothing was cut, nothing was run
    assert finish(session.reply(USER, GREEDY))[1].reason in ("length", "context")


def test_a_reply_ends_when_the_context_is_full() -> None:
    session, model = make()
    model.context_tokens = session.count_tokens(USER) + 5
    _, end = finish(session.reply(USER, GREEDY))
    assert end.reason == "context"
    assert end.stats.generated_tokens == 6  # the last one needs no room
    exact, model = make("x")
    model.context_tokens = exact.count_tokens(USER) + 1
    assert finish(exact.reply(USER, GREEDY))[0] == "x"


def test_a_tokenizer_of_another_model_is_refused() -> None:
    model = FakeModel(100)
    session = Session(model, TOKENIZER, ChatTemplate())
    with pytest.raises(ChatError, match="does not belong"):
        session.reply(USER, GREEDY)


def test_the_numbers_are_those_of_the_counters() -> None:
    session, model = make("one two three")
    finish(session.reply(USER, GREEDY))
    before = model.counters()
    chat = [*USER, Message("assistant", "one two three"), Message("user", "More!")]
    model.next_id = Script("one two three", "and four")
    stats = stats_of(session.reply(chat, GREEDY))
    added = model.counters().since(before)
    assert stats.expert_hits == added.expert_hits > 0
    assert stats.expert_misses == added.expert_misses > 0
    assert stats.expert_bytes_read == added.expert_bytes_read > 0
    assert stats.hit_rate == pytest.approx(0.75)
    assert stats.generated_tokens == len(TOKENIZER.encode("and four")) + 1  # with its end token
    assert stats.kv_bytes == model.kv_bytes
    assert 0 < stats.prefill_s <= stats.first_token_s
    assert stats.decode_tok_s > 0 and stats.prefill_tok_s > 0
    split = stats.decode_split
    steps = stats.generated_tokens - 1
    assert split.attention_s == pytest.approx(1e-7 * steps)  # decode only, without the prefill
    parts = split.attention_s + split.expert_compute_s + split.expert_wait_s + split.other_s
    assert parts == pytest.approx(stats.decode_s)


def test_a_slow_reader_does_not_slow_the_measured_speed() -> None:
    session, _ = make()
    now = [0.0]
    ticks = iter(range(10**6))

    def clock() -> float:
        return now[0] + next(ticks) * 1e-6

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.perf_counter", clock)
        events = []
        for event in session.reply(USER, GREEDY):
            now[0] += 100  # a reader that takes its time
            events.append(event)
    assert stats_of(iter(events)).decode_s < 1


def test_whoever_opened_the_session_hears_of_the_end() -> None:
    heard: list[Finished] = []
    model = FakeModel(TOKENIZER.vocab_size)
    session = Session(model, TOKENIZER, ChatTemplate(), heard.append)
    _, end = finish(session.reply(USER, GREEDY))
    assert heard == [end]


def test_template_variables_reach_the_prompt() -> None:
    template = ChatTemplate("{{ 'think' if enable_thinking else 'answer' }}")
    model = FakeModel(TOKENIZER.vocab_size)
    session = Session(model, TOKENIZER, template, variables={"enable_thinking": True})
    assert session.count_tokens(USER) == len(TOKENIZER.encode("think"))
