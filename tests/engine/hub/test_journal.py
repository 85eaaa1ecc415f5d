"""What a journal remembers: all after a kill, what was synced after a crash of the machine."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from engine.hub.intervals import Intervals
from engine.hub.journal import RangeJournal

BOOT = 1_700_000_000.0


def reopened(path: Path, boot: float = BOOT, name: str = "f 100") -> list[tuple[int, int]]:
    journal = RangeJournal(path, name, boot)
    journal.close()
    return journal.spans


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "测试.part.journal"


def written(path: Path) -> Path:
    """Two ranges, a sync, a third one, then a kill."""
    journal = RangeJournal(path, "f 100", BOOT)
    journal.add(0, 10)
    journal.add(20, 30)
    journal.mark_synced(journal.ranges_end)
    journal.add(40, 50)
    journal.add_etag("https://h", '"v1"')
    journal.close()
    return path


def test_a_kill_loses_nothing(path: Path) -> None:
    assert reopened(written(path)) == [(0, 10), (20, 30), (40, 50)]
    journal = RangeJournal(path, "f 100", BOOT)
    journal.close()
    assert journal.etags == {"https://h": '"v1"'}


def test_a_crash_of_the_machine_keeps_what_was_synced(path: Path) -> None:
    assert reopened(written(path), boot=BOOT + 3600) == [(0, 10), (20, 30)]
    assert reopened(path, boot=BOOT + 3600) == [(0, 10), (20, 30)], "dropped ranges came back"
    assert reopened(path, boot=BOOT + 3601.5) == [(0, 10), (20, 30)], "a clock that was adjusted"


def test_a_range_noted_while_syncing_is_not_taken_for_synced(path: Path) -> None:
    journal = RangeJournal(path, "f 100", BOOT)
    journal.add(0, 10)
    before = journal.ranges_end
    journal.add(10, 20)
    journal.mark_synced(before)
    journal.close()
    assert reopened(path, boot=BOOT + 3600) == [(0, 10)]


def test_another_file_starts_empty(path: Path) -> None:
    assert reopened(written(path), name="g 100") == []


@settings(max_examples=40)
@given(cut=st.integers(0, 400), junk=st.binary(max_size=40))
def test_a_torn_journal_is_used_up_to_the_tear(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("torn") / "journal")
    path.write_bytes(path.read_bytes()[:cut] + junk)
    spans = reopened(path)
    assert [span for span in spans if span in [(0, 10), (20, 30), (40, 50)]] == spans
    journal = RangeJournal(path, "f 100", BOOT)  # and it goes on behind the tear
    journal.add(60, 70)
    journal.close()
    assert reopened(path) == [*spans, (60, 70)]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60))))
def test_intervals_are_a_set_of_bytes(spans: list[tuple[int, int]]) -> None:
    have, truth = Intervals(), set[int]()
    for start, end in spans:
        have.add(start, end)
        truth |= set(range(start, end))
    assert have.total == len(truth)
    inside = {byte for start, end in have.spans() for byte in range(start, end)}
    missing = {byte for start, end in have.missing(64) for byte in range(start, end)}
    assert inside == truth
    assert missing == set(range(64)) - truth
    assert have.prefix() == next(byte for byte in range(65) if byte not in truth)
    assert all(a[1] < b[0] for a, b in zip(have.spans(), have.spans()[1:], strict=False))
