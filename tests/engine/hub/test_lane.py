"""Real TLS, proxies and redirects: where the bytes go, and where the token does not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import DownloadError, Stopped
from engine.hub import lane
from engine.hub.access import Access, origin
from engine.hub.answer import NetworkError
from engine.hub.client import HubClient
from engine.hub.download import download
from engine.hub.lane import Lane, Transport
from engine.hub.plan import DownloadPlan
from engine.hub.policy import DownloadPolicy
from engine.stop import StopFlag
from tests.engine.hub.conftest import blob, whole
from tests.helpers.fake_hub import FakeHub, Fault
from tests.helpers.tls import FakeProxy, client_context, server_context

FILES = {"config.json": b"{}", "model.safetensors": blob(500_000, 4)}
SECRET = "hf_secretsecret"


@pytest.fixture
def our_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's list of certificates does not hold ours."""
    monkeypatch.setattr(lane.truststore, "SSLContext", client_context)


@pytest.fixture
def secure(our_tls: None) -> Iterator[FakeHub]:
    with FakeHub({"org/model": FILES}, tls=server_context()) as hub:
        yield hub


def plan_of(hub: FakeHub, access: Access) -> DownloadPlan:
    repository = HubClient(hub.url, access).repository("org/model")
    return DownloadPlan(repository, repository.files)


def test_over_tls_with_a_token(secure: FakeHub, quick: DownloadPolicy, odd_folder: Path) -> None:
    access = Access(SECRET, trusted=frozenset({secure.url}))
    secure.faults = [Fault("drop", at=30_000, times=3)]
    download(plan_of(secure, access), odd_folder, policy=quick, access=access)
    assert whole(odd_folder, FILES)
    assert {request.authorization for request in secure.requests} == {f"Bearer {SECRET}"}


def test_stop_wakes_a_connection_that_stalls_inside_tls(
    secure: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    secure.faults = [Fault("stall", times=-1, at=10)]
    stop, plan = StopFlag(), plan_of(secure, Access())
    timer = threading.Timer(0.4, stop.set)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(Stopped):
        download(plan, odd_folder, stop=stop, policy=replace(quick, stall_s=60))
    assert time.monotonic() - begin < 10
    assert not [t for t in threading.enumerate() if t.name.startswith("edge0-")]


def test_a_certificate_that_is_not_trusted_is_told(quick: DownloadPolicy) -> None:
    with FakeHub({"org/model": FILES}, tls=server_context()) as hub:
        with pytest.raises(DownloadError, match=r"(?i)certificate"):
            HubClient(hub.url).repository("org/model")
        with pytest.raises(NetworkError, match=r"certificate of 127\.0\.0\.1 is not trusted"):
            Lane(Transport(Access())).get(hub.url)
        assert not hub.requests


def test_a_redirect_to_plain_http_is_refused(our_tls: None) -> None:
    with FakeHub({"org/model": FILES}) as plain:
        secure = FakeHub({"org/model": FILES}, storage=plain, tls=server_context())
        with secure as hub, closing(Lane(Transport(Access()))) as line:
            plan = plan_of(hub, Access())
            with pytest.raises(NetworkError, match="not safe"):
                line.get(plan.url(plan.files[0]))
        assert not plain.requests


def test_through_a_tunnel_the_proxy_sees_neither_token_nor_names(
    secure: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    with FakeProxy() as proxy:
        access = Access(SECRET, proxy.url, frozenset({secure.url}))
        download(plan_of(secure, access), odd_folder, policy=quick, access=access)
        host = secure.url.removeprefix("https://")
        assert {line.split()[1] for line in proxy.asked} == {host}
        assert whole(odd_folder, FILES)
        assert SECRET.encode() not in proxy.seen and b"org/model" not in proxy.seen
        wrong = Access(proxy=proxy.url.replace("pa%3Ass", "x"))
        with pytest.raises(DownloadError):
            HubClient(secure.url, wrong).repository("org/model")


def test_the_environments_proxy_carries_a_whole_download(
    secure: FakeHub, quick: DownloadPolicy, odd_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, "elsewhere.example")
        download(plan_of(secure, Access()), odd_folder, policy=quick)
        assert whole(odd_folder, FILES)
        assert len(proxy.asked) >= 2, "the list or the files went past the proxy"


def test_plain_http_through_a_proxy(quick: DownloadPolicy, odd_folder: Path) -> None:
    with FakeHub({"org/model": FILES}) as proxy:
        access = Access(proxy=proxy.url)
        repository = HubClient("http://mirror.example", access).repository("org/model")
        plan = DownloadPlan(repository, repository.files)
        download(plan, odd_folder, policy=quick, access=access)
        assert whole(odd_folder, FILES)
        assert all(r.headers["Host"] == "mirror.example" for r in proxy.requests)


def test_the_systems_proxy_is_used_but_not_for_excluded_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:8080")
    monkeypatch.setenv("http_proxy", "proxy.example:8080")
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:7890")
    transport = Transport(Access())
    assert transport.proxy("https://huggingface.co/x") == "http://proxy.example:8080"
    assert transport.proxy("http://mirror.example/x") == "http://proxy.example:8080"
    assert transport.proxy("https://127.0.0.1:1/x") == ""
    monkeypatch.delenv("https_proxy")
    assert Transport(Access()).proxy("https://huggingface.co/x") == ""


def test_origins() -> None:
    assert origin("https://huggingface.co:443/a") == origin("https://HUGGINGFACE.co/b")
    for other in (
        "http://huggingface.co",
        "https://huggingface.co:444",
        "https://huggingface.co.evil.example",
        "https://huggingface.co@evil.example",
        "https://evil.example/https://huggingface.co",
        "https://[::1]",
        "https://huggingface.co:x",
    ):
        assert not Access(SECRET).trusts(other), other
        assert "Authorization" not in Access(SECRET).headers(other)
    assert Access(SECRET).headers("https://huggingface.co/x")["Authorization"]
