"""Every fault of a line or a server is survived, or ends with what to do; bytes stay right."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import DownloadError, Stopped
from engine.hub.access import Access
from engine.hub.download import download
from engine.hub.marker import is_complete
from engine.hub.policy import DownloadPolicy
from engine.hub.progress import DownloadProgress
from engine.stop import StopFlag
from tests.engine.hub.conftest import FILES, TOTAL, blob, plan_of, whole
from tests.helpers.fake_hub import Action, FakeHub, Fault


def test_files_arrive_whole_in_an_odd_folder(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    plan, seen = plan_of(hub), list[DownloadProgress]()
    assert download(plan, odd_folder, seen.append, policy=quick) == odd_folder
    assert whole(odd_folder, FILES)
    assert is_complete(odd_folder, plan)
    assert hub.body_bytes() == TOTAL
    assert (seen[-1].done, seen[-1].total) == (TOTAL, TOTAL)
    assert [p.done for p in seen] == sorted(p.done for p in seen)


def test_a_second_call_asks_for_nothing(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    plan = plan_of(hub)
    download(plan, odd_folder, policy=quick)
    hub.requests.clear()
    download(plan, odd_folder, policy=quick)
    assert not hub.requests


@pytest.mark.parametrize(
    ("action", "options"),
    [
        ("drop", {"times": 12, "at": 30_000}),
        ("drop", {"times": 3, "at": 0}),
        ("short", {"times": 6, "at": 50_000}),
        ("stall", {"times": 2, "at": 70_000}),
        ("slow", {"times": 1, "at": 1000}),
        ("status", {"times": 4, "status": 503}),
        ("status", {"times": 2, "status": 429, "headers": {"Retry-After": "0"}}),
        ("whole", {"times": 1}),
        ("whole", {"times": -1}),
        ("etag", {"times": 3}),
        ("etag", {"times": -1}),
    ],
)
def test_the_line_and_the_server_misbehave(
    action: Action, options: dict, hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    hub.faults = [Fault(action, **options)]
    download(plan_of(hub), odd_folder, policy=quick)
    assert whole(odd_folder, FILES)
    assert hub.faults[0].times <= 0, "the fault was not met"


def test_a_server_that_hangs_up_costs_no_byte_twice(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    """Whatever came before the cut is kept: what is served again is what got lost in the cut."""
    hub.faults = [Fault("drop", times=15, at=65536)]
    download(plan_of(hub), odd_folder, policy=quick)
    assert whole(odd_folder, FILES)
    ranges = [(request.path, request.range) for request in hub.requests if request.range]
    assert len(ranges) == len(set(ranges)), "the same range was asked for twice"


def test_a_drop_at_every_mib_costs_nothing(odd_folder: Path, quick: DownloadPolicy) -> None:
    """As a line does that is cut again and again: each try goes on where the last one ended."""
    files = {"model.safetensors": blob(5 << 20, 5)}
    with FakeHub({"org/model": files}) as hub:
        hub.faults = [Fault("drop", times=4, at=1 << 20)]
        patient = replace(quick, range_bytes=8 << 20)
        download(plan_of(hub), odd_folder, connections=1, policy=patient)
        asked = [request.range for request in hub.requests if "/resolve/" in request.path]
        assert whole(odd_folder, files)
        assert asked == [None, *(f"bytes={n << 20}-{(5 << 20) - 1}" for n in range(1, 5))]


def test_wrong_bytes_of_the_right_size_are_fetched_once_more(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    hub.faults = [Fault("corrupt", "model-2", at=123)]
    seen: list[DownloadProgress] = []
    download(plan_of(hub), odd_folder, seen.append, policy=quick)
    assert whole(odd_folder, FILES)
    assert any("model-2.safetensors arrived damaged" in progress.detail for progress in seen)
    assert hub.body_bytes() == TOTAL + len(FILES["model-2.safetensors"])


@pytest.mark.parametrize("match", ["model-2", "config.json"])
def test_bytes_that_stay_wrong_never_get_a_name(
    match: str, hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    hub.faults = [Fault("corrupt", match, times=-1)]
    plan = plan_of(hub)
    with pytest.raises(DownloadError, match=rf"{match}.* other content .* twice"):
        download(plan, odd_folder, policy=quick)
    assert not list(odd_folder.glob(f"{match}*s*n"))
    assert not is_complete(odd_folder, plan)
    hub.faults = []
    download(plan, odd_folder, policy=quick)
    assert whole(odd_folder, FILES)


@pytest.mark.parametrize(
    ("status", "headers", "says", "next_step"),
    [
        (404, {"X-Error-Code": "EntryNotFound"}, "does not exist", "start again"),
        (401, {}, "does not give org/model out", "never sent to a mirror"),
        (403, {}, "does not give org/model out", "never sent to a mirror"),
        (400, {}, "refused with status 400", "Check"),
    ],
)
def test_a_final_refusal_ends_at_once(
    status: int,
    headers: dict[str, str],
    says: str,
    next_step: str,
    hub: FakeHub,
    quick: DownloadPolicy,
    odd_folder: Path,
) -> None:
    hub.faults = [Fault("status", "model-1", times=-1, status=status, headers=headers)]
    with pytest.raises(DownloadError) as caught:
        download(plan_of(hub), odd_folder, policy=quick)
    assert says in caught.value.message
    assert next_step in caught.value.next_step


def test_a_dead_server_is_given_up_and_what_came_is_kept(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    hub.faults = [Fault("status", "model-2", times=-1, status=500)]
    plan, seen = plan_of(hub), list[DownloadProgress]()
    with pytest.raises(DownloadError, match="gave up"):
        download(plan, odd_folder, seen.append, policy=quick)
    waits = [progress.detail for progress in seen if progress.state == "retrying"]
    assert any("trying again in" in detail for detail in waits)
    hub.faults, before = [], hub.body_bytes()
    download(plan, odd_folder, policy=quick)
    assert hub.body_bytes() - before <= len(FILES["model-2.safetensors"])


def test_no_network_says_so(hub: FakeHub, quick: DownloadPolicy, odd_folder: Path) -> None:
    plan = plan_of(hub)
    hub.__exit__()
    hub.__exit__ = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(DownloadError, match=r"gave up: 127\.0\.0\.1 "):
        download(plan, odd_folder, policy=replace(quick, attempts=2))


def test_stop_keeps_everything_and_is_quick(quick: DownloadPolicy, odd_folder: Path) -> None:
    with FakeHub({"org/model": FILES}, bytes_per_s=400_000) as hub:
        plan, stop, asked = plan_of(hub), StopFlag(), list[float]()

        def halfway(progress: DownloadProgress) -> None:
            if progress.done > TOTAL // 3 and not asked:
                asked.append(time.monotonic())
                stop.set()

        with pytest.raises(Stopped):
            download(plan, odd_folder, halfway, stop, policy=quick)
        assert time.monotonic() - asked[0] < 2.0  # promised: 0.5 s; this machine is busy
        hub.bytes_per_s, before = 0, len(hub.requests)
        stop.clear()
        seen: list[DownloadProgress] = []
        download(plan, odd_folder, seen.append, stop, policy=quick)
        assert whole(odd_folder, FILES)
        assert seen[0].done > TOTAL // 3
        again = sum(r.sent for r in hub.requests[before:] if "/resolve/" in r.path)
        assert again < TOTAL - TOTAL // 3


def test_stop_wakes_a_stalled_connection(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    hub.faults = [Fault("stall", times=-1, at=10)]
    stop, states = StopFlag(), set[str]()

    def watch(progress: DownloadProgress) -> None:
        states.add(progress.state)
        if progress.state == "stalled":
            stop.set()

    with pytest.raises(Stopped):
        download(plan_of(hub), odd_folder, watch, stop, policy=replace(quick, stall_s=30))
    assert "stalled" in states
    hub.released.set()
    assert not [t for t in threading.enumerate() if t.name.startswith("edge0-")]


SECRET = "hf_secretsecret"


def test_the_token_never_reaches_a_mirror_or_the_storage_host(
    quick: DownloadPolicy, odd_folder: Path
) -> None:
    with FakeHub({"org/model": FILES}) as storage, FakeHub({"org/model": FILES}, storage) as hub:
        plan = plan_of(hub)
        download(plan, odd_folder, policy=quick, access=Access(SECRET))
        official = Access(SECRET, trusted=frozenset({hub.url}))
        download(plan, odd_folder / "again", policy=quick, access=official)
        mirror = [r for r in hub.requests if r.authorization is None]
        trusted = [r for r in hub.requests if r.authorization == f"Bearer {SECRET}"]
        assert mirror and trusted and len(mirror) + len(trusted) == len(hub.requests)
        assert len(storage.requests) > 10
        assert not [r for r in storage.requests if SECRET in str(r)]
        assert whole(odd_folder / "again", FILES)


def test_redirects_are_followed_once_a_file_and_renewed_when_they_expire(
    quick: DownloadPolicy, odd_folder: Path
) -> None:
    with FakeHub({"org/model": FILES}) as storage, FakeHub({"org/model": FILES}, storage) as hub:
        plan = plan_of(hub)

        def expire(progress: DownloadProgress) -> None:
            if progress.done > TOTAL // 2:
                storage.signature = "second"

        download(plan, odd_folder, expire, policy=quick)
        assert whole(odd_folder, FILES)
        asked = [r for r in hub.requests if "model-1" in r.path]
        assert len(asked) < 12 < len([r for r in storage.requests if "model-1" in r.path])


def test_a_gated_model_says_what_to_do(quick: DownloadPolicy, odd_folder: Path) -> None:
    with FakeHub({"org/model": FILES}, needs_token=SECRET) as hub:
        plan, here = plan_of(hub), frozenset({hub.url})
        with pytest.raises(DownloadError, match="log in") as caught:
            download(plan, odd_folder, policy=quick, access=Access(trusted=here))
        assert "https://huggingface.co/org/model" in caught.value.next_step
        with pytest.raises(DownloadError, match="may not download") as caught:
            download(plan, odd_folder, policy=quick, access=Access("hf_other", trusted=here))
        assert "accept the licence" in caught.value.next_step
        assert "hf_other" not in str(caught.value)
        download(plan, odd_folder, policy=quick, access=Access(SECRET, trusted=here))
        assert whole(odd_folder, FILES)
