"""A block on disk is read back exactly, or counts as not there: never half, never wrong."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import StorageError
from engine.store.snapshot_file import HEADER_BYTES, Rows, read_block, write_block

KEY, OTHER = b"k" * 32, b"o" * 32
ROWS = np.random.default_rng(0).integers(0, 256, 3000).astype(np.uint8)
any_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def block(tmp_path: Path) -> Path:
    path = tmp_path / "块.kv"
    write_block(path, KEY, ROWS)
    return path


def read(path: Path, key: bytes = KEY, size: int = len(ROWS)) -> Rows | None:
    rows = np.zeros(size, np.uint8)
    return rows if read_block(path, key, rows) else None


def test_what_was_written_is_read(block: Path) -> None:
    rows = read(block)
    assert rows is not None and np.array_equal(rows, ROWS)
    assert [path.name for path in block.parent.iterdir()] == [block.name]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_only_its_owner_may_read_it(block: Path) -> None:
    assert stat.S_IMODE(block.stat().st_mode) == 0o600


@any_folder
@given(at=st.integers(0, HEADER_BYTES + len(ROWS) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed(block: Path, at: int, bit: int) -> None:
    good = block.read_bytes()
    bad = bytearray(good)
    bad[at] ^= 1 << bit
    block.write_bytes(bad)
    assert read(block) is None
    block.write_bytes(good)
    assert read(block) is not None


@any_folder
@given(size=st.integers(0, HEADER_BYTES + len(ROWS) + 9).filter(lambda n: n != 3000 + HEADER_BYTES))
def test_a_file_of_another_length_is_ignored(block: Path, size: int) -> None:
    good = block.read_bytes()
    block.write_bytes((good + bytes(9))[:size])
    assert read(block) is None
    block.write_bytes(good)


def test_another_block_or_size_is_not_this_one(block: Path, tmp_path: Path) -> None:
    assert read(block, OTHER) is None
    assert read(block, size=len(ROWS) - 8) is None
    assert read(tmp_path / "missing") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_links_folders_and_pipes_are_not_read(block: Path, tmp_path: Path) -> None:
    os.symlink(block, tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert all(read(tmp_path / name) is None for name in ("link", "pipe", "folder"))


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a POSIX matter")
def test_a_write_that_fails_leaves_nothing(block: Path, tmp_path: Path) -> None:
    """A real limit on the size of files: the write fails half way, as on a full drive."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StorageError):
            write_block(tmp_path / "new.kv", OTHER, ROWS)
        with pytest.raises(StorageError):
            write_block(block, KEY, ROWS[::-1].copy())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == [block.name]
    assert read(block) is not None
