"""Compares our downloader with curl and urllib on the same bytes from a server of this machine.

    python -m tests.bench.download [--mb 512] [--connections 4] [--rounds 3]

Ours hashes, journals and syncs; the others only store. The server is a process of its own; the
runs take turns, so that a busy machine hurts all alike. Prints one JSON line: MB/s, medians,
and our ratio to curl with as many connections.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.hub import verifier
from engine.hub.client import HubClient
from engine.hub.download import download
from engine.hub.plan import DownloadPlan
from tests.helpers.fake_hub import FakeHub

NAME = "model.safetensors"


def serve(size: int) -> None:
    """A hub with one file until stdin closes; its address is the first line of stdout."""
    body = os.urandom(1 << 20) * (size >> 20)
    with FakeHub({"org/model": {NAME: body}}) as hub:
        hub.entry("org/model", NAME)
        print(hub.url, flush=True)
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


def measure(url: str, connections: int, rounds: int) -> dict[str, Any]:
    """Median MB/s of each way."""
    repository = HubClient(url).repository("org/model")
    plan = DownloadPlan(repository, repository.files)
    plan = pickle.loads(pickle.dumps(plan))
    ways: dict[str, Callable[[DownloadPlan, Path, int], None]] = {
        "ours": ours,
        "without_hash": without_hash,
        "urllib": by_urllib,
    }
    if shutil.which("curl"):
        ways["curl"] = by_curl
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                begin = time.perf_counter()
                way(plan, Path(folder) / "download", connections)
                speeds[name].append(plan.total / (time.perf_counter() - begin) / 1e6)
    result: dict[str, Any] = {name: round(statistics.median(s)) for name, s in speeds.items()}
    for other in ("curl", "urllib", "without_hash"):
        if other in speeds:
            pairs = zip(speeds["ours"], speeds[other], strict=True)
            result[f"ours/{other}"] = round(statistics.median(a / b for a, b in pairs), 2)
    return result


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=512)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.mb << 20)
        return
    command = [sys.executable, "-m", "tests.bench.download", "--serve", "--mb", str(options.mb)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None and server.stdin is not None
        url = server.stdout.readline().strip()
        print(json.dumps(measure(url, options.connections, options.rounds)))
        server.stdin.close()


if __name__ == "__main__":
    main()
