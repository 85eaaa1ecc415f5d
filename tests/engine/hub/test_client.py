"""Listing a model: what is taken from a hub, what is refused, and what each failure says."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from engine.cli import main
from engine.errors import ConfigError, DownloadError, UnsupportedModelError
from engine.hub.access import Access, checked_endpoint
from engine.hub.choose import safetensors_plan
from engine.hub.client import HubClient
from engine.hub.plan import Repository
from engine.hub.refusals import wait_s
from tests.helpers.fake_hub import COMMIT, FakeHub, Fault

SECRET = "hf_secretsecret"
FILES = {
    "model.safetensors": b"w" * 1000,
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "tokenizer.model": b"sp",
    "chat_template.jinja": b"hi",
    "merges.txt": b"a b",
    "LICENSE": b"Apache",
    "pytorch_model.bin": b"pickle",
    "modeling.py": b"import os",
    "tokenizer.py": b"import os",
    "tokenizer_setup.pt": b"pickle",
    "license.exe": b"MZ",
    ".gitattributes": b"*",
    "sub/extra.json": b"{}",
    "sub/consolidated.safetensors": b"w",
    "con.json": b"{}",
    "adapter_model.safetensors": b"w",
}


def ask(hub: FakeHub, model: str = "org/model", revision: str = "main") -> Repository:
    return HubClient(hub.url).repository(model, revision)


def test_only_a_models_own_files_are_taken_at_one_commit() -> None:
    with FakeHub({"org/model": FILES}, page=3) as hub:
        repository = ask(hub)
        trees = [r.path for r in hub.requests if "/tree/" in r.path]
    plan = safetensors_plan(repository, None)
    assert [file.name for file in plan.files] == [
        "LICENSE",
        "chat_template.jinja",
        "config.json",
        "merges.txt",
        "tokenizer.json",
        "tokenizer.model",
        "model.safetensors",
    ]
    assert repository.commit == COMMIT
    assert repository.licence == "apache-2.0"
    assert len(trees) > 3 and all(COMMIT in path for path in trees)
    assert set(repository.pickles) == {"pytorch_model.bin", "tokenizer_setup.pt"}


@pytest.mark.parametrize(
    "path",
    [
        "../model.safetensors",
        "/etc/x.json",
        "C:/x.json",
        "a\\..\\x.json",
        "a/../../x.gguf",
        "x\0.json",
        "./x.json",
        "a//x.json",
        "x\n.json",
    ],
)
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    entry = {"type": "file", "path": path, "size": 1, "oid": "0" * 40}
    with FakeHub({"org/model": FILES}) as hub:
        hub.extra_entries = [entry]
        with pytest.raises(UnsupportedModelError, match="not safe to store"):
            ask(hub)


@pytest.mark.parametrize(
    "entry",
    [
        {"size": -1, "oid": "0" * 40},
        {"size": 1 << 60, "oid": "0" * 40},
        {"size": "9", "oid": "0" * 40},
        {"size": 9, "oid": "zz"},
        {"size": 9, "oid": None},
        {"size": 9, "oid": "0" * 40, "lfs": {"oid": "short", "size": 9, "pointerSize": 1}},
        {"size": 9, "oid": "0" * 40, "lfs": {}},
    ],
)
def test_a_file_without_a_sound_size_and_hash_is_not_believed(entry: dict[str, object]) -> None:
    with FakeHub({"org/model": FILES}) as hub:
        hub.extra_entries = [{"type": "file", "path": "x.json", **entry}]
        with pytest.raises(DownloadError, match="cannot read"):
            ask(hub)


@pytest.mark.parametrize(
    ("fault", "says", "next_step"),
    [
        (Fault("garbage", "/revision/"), "cannot read", "asks for a login first"),
        (Fault("garbage", "/tree/"), "cannot read", "asks for a login first"),
        (Fault("status", "/revision/", status=429, headers={"Retry-After": "7"}), "429", "in 7 s"),
        (Fault("status", "/tree/", status=429, headers={"RateLimit": '"api";r=0;t=9'}), "", "9 s"),
        (Fault("status", "/revision/", status=500), "problem of its own (500)", "later"),
        (Fault("status", "/tree/", status=503), "problem of its own (503)", "later"),
        (Fault("status", "/revision/", status=404), "no model org/model", "Check the name"),
        (Fault("status", "/revision/", status=418), "refused with status 418", "Check"),
    ],
)
def test_a_failure_says_what_to_do(fault: Fault, says: str, next_step: str) -> None:
    with FakeHub({"org/model": FILES}) as hub:
        hub.faults = [fault]
        with pytest.raises(DownloadError) as caught:
            ask(hub)
    assert says in caught.value.message
    assert next_step in caught.value.next_step


def test_an_unknown_model_and_revision_are_told_apart() -> None:
    with FakeHub({"org/model": FILES}) as hub:
        with pytest.raises(DownloadError, match="no such revision"):
            ask(hub, revision="v9")
        trusting = Access(trusted=frozenset({hub.url}))
        with pytest.raises(DownloadError, match="no public model org/other") as caught:
            HubClient(hub.url, trusting).repository("org/other")
        assert "If the model is private, log in" in caught.value.next_step
        member = Access(SECRET, trusted=frozenset({hub.url}))
        with pytest.raises(DownloadError, match="no model org/other for this login"):
            HubClient(hub.url, member).repository("org/other")


def test_no_connection_and_no_answer() -> None:
    with FakeHub({"org/model": FILES}) as hub:
        url = hub.url
        hub.faults = [Fault("hang", "/api/")]
        with pytest.raises(DownloadError, match="does not answer"):
            HubClient(url, timeout_s=0.1).repository("org/model")
    with pytest.raises(DownloadError, match="cannot be reached"):
        HubClient(url).repository("org/model")


def test_offline_is_told_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def unresolved(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert main(["get", "org/model", "--models-dir", str(tmp_path)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == ("https://huggingface.co cannot be reached: no connection, or no such address.")
    assert second.startswith("Check that this computer is online, then try again.")


def test_a_saved_token_of_other_programs_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub import constants

    saved = tmp_path / "token"
    saved.write_text("hf_saved", encoding="utf-8")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(saved))
    monkeypatch.setenv("HF_TOKEN", "hf_environment")
    with FakeHub({"org/model": FILES}) as hub:
        ask(hub)
        HubClient(hub.url, Access(SECRET)).repository("org/model")
        for request in hub.requests:
            assert request.authorization is None
            assert "hf_" not in str(request.headers)
            agent = {k.lower(): v for k, v in request.headers.items()}["user-agent"]
            assert agent == "edge0", "versions of Python and torch are nobody's business"


def test_the_token_goes_to_the_trusted_hub_only_not_to_where_its_next_page_leads() -> None:
    with FakeHub({"org/model": FILES}) as thief, FakeHub({"org/model": FILES}, page=3) as hub:
        member = Access(SECRET, trusted=frozenset({hub.url}))
        HubClient(hub.url, member).repository("org/model")
        assert {request.authorization for request in hub.requests} == {f"Bearer {SECRET}"}
        hub.next_host = thief.url
        HubClient(hub.url, member).repository("org/model")
        assert thief.requests
        assert {request.authorization for request in thief.requests} == {None}


def test_the_token_does_not_follow_a_listing_that_is_redirected() -> None:
    with FakeHub({"org/model": FILES}) as thief, FakeHub({"org/model": FILES}) as hub:
        member = Access(SECRET, trusted=frozenset({hub.url}))
        place = f"{thief.url}/api/models/org/model/revision/main"
        hub.faults = [Fault("status", "/revision/", status=302, headers={"Location": place})]
        HubClient(hub.url, member).repository("org/model")
        assert thief.requests
        assert not [request for request in thief.requests if SECRET in str(request)]


@pytest.mark.parametrize(
    "name",
    ["model", "a/b/c", "../x", "org/..", "org/a b", "org/模型", "", "org/-x", "o/" + "x" * 99],
)
def test_what_is_no_name_is_not_asked_for(name: str) -> None:
    with FakeHub({}) as hub:
        with pytest.raises(ConfigError):
            ask(hub, name)
        with pytest.raises(ConfigError):
            ask(hub, "org/model", revision="../main")
        assert not hub.requests


@pytest.mark.parametrize(
    "url",
    ["", "hf-mirror.com", "ftp://x", "https://", "http://a:b@c", "https://x?y", "https://x:99999"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        checked_endpoint(url)
    assert checked_endpoint(" https://hf-mirror.com/ ") == "https://hf-mirror.com"


def test_a_token_that_would_break_a_header_is_refused_and_never_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        Access("hf_a\r\nX-Evil: 1")
    assert "hf_a" not in str(caught.value)
    assert SECRET not in repr(Access(SECRET, "http://user:pass@proxy"))
    assert "pass" not in repr(Access(SECRET, "http://user:pass@proxy"))


def test_how_long_to_wait() -> None:
    from datetime import datetime, timedelta, timezone

    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    date = (now + timedelta(seconds=42)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert wait_s({"Retry-After": date}, now) == 42
    assert wait_s({"Retry-After": "soon"}) is None
    assert wait_s({"Retry-After": "9" * 30}) == 600
    assert wait_s({}) is None
