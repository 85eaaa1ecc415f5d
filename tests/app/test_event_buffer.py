"""The buffer between the engine's thread and the window: joins, keeps the order, loses nothing."""

from __future__ import annotations

import threading

from app.event_buffer import Entry, EventBuffer
from engine import Finished, PrefillProgress, ReplyStats, TextDelta


def test_neighbouring_pieces_of_one_job_are_joined() -> None:
    buffer = EventBuffer()
    end = Finished("stop", ReplyStats())
    for done in range(5):
        buffer.put(1, PrefillProgress(done, 4))
    for letter in "abc":
        buffer.put(1, TextDelta(letter))
    buffer.put(2, TextDelta("d"))
    buffer.put(1, TextDelta("e"))
    buffer.put(1, end)
    assert buffer.drain() == [
        Entry(1, PrefillProgress(4, 4)),
        Entry(1, TextDelta("abc")),
        Entry(2, TextDelta("d")),
        Entry(1, TextDelta("e")),
        Entry(1, end),
    ]
    assert buffer.drain() == []


def test_nothing_is_lost_while_both_sides_work() -> None:
    buffer = EventBuffer()
    text = [str(i % 10) for i in range(20_000)]

    def fill() -> None:
        for letter in text:
            buffer.put(1, TextDelta(letter))

    writer = threading.Thread(target=fill)
    writer.start()
    taken: list[str] = []
    while writer.is_alive():
        taken += [entry.event.text for entry in buffer.drain()]
    writer.join()
    taken += [entry.event.text for entry in buffer.drain()]
    assert "".join(taken) == "".join(text)
