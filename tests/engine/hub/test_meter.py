"""What a person sees of a download: rate, time left, and what is wrong."""

from __future__ import annotations

import pickle

from engine.hub.board import Status, Waiting
from engine.hub.meter import Meter
from engine.hub.policy import DownloadPolicy

POLICY = DownloadPolicy()


def status(done: int, **more: object) -> Status:
    fields = {"what": "m.safetensors", "busy": 4, "waiting": (), "message": "", "all_there": False}
    return Status(done=done, **{**fields, **more})  # type: ignore[arg-type]


def test_rate_and_time_left_follow_the_last_seconds() -> None:
    meter = Meter(1000, 0, 0.0, POLICY)
    for second in range(1, 21):
        told = meter.progress(status(10 * second), float(second))
    assert told.rate_bytes_s == 10
    assert told.eta_s == (1000 - 200) / 10
    for second in range(21, 41):
        told = meter.progress(status(200 + (second - 20) * 2), float(second))
    assert told.rate_bytes_s == 2
    assert pickle.loads(pickle.dumps(told)) == told


def test_a_resumed_download_does_not_count_what_was_there() -> None:
    meter = Meter(1000, 900, 0.0, POLICY)
    assert meter.progress(status(910), 1.0).rate_bytes_s == 10


def test_silence_is_called_stalled_and_waiting_says_why() -> None:
    meter = Meter(1000, 0, 0.0, POLICY)
    assert meter.progress(status(100), 1.0).state == "running"
    told = meter.progress(status(100), 1.0 + POLICY.quiet_s)
    assert (told.state, told.rate_bytes_s, told.eta_s) == ("stalled", 0.0, None)
    waiting = tuple(Waiting("no answer from x", seconds) for seconds in (8.2, 30, 30, 30))
    told = meter.progress(status(100, waiting=waiting), 9.0)
    assert (told.state, told.detail) == ("retrying", "no answer from x; trying again in 8 s")
    one = meter.progress(status(200, waiting=waiting[:1]), 10.0)
    assert one.state == "running", "three others still fetch"


def test_when_all_bytes_are_there_it_verifies() -> None:
    told = Meter(10, 0, 0.0, POLICY).progress(status(10, all_there=True, busy=0), 1.0)
    assert (told.state, told.done) == ("verifying", 10)
