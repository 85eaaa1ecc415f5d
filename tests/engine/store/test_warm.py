"""Warming up: everything when it fits, the hottest of every layer when it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.container.manifest import RecordEntry
from engine.container.reader import Container
from engine.errors import Stopped, StorageError
from engine.events import Progress
from engine.stop import StopFlag
from engine.store import warm as warming
from engine.store.warm import MARGIN_BYTES, chosen_records, warm
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
