"""Gets one file of the Python package index: with pip where there is one, else by the simple API.

pip honours the user's index, mirror and proxy settings; without pip (a frozen app) the index URL is
taken from pip's settings files. The file is checked against its hash before it gets its name.
Runs on the caller's thread; nothing is held in memory. Without pip a cut-off download goes on.
"""

from __future__ import annotations

import configparser
import hashlib
import html.parser
import importlib.util
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import platformdirs
import truststore

from engine.errors import DownloadError, StorageError
from engine.events import Progress
from engine.machine.disk import folder_bytes
from engine.machine.network import network_fault
from engine.stop import StopFlag
from engine.text import Text

DEFAULT_INDEX = "https://pypi.org/simple"
CHUNK = 1 << 20
MAX_PAGE_BYTES = 16 << 20
POLL_S = 0.2
TIMEOUT_S = 60
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
_RETRY = Text("Check the network, or the index or mirror in pip's settings, and try again.")

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class IndexFile:
    """A file of the index, pinned: its bytes are known before it is fetched."""

    project: str
    version: str
    filename: str
    nbytes: int
    sha256: str


def file_sha256(path: Path) -> str:
    """Hash of a file, read in pieces."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def fetch(wanted: IndexFile, folder: Path, progress: OnProgress, stop: StopFlag) -> Path:
    """The file in `folder`, fetched unless it is there whole.

    Raises DownloadError (offline, or other bytes than pinned), StorageError, Stopped.
    """
    target = folder / wanted.filename
    if target.is_file() and file_sha256(target) == wanted.sha256:
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fetched = (_by_pip if _has_pip() else _by_http)(wanted, folder, progress, stop)
        _check(fetched, wanted)
        os.replace(fetched, target)
        _clear(folder)
    except OSError as error:
        raise StorageError(
            Text(
                "Storing {0} in {1} failed: {2}.", wanted.filename, folder, error.strerror or error
            ),
            Text("Free some space or choose another folder for models."),
        ) from error
    return target


def _check(fetched: Path, wanted: IndexFile) -> None:
    """Wrong bytes are thrown away at once: the next try must not build on them."""
    if fetched.stat().st_size == wanted.nbytes and file_sha256(fetched) == wanted.sha256:
        return
    fetched.unlink()
    raise DownloadError(
        Text("The download of {0} has the wrong content; it was thrown away.", wanted.filename),
        Text("Try again; if it stays so, the index or mirror in pip's settings has another file."),
    )


def _clear(folder: Path) -> None:
    """What earlier pip runs that were killed left behind."""
    for left in folder.glob("pip-*"):
        shutil.rmtree(left, ignore_errors=True)


def _has_pip() -> bool:
    return not getattr(sys, "frozen", False) and importlib.util.find_spec("pip") is not None


def _by_pip(wanted: IndexFile, folder: Path, progress: OnProgress, stop: StopFlag) -> Path:
    """pip download into a folder of this run alone, so that no other pip can write into it."""
    _clear(folder)
    work = Path(tempfile.mkdtemp(prefix="pip-", dir=folder))
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check"]
    command += ["--no-input", "--progress-bar=off", "--only-binary=:all:", "--dest", str(work)]
    command += [f"{wanted.project}=={wanted.version}"]
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work))
    with open(work / "pip.log", "wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, **temporary}, cwd=work
        )
        try:
            _wait(process, wanted, work, progress, stop)
        finally:
            process.kill()
            process.wait()
    fetched = work / wanted.filename
    if process.returncode or not fetched.is_file():
        raise DownloadError(
            Text("Downloading {0} failed. {1}", wanted.project, _last_words(log.name)), _RETRY
        )
    return fetched


def _wait(
    process: subprocess.Popen[bytes],
    wanted: IndexFile,
    work: Path,
    progress: OnProgress,
    stop: StopFlag,
) -> None:
    """Until pip ends: what lies in its folder so far is how far it is."""
    while True:
        stop.check()
        try:
            process.wait(POLL_S)
            return
        except subprocess.TimeoutExpired:
            _report(progress, min(folder_bytes(work, "**/*"), wanted.nbytes), wanted)


def _report(progress: OnProgress, done: int, wanted: IndexFile) -> None:
    progress(Progress(done, wanted.nbytes, Text("downloading {0}", wanted.filename)))


def _last_words(log: str) -> str:
    """The line of pip's output that says most: its last error."""
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return f"pip: {(errors or lines or ['no output'])[-1]}"


def index_url() -> str:
    """The index that pip's settings name, or the public one."""
    candidates = [os.environ.get("PIP_INDEX_URL"), *map(_index_in, _pip_settings()), DEFAULT_INDEX]
    return next(url for url in candidates if url).rstrip("/")


def _pip_settings() -> Iterable[Path]:
    name = "pip.ini" if sys.platform == "win32" else "pip.conf"
    if named := os.environ.get("PIP_CONFIG_FILE"):
        yield Path(named)
    yield platformdirs.user_config_path("pip", appauthor=False, roaming=True) / name
    yield Path.home() / "pip" / name if sys.platform == "win32" else Path.home() / ".pip" / name
    yield platformdirs.site_config_path("pip", appauthor=False) / name
    yield Path("/etc") / name


def _index_in(settings: Path) -> str | None:
    parser = configparser.RawConfigParser()
    try:
        parser.read(settings, encoding="utf-8")
        return str(parser.get("global", "index-url", fallback="")) or None
    except (OSError, UnicodeError, configparser.Error):
        return None


def _open(url: str, headers: dict[str, str]) -> Any:
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        request = urllib.request.Request(url, headers=headers)
        return urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context)
    except (OSError, HTTPException, ValueError) as error:
        raise _network(url, error) from error


def _network(url: str, error: Exception) -> DownloadError:
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    why = network_fault(host, error)
    if isinstance(error, urllib.error.HTTPError):  # it was reached, and refuses
        error.close()
        why = Text("{0}", error)
    shown = parts._replace(netloc=host).geturl()
    return DownloadError(Text("Downloading {0} failed: {1}.", shown, why), _RETRY)


class _Links(html.parser.HTMLParser):
    """Every address a page links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def find_url(wanted: IndexFile, index: str) -> str:
    """Where the index says the file is (PEP 691 JSON or PEP 503 HTML)."""
    page_url = f"{index}/{wanted.project}/"
    with _open(page_url, {"Accept": _ACCEPT}) as answer:
        page = answer.read(MAX_PAGE_BYTES).decode("utf-8", "replace")
        page_url, is_json = answer.url, "json" in answer.headers.get("Content-Type", "")
    for link in _json_links(page) if is_json else _html_links(page):
        url: str = urllib.parse.urljoin(page_url, link)
        if Path(urllib.parse.urlsplit(url).path).name == wanted.filename:
            return url
    raise DownloadError(Text("The package index has no {0}.", wanted.filename), _RETRY)


def _html_links(page: str) -> list[str]:
    links = _Links()
    links.feed(page)
    return links.found


def _json_links(page: str) -> list[str]:
    try:
        return [str(file["url"]) for file in json.loads(page)["files"]]
    except (ValueError, KeyError, TypeError) as error:
        raise DownloadError(
            Text("The package index gave an answer we cannot read."), _RETRY
        ) from error


def _by_http(wanted: IndexFile, folder: Path, progress: OnProgress, stop: StopFlag) -> Path:
    """A ranged download that goes on where an earlier one ended."""
    part = folder / f"{wanted.filename}.part"
    url = find_url(wanted, index_url())
    have = part.stat().st_size if part.exists() else 0
    if have >= wanted.nbytes:
        have = 0
    with _open(url, {"Range": f"bytes={have}-"} if have else {}) as answer:
        resumed = have > 0 and answer.status == 206
        with open(part, "ab" if resumed else "wb") as file:
            done = have if resumed else 0
            while chunk := _read(answer, url):
                stop.check()
                done += len(chunk)
                if done > wanted.nbytes:
                    break
                file.write(chunk)
                _report(progress, done, wanted)
            file.flush()
            os.fsync(file.fileno())
    if done < wanted.nbytes:
        raise DownloadError(
            Text("The connection ended after {0} of {1} bytes.", done, wanted.nbytes), _RETRY
        )
    return part


def _read(answer: Any, url: str) -> bytes:
    try:
        return bytes(answer.read(CHUNK))
    except (OSError, HTTPException) as error:
        raise _network(url, error) from error
