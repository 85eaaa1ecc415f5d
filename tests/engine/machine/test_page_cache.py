"""Putting files out of the page cache, checked with the kernel's own word on what is in it."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path

import pytest

from engine.machine import page_cache

PAGES = 64


def cached_pages(path: Path) -> int:
    """Pages of the file in the page cache (mincore)."""
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        base = ctypes.addressof(ctypes.c_char.from_buffer(view))
        flags = (ctypes.c_ubyte * PAGES)()
        assert libc.mincore(ctypes.c_void_p(base), ctypes.c_size_t(len(view)), flags) == 0
        return sum(flag & 1 for flag in flags)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a program do this")
def test_a_forgotten_file_is_out_of_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "测试.moex"
    with path.open("wb") as file:
        file.write(os.urandom(PAGES * mmap.PAGESIZE))
        os.fsync(file.fileno())
    if cached_pages(path) < PAGES:
        pytest.skip("this file system keeps no page cache")
    assert page_cache.forget([path])
    assert cached_pages(path) == 0


def test_elsewhere_it_says_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not page_cache.forget([tmp_path / "missing"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can forget a file")
def test_the_share_of_each_range_that_is_cached(tmp_path: Path) -> None:
    paths = [tmp_path / "a.moex", tmp_path / "b.moex"]
    for path in paths:
        with path.open("wb") as file:
            file.write(os.urandom(PAGES * mmap.PAGESIZE))
            os.fsync(file.fileno())
    if cached_pages(paths[0]) < PAGES:
        pytest.skip("this file system keeps no page cache")
    page_cache.forget(paths[1:])
    page, end = mmap.PAGESIZE, (PAGES - 1) * mmap.PAGESIZE
    ranges = [(1, 0, 4 * page), (0, page, 2 * page), (0, end, page), (1, end, page)]
    assert page_cache.cached_shares(paths, ranges) == [0.0, 1.0, 1.0, 0.0]


def test_what_cannot_be_asked_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    for path in (tmp_path / "missing", tmp_path / "empty"):
        assert page_cache.cached_shares([path], [(0, 0, 4096)]) is None
