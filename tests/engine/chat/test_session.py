"""Whole replies with a model without weights: what is reused, said and counted."""

from __future__ import annotations

import pytest

from engine.chat.prefix_cache import PrefixCache
from engine.chat.session import Session
from engine.chat.template import ChatTemplate, Message
from engine.errors import ChatError, ContextError
from engine.events import Finished, PrefillProgress, TextDelta
from tests.helpers.fake_model import CHUNK, FakeModel
from tests.helpers.scripted_session import (
    GREEDY,
    TOKENIZER,
    USER,
    Script,
    finish,
    make,
    stats_of,
)


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
