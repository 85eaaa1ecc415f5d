"""Shard by shard: the same bytes as the ordinary way on far less disk, whatever happens."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engine.errors import CheckpointError, ConfigError, Stopped, StorageError
from engine.events import Progress
from engine.hub.get import GetOptions, get_model, look_up
from engine.hub.policy import DownloadPolicy
from engine.hub.ticket import DOWNLOADS
from engine.hub.unfinished import drop_unfinished, list_unfinished
from engine.stop import StopFlag
from tests.helpers.fake_hub import FakeHub
from tests.helpers.sharded import shard
from tests.helpers.tiny_models import make_tiny_checkpoint

ROOT = Path(__file__).parents[3]
NAME, SHARDS = "model-nf4", 6


@pytest.fixture(scope="module")
def ordered_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A tiny MoE model whose shards come layer after layer; layers lie across their borders."""
    folder = make_tiny_checkpoint(
        "qwen3_moe", tmp_path_factory.mktemp("ordered") / "model", num_hidden_layers=4
    )
    shard(folder, SHARDS, in_order=True)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def hub(ordered_files: dict[str, bytes]) -> Iterator[FakeHub]:
    with FakeHub({"org/model": ordered_files}) as hub:
        yield hub


def options(hub: FakeHub, quick: DownloadPolicy, **more: Any) -> GetOptions:
    return GetOptions("org/model", endpoint=hub.url, policy=quick, **{"by_shard": True, **more})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def ordinary(hub: FakeHub, quick: DownloadPolicy, tmp_path: Path) -> dict[str, bytes]:
    """The container as it comes when everything is downloaded first."""
    made = contents(get_model(options(hub, quick, by_shard=False), tmp_path / "ordinary").path)
    hub.requests.clear()
    return made


def shards(models: Path) -> dict[str, int]:
    """Source shards on the disk, finished or not, with their sizes."""
    found = {}
    for path in (models / DOWNLOADS).glob("*/*.safetensors*"):
        if not path.name.endswith(".json") and not path.name.endswith(".journal"):
            found[path.name] = (
                path.stat().st_blocks * 512 if ".part" in path.name else (path.stat().st_size)
            )
    return found


def disk_bytes(models: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in models.rglob("*") if path.is_file())


def test_the_same_bytes_with_two_shards_on_the_disk(
    hub: FakeHub, quick: DownloadPolicy, models: Path, ordinary: dict[str, bytes]
) -> None:
    told = look_up(options(hub, quick), stop=None)[1]
    most_shards, most_bytes, stages = 0, 0, list[str]()

    def watch(progress: Progress) -> None:
        nonlocal most_shards, most_bytes
        most_shards = max(most_shards, len(shards(models)))
        most_bytes = max(most_bytes, disk_bytes(models))
        stages.append(type(progress).__name__)

    made = get_model(options(hub, quick), models, watch)
    assert contents(made.path) == ordinary
    assert most_shards == 2
    assert most_bytes <= told.disk_peak_by_shard < told.disk_peak
    changes = sum(a != b for a, b in pairwise(stages))
    assert changes >= 2 * SHARDS - 2, "downloading and converting did not take turns"
    assert [path.name for path in (models / DOWNLOADS).iterdir()] == [f"{NAME}.json"]


def test_the_forecast_of_disk_counts_what_lies_there_together(
    hub: FakeHub, quick: DownloadPolicy, tiny_files: dict[str, bytes]
) -> None:
    told = look_up(options(hub, quick))[1]
    sizes = sorted(len(body) for name, body in hub.models["org/model"].items() if "-of-" in name)
    assert told.disk_peak_by_shard < told.output + 3 * sizes[-1] + (64 << 20)
    with FakeHub({"org/model": tiny_files}) as mixed:  # every layer in every shard: no gain
        told = look_up(options(mixed, quick))[1]
    assert told.disk_peak_by_shard <= told.disk_peak


def test_layers_that_lie_in_every_shard_come_out_right_too(
    tiny_files: dict[str, bytes], quick: DownloadPolicy, models: Path, tmp_path: Path
) -> None:
    with FakeHub({"org/model": tiny_files}) as hub:
        made = get_model(options(hub, quick), models)
        other = get_model(options(hub, quick, by_shard=False), tmp_path / "ordinary")
    assert contents(made.path) == contents(other.path)


def test_stopped_anywhere_it_goes_on_and_shows_how_far_it_is(
    hub: FakeHub, quick: DownloadPolicy, models: Path, ordinary: dict[str, bytes]
) -> None:
    done = []
    for limit in (3, 9, 15, 24, 40):
        stop, count = StopFlag(), iter(range(10**6))

        def halt(progress: Progress, limit: int = limit, stop: StopFlag = stop) -> None:
            if next(count) == limit:  # noqa: B023
                stop.set()

        with pytest.raises(Stopped):
            get_model(options(hub, quick, by_shard=limit == 3), models, halt, stop)
        [left] = list_unfinished(models)
        assert left.by_shard, "an order that began so stays so"
        done.append(left.done)
    assert done == sorted(done) and 0 < done[-1] <= left.total
    assert contents(get_model(options(hub, quick), models).path) == ordinary
    assert not list_unfinished(models)


def test_an_order_can_change_to_it_when_the_disk_turns_out_small(
    hub: FakeHub, quick: DownloadPolicy, models: Path, ordinary: dict[str, bytes]
) -> None:
    stop = StopFlag()

    def halt(progress: Progress) -> None:
        if progress.what.startswith("experts of layer 2"):
            stop.set()

    with pytest.raises(Stopped):
        get_model(options(hub, quick, by_shard=False), models, halt, stop)
    before = hub.body_bytes("-of-")
    assert contents(get_model(options(hub, quick), models).path) == ordinary
    headers = sum(len(body) for name, body in hub.models["org/model"].items() if "-of-" in name)
    assert hub.body_bytes("-of-") - before <= headers, "what was there was fetched again"


def test_cancel_leaves_nothing(hub: FakeHub, quick: DownloadPolicy, models: Path) -> None:
    stop = StopFlag()

    def halt(progress: Progress) -> None:
        if progress.what.startswith("experts"):
            stop.set()

    with pytest.raises(Stopped):
        get_model(options(hub, quick), models, halt, stop)
    drop_unfinished(models, NAME)
    assert [path for path in models.rglob("*") if path.is_file()] == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_what_a_link_leads_to_is_never_deleted(
    hub: FakeHub,
    quick: DownloadPolicy,
    models: Path,
    tmp_path: Path,
    ordinary: dict[str, bytes],
) -> None:
    """A user's own copy of a shard, linked to save its download."""
    first = next(name for name in hub.models["org/model"] if "00001-of-" in name)
    own = tmp_path / "mine.safetensors"
    own.write_bytes(hub.models["org/model"][first])
    plan = look_up(options(hub, quick))[0].plan
    folder = models / DOWNLOADS / plan.folder_name
    folder.mkdir(parents=True)
    (folder / first).symlink_to(own)
    assert contents(get_model(options(hub, quick), models).path) == ordinary
    assert own.read_bytes() == hub.models["org/model"][first]


def test_a_shard_that_is_damaged_on_the_way_to_the_result_is_kept(
    hub: FakeHub,
    quick: DownloadPolicy,
    models: Path,
    ordinary: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A drive that loses what was written must not cost the source as well."""
    from engine.container.writer import ContainerWriter

    write, bad = ContainerWriter.write, iter([True])

    def forgetful(self: ContainerWriter, chunks: Any) -> str:
        item, told = self.items[self.position], write(self, chunks)
        if self.position == 9 and next(bad, False):
            self.sync()
            with open(self._path_of(item), "r+b") as file:
                file.seek(item.offset)
                file.write(b"\xff" * 64)
        return told

    monkeypatch.setattr(ContainerWriter, "write", forgetful)
    with pytest.raises(StorageError, match="does not hold what was written"):
        get_model(options(hub, quick), models)
    assert shards(models)
    assert contents(get_model(options(hub, quick), models).path) == ordinary


def test_a_hub_whose_headers_are_not_those_of_its_files(
    hub: FakeHub, quick: DownloadPolicy, models: Path, ordered_files: dict[str, bytes]
) -> None:
    """The plan is made from headers that no hash vouches for; the files have one."""
    name = next(name for name in ordered_files if "00002-of-" in name)
    body = ordered_files[name]
    length = int.from_bytes(body[:8], "little")
    header = json.loads(body[8 : 8 + length])
    entries = sorted((key for key in header if "experts" in key), key=str)
    a, b = next(
        (a, b)
        for a in entries
        for b in entries
        if a < b and header[a]["shape"] == header[b]["shape"]
    )
    header[a], header[b] = header[b], header[a]
    text = json.dumps(header, separators=(",", ":")).encode().ljust(length)
    assert len(text) == length
    hub.entry("org/model", name)  # the true file's hash
    hub.models["org/model"][name] = body[:8] + text + body[8 + length :]

    def repaired(progress: Progress) -> None:
        if progress.what.endswith(".safetensors"):
            hub.models["org/model"][name] = body

    with pytest.raises(CheckpointError, match="other tensors than the hub told"):
        get_model(options(hub, quick), models, repaired)
    assert not (models / NAME).exists()


def test_what_cannot_be_done_so_is_refused(quick: DownloadPolicy, models: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be kept"):
        GetOptions("org/model", by_shard=True, keep_source=True)
    from tests.helpers.tiny_gguf import write_tiny_gguf

    source = make_tiny_checkpoint("mixtral", models / "source")
    body = write_tiny_gguf(source, models / "tiny.gguf").read_bytes()
    with FakeHub({"org/model": {"tiny.gguf": body}}) as hub:
        told = look_up(options(hub, quick))[1]
        assert told.disk_peak_by_shard == told.disk_peak
        with pytest.raises(ConfigError, match="GGUF"):
            get_model(options(hub, quick), models)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_killed_at_any_time_it_goes_on(
    hub: FakeHub, models: Path, ordinary: dict[str, bytes]
) -> None:
    rng = random.Random(5)
    command = [sys.executable, "-m", "engine.cli", "get", "org/model", "--shard-by-shard"]
    command += ["--endpoint", hub.url, "--models-dir", str(models), "--progress", "json"]
    hub.bytes_per_s, codes = 2_000_000, []
    for _ in range(5):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(rng.randrange(2, 60)):
            process.stdout.readline()
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        codes.append(process.wait())
        assert not (models / NAME).exists() or contents(models / NAME) == ordinary
    hub.bytes_per_s = 0
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert -9 in codes
    assert json.loads(done.stdout.splitlines()[-1])["finished"] == str(models / NAME)
    assert contents(models / NAME) == ordinary
    assert os.listdir(models / DOWNLOADS) == [f"{NAME}.json"]
