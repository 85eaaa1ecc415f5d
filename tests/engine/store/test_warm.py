"""Warming up: everything when it fits, the hottest of every layer when it does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.container.manifest import RecordEntry
from engine.container.reader import Container
from engine.errors import Stopped, StorageError
from engine.events import Progress
from engine.stop import StopFlag
from engine.store import warm as warming
from engine.store.warm import MARGIN_BYTES, chosen_records, warm, warm_start
from tests.helpers.tiny_containers import make_tiny_container


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Container:
    return Container.open(make_tiny_container(tmp_path_factory.mktemp("模型") / "q"))


def test_all_of_it_when_memory_is_plenty(container: Container) -> None:
    seen: list[Progress] = []
    done = warm(container, 10**12, seen.append)
    manifest = container.manifest
    records = sum(record.bytes for record in manifest.records)
    assert done == warming.Warmed(manifest.dense_bytes + records, 24, 24)
    assert seen[-1].done == seen[-1].total == done.bytes
    assert [p.done for p in seen] == sorted(p.done for p in seen)


def test_only_what_fits_and_the_same_share_of_every_layer(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, int, int]] = []
    real = warming.read_range

    def record(file: object, path: Path, offset: int, target: memoryview) -> None:
        read.append((path.name, offset, len(target)))
        real(file, path, offset, target)  # type: ignore[arg-type]

    monkeypatch.setattr(warming, "read_range", record)
    size = container.manifest.records[0].bytes
    room = MARGIN_BYTES + container.manifest.dense_bytes + 7 * size
    done = warm(container, room)
    assert (done.records, done.records_total) == (7, 24)
    assert sum(length for _, _, length in read) == done.bytes <= room - MARGIN_BYTES
    # three, two and two of the 8 records of each layer, each layer's first ones: three ranges
    moex = [(offset, length) for name, offset, length in read if name.endswith(".moex")]
    first = container.manifest.records
    starts = [first[0].offset, first[8].offset, first[16].offset]
    assert moex == list(zip(starts, (3 * size, 2 * size, 2 * size), strict=True))


def test_the_choice_is_in_file_order() -> None:
    records = [RecordEntry(layer, e, 0, 0, 10, "") for layer in range(2) for e in (5, 3, 1)]
    assert [(r.layer, r.expert) for r in chosen_records(records, 35)] == [(0, 5), (0, 3), (1, 5)]
    assert chosen_records(records, 9) == [] == chosen_records(records, -1)
    assert chosen_records(records, 60) == records


def test_stop_and_missing_files(container: Container, tmp_path: Path) -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        warm(container, 10**12, stop=stop)
    broken = make_tiny_container(tmp_path / "m")
    opened = Container.open(broken)
    (file,) = opened.files
    file.write_bytes(b"")
    with pytest.raises(StorageError, match="ends early"):
        warm(opened, 10**12)


def test_what_is_used_most_is_read_before_the_rest() -> None:
    records = [RecordEntry(i // 3, i % 3, 0, 10 * i, 10, "") for i in range(6)]
    ranks = {(1, 2): 0, (0, 1): 1}
    chosen = [(r.layer, r.expert) for r in chosen_records(records, 30, ranks)]
    assert chosen == [(0, 0), (0, 1), (1, 2)]
    assert chosen_records(records, 60, ranks) == records


class FakeStore:
    """Remembers what is loaded; `free` slots are left."""

    def __init__(self, resident: list[int]) -> None:
        self.keys = resident
        self.free = 20
        self.chunks: list[int] = []
        self.failing: set[int] = set()

    def resident(self) -> np.ndarray:
        return np.array(self.keys, np.int32)

    def load(self, keys: np.ndarray) -> int:
        taken = keys[: self.free].tolist()
        self.free -= len(taken)
        self.keys = self.keys + [key for key in taken if key not in self.failing]
        return len(taken)

    def after_chunk(self, tokens: int) -> None:
        self.chunks.append(tokens)


def started(store: FakeStore, keys: list[int], **options: object) -> int:
    stop = options.pop("stop", StopFlag())
    return warm_start(store, np.array(keys, np.int32), stop, **options)  # type: ignore[arg-type]


def test_a_warm_start_fills_the_slots_hottest_first() -> None:
    store = FakeStore([5, 7])
    assert started(store, [7, 3, 9, 5, *range(100, 200)]) == 20
    assert store.keys == [5, 7, 3, 9, *range(100, 118)]
    assert store.chunks == [1]  # victims are laid out for the first reply


def test_a_warm_start_ends_in_time() -> None:
    now = iter(range(100))
    store = FakeStore([])
    store.free = 1000
    assert (
        started(store, list(range(500)), seconds=3, clock=lambda: next(now)) == 2 * warming._BATCH
    )
    stop = StopFlag()
    stop.set()
    assert started(store, list(range(500)), stop=stop) == 0


def test_reads_that_fail_are_not_counted() -> None:
    store = FakeStore([])
    store.failing = {2, 3}
    assert started(store, [1, 2, 3, 4]) == 2
    assert started(store, []) == 0
