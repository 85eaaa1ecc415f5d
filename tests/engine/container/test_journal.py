"""The journal: whole lines count, torn ones do not, another plan's are dropped."""

from __future__ import annotations

import pytest

from engine.container.journal import JOURNAL_NAME, Journal, belongs_to

HASHES = [f"{n:064x}" for n in range(5)]


def written(folder, hashes=HASHES):
    journal = Journal(folder, "plan")
    for sha256 in hashes:
        journal.add(sha256)
    journal.commit()
    journal.close()
    return folder / JOURNAL_NAME


def reopened(folder, identity="plan"):
    journal = Journal(folder, identity)
    journal.close()
    return journal.hashes


def test_committed_items_come_back(tmp_path):
    written(tmp_path)
    assert reopened(tmp_path) == HASHES


def test_uncommitted_items_do_not_count(tmp_path):
    journal = Journal(tmp_path, "plan")
    journal.add(HASHES[0])
    journal.close()
    assert reopened(tmp_path) == []


@pytest.mark.parametrize("lost", range(1, 160))
def test_a_torn_end_loses_only_torn_lines(tmp_path, lost):
    path = written(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:-lost])
    kept = reopened(tmp_path)
    line = len(data.splitlines()[-1]) + 1
    assert kept == HASHES[: 5 - -(-lost // line)]
    assert path.read_bytes() == data[: len(data) - line * (5 - len(kept))]


def test_garbage_ends_the_list(tmp_path):
    path = written(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"\0" * len(lines[3]), *lines[4:]]))
    assert reopened(tmp_path) == HASHES[:2]


def test_cut_and_go_on(tmp_path):
    written(tmp_path)
    journal = Journal(tmp_path, "plan")
    journal.cut(2)
    journal.add(HASHES[4])
    journal.commit()
    journal.close()
    assert reopened(tmp_path) == [HASHES[0], HASHES[1], HASHES[4]]


def test_another_plan_starts_empty(tmp_path):
    written(tmp_path)
    assert belongs_to(tmp_path, "plan") and not belongs_to(tmp_path, "other")
    assert reopened(tmp_path, "other") == []
    assert not belongs_to(tmp_path, "plan")
