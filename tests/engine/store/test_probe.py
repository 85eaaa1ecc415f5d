"""The drive probe: which places it reads, that files stay as they are, that faults are told."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import Stopped, StorageError
from engine.machine.unbuffered import PosixReader
from engine.stop import StopFlag
from engine.store import probe

PAGE = 4096


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "测试 experts-00001.moex", tmp_path / "experts-00002.moex"]
    for path, pages in zip(paths, (300, 100), strict=True):
        path.write_bytes(os.urandom(pages * PAGE))
    return paths


def ticking(step: float = 0.05) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


def test_every_depth_is_measured_and_nothing_is_changed(files: list[Path]) -> None:
    before = [(hashlib.sha256(p.read_bytes()).digest(), p.stat().st_mtime_ns) for p in files]
    result = probe.probe_reads(files, 10 * PAGE - 5, seconds=0.08)
    assert [point.depth for point in result.points] == [1, 2, 4, 8]
    assert all(point.reads > 0 and point.mb_s > 0 for point in result.points)
    assert result.record_bytes == 10 * PAGE
    assert result.best in result.points
    after = [(hashlib.sha256(p.read_bytes()).digest(), p.stat().st_mtime_ns) for p in files]
    assert before == after


def test_rates_are_bytes_and_reads_over_the_time_that_passed(files: list[Path]) -> None:
    clock = ticking()
    result = probe.probe_reads(files, PAGE, 1.0, depths=[1], clock=lambda: next(clock))
    (point,) = result.points
    assert point.reads == 19  # begin at 0, one tick a check, stops at 1.0
    assert point.mb_s == pytest.approx(point.reads * PAGE / 1e6 / 1.05)


def test_places_are_aligned_inside_the_files_and_spread(files: list[Path]) -> None:
    place = probe._random_places([300 * PAGE, 0, 8 * PAGE], 10 * PAGE, seed=1)
    seen = [place() for _ in range(2000)]
    assert {file for file, _, _ in seen} == {0, 2}  # an empty file is never chosen
    for file, offset, length in seen:
        assert offset % PAGE == 0 and length % PAGE == 0
        assert offset + length <= (300 if file == 0 else 8) * PAGE
    offsets = {offset for file, offset, _ in seen if file == 0}
    assert min(offsets) == 0 and max(offsets) == 290 * PAGE and len(offsets) > 250
    assert {length for file, _, length in seen if file == 2} == {8 * PAGE}


def test_no_thread_is_left_behind(files: list[Path]) -> None:
    before = set(threading.enumerate())
    probe.probe_reads(files, PAGE, seconds=0.02, depths=[4])
    assert set(threading.enumerate()) == before


def test_stop_ends_the_probe(files: list[Path]) -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        probe.probe_reads(files, PAGE, seconds=30.0, stop=stop)


def test_a_read_that_fails_is_told_with_the_reason(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(PosixReader, "read_into", fail)
    with pytest.raises(StorageError, match="Input/output error"):
        probe.probe_reads(files, PAGE, seconds=0.1)


@pytest.mark.parametrize("content", [b"", b"x" * 100])
def test_nothing_to_read_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "small"
    path.write_bytes(content)
    with pytest.raises(StorageError, match="nothing to measure"):
        probe.probe_reads([path], PAGE)
    with pytest.raises(StorageError, match="could not be measured"):
        probe.probe_reads([tmp_path / "missing"], PAGE)


def test_best_is_the_smallest_depth_that_is_nearly_as_fast() -> None:
    speeds = {1: 500.0, 2: 980.0, 4: 1000.0, 8: 900.0}
    points = tuple(probe.ProbePoint(d, s, 10) for d, s in speeds.items())
    assert probe.ProbeResult(PAGE, True, points).best.depth == 2
