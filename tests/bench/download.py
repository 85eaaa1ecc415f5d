"""Compares our downloader with curl and urllib on the same bytes from a server of this machine.

    python -m tests.bench.download [--mb 1024] [--connections 4] [--rounds 3]

Ours hashes, journals and syncs; the others only store. `curl_synced` is curl made to survive a
crash as ours does, `curl_kept` has its hash checked besides. The server is a process of its own
that lets the system send; the ways take turns in changing order, so that a busy machine, or memory
it has to find first, hurts all alike. Prints one JSON line: MB/s, CPU seconds a GB, medians, and
our ratio to each.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.hub import verifier
from engine.hub.download import download
from engine.hub.plan import DownloadPlan, RemoteFile, Repository

NAME = "model.safetensors"
PIECE = 4 << 20

Way = Callable[[DownloadPlan, Path, int], None]


class _Handler(http.server.BaseHTTPRequestHandler):
    """Ranges of one file, sent by the kernel."""

    protocol_version = "HTTP/1.1"
    file: int
    size: int

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        start, end = (int(asked[1]), int(asked[2]) + 1) if asked else (0, self.size)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(end - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{self.size}")
        self.end_headers()
        while start < end:
            start += os.sendfile(self.connection.fileno(), self.file, start, end - start)


def serve(path: str) -> None:
    """The file until stdin closes; the address is the first line of stdout."""
    _Handler.file, _Handler.size = os.open(path, os.O_RDONLY), os.path.getsize(path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


def ours(plan: DownloadPlan, folder: Path, connections: int) -> None:
    """As the app does it."""
    download(plan, folder, connections=connections)


def without_hash(plan: DownloadPlan, folder: Path, connections: int) -> None:
    """The same, but every hash is taken for right: what hashing costs."""

    class Right:
        def update(self, _: object) -> None: ...

        def hexdigest(self) -> str:
            return plan.files[0].sha256

    real, verifier.new_digest = verifier.new_digest, lambda _: Right()  # type: ignore[assignment,return-value]
    try:
        download(plan, folder, connections=connections)
    finally:
        verifier.new_digest = real


def by_urllib(plan: DownloadPlan, folder: Path, _: int) -> None:
    """One connection, straight to a file."""
    folder.mkdir()
    with (
        urllib.request.urlopen(plan.url(plan.files[0])) as answer,
        open(folder / NAME, "wb") as file,
    ):
        shutil.copyfileobj(answer, file, 1 << 20)


def by_curl(plan: DownloadPlan, folder: Path, connections: int) -> None:
    """As many curls, each with its share of the file."""
    folder.mkdir()
    share = -(-plan.total // connections)
    processes = []
    for number in range(connections):
        span = f"{number * share}-{min((number + 1) * share, plan.total) - 1}"
        command = ["curl", "-s", "-f", "-r", span, "-o", str(folder / str(number))]
        processes.append(subprocess.Popen([*command, plan.url(plan.files[0])]))
    assert not any([process.wait() for process in processes])


def by_curl_synced(plan: DownloadPlan, folder: Path, connections: int) -> None:
    """And on the disk: what survives a crash of the machine, as ours does."""
    by_curl(plan, folder, connections)
    for number in range(connections):
        with open(folder / str(number), "rb") as file:
            os.fsync(file.fileno())


def by_curl_kept(plan: DownloadPlan, folder: Path, connections: int) -> None:
    """What curl's user must do besides: sync, and check the hash."""
    by_curl_synced(plan, folder, connections)
    digest = hashlib.sha256()
    for number in range(connections):
        with open(folder / str(number), "rb", buffering=0) as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    assert digest.hexdigest() == plan.files[0].sha256


def cpu_s() -> float:
    """CPU seconds of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure(plan: DownloadPlan, connections: int, rounds: int, only: list[str]) -> dict[str, Any]:
    """Medians of each way, and of the ratios within a round."""
    ways: dict[str, Way] = {"ours": ours, "without_hash": without_hash, "urllib": by_urllib}
    if shutil.which("curl"):
        ways |= {"curl": by_curl, "curl_synced": by_curl_synced, "curl_kept": by_curl_kept}
    ways = {name: way for name, way in ways.items() if not only or name in only}
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in _turned(list(ways), number):
            way = ways[name]
            with tempfile.TemporaryDirectory() as folder:
                os.sync()
                begin, cpu = time.perf_counter(), cpu_s()
                way(plan, Path(folder) / "download", connections)
                speeds[name].append(plan.total / (time.perf_counter() - begin) / 1e6)
                costs[name].append((cpu_s() - cpu) / plan.total * 1e9)
    result: dict[str, Any] = {name: round(statistics.median(s)) for name, s in speeds.items()}
    result["cpu_s_per_gb"] = {n: round(statistics.median(c), 2) for n, c in costs.items()}
    for other in speeds:
        if other != "ours" and "ours" in speeds:
            result[f"ours/{other}"] = ratio(speeds["ours"], speeds[other])
        if "curl" in other and "without_hash" in speeds:
            result[f"without_hash/{other}"] = ratio(speeds["without_hash"], speeds[other])
    return result


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Median of the rounds' ratios."""
    return round(statistics.median(a / b for a, b in zip(ours, theirs, strict=True)), 2)


def _turned(names: list[str], number: int) -> list[str]:
    """The names, beginning with another one each round."""
    first = number % len(names)
    return names[first:] + names[:first]


def make_file(path: Path, size: int) -> RemoteFile:
    """Random bytes, and what a hub says of them."""
    block, digest = os.urandom(1 << 20), hashlib.sha256()
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(block)
            digest.update(block)
    return RemoteFile(NAME, NAME, size, digest.hexdigest())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=1024)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        file = make_file(path, options.mb << 20)
        command = [sys.executable, "-m", "tests.bench.download", "--serve", str(path)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None and server.stdin is not None
            url = server.stdout.readline().strip()
            plan = DownloadPlan(Repository("org/model", "0" * 40, url, (file,)), (file,))
            print(json.dumps(measure(plan, options.connections, options.rounds, options.only)))
            server.stdin.close()


if __name__ == "__main__":
    main()
