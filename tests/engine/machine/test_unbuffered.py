"""Reading past the page cache: real files here, the exact Windows calls against a fake."""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.machine import unbuffered
from engine.machine.unbuffered import WindowsReader, extended, open_unbuffered
from tests.helpers.fake_dll import FakeDll

PAGE = 4096


def test_bytes_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "测试 é'&#%.moex"
    path.write_bytes(b"".join(bytes([i]) * PAGE for i in range(8)))
    reader = open_unbuffered(path)
    with mmap.mmap(-1, 4 * PAGE) as buffer:
        assert reader.read_into(buffer, 2 * PAGE, 3 * PAGE) == 2 * PAGE
        assert buffer[: 2 * PAGE] == b"\3" * PAGE + b"\4" * PAGE
        assert reader.read_into(buffer, 4 * PAGE, 6 * PAGE) == 2 * PAGE  # the end of the file
    reader.close()


@pytest.mark.skipif(sys.platform != "linux", reason="O_DIRECT is Linux's")
def test_a_file_system_without_direct_reads_falls_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * PAGE)
    monkeypatch.setattr(unbuffered, "_open_direct", lambda _: None)
    reader = open_unbuffered(path)
    assert not reader.unbuffered
    with mmap.mmap(-1, PAGE) as buffer:
        assert reader.read_into(buffer, PAGE, 0) == PAGE
    reader.close()


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        open_unbuffered(tmp_path / "none")


def test_the_exact_windows_calls() -> None:
    def read(_: Any, target: Any, length: Any, done: Any, where: Any) -> int:
        ctypes.memmove(target, b"abcd", 4)
        done._obj.value = length.value
        assert where._obj.Offset == 5 << 32
        return 1

    fake = FakeDll(CreateFileW=77, ReadFile=read, CloseHandle=1)
    reader = WindowsReader(Path("a.moex"), fake)
    buffer = mmap.mmap(-1, PAGE)
    assert reader.read_into(buffer, PAGE, 5 << 32) == PAGE
    assert buffer[:4] == b"abcd"
    reader.close()
    buffer.close()
    assert fake.calls == [
        ("CreateFileW", ("a.moex", 0x80000000, 7, None, 3, 0x20000000, None)),
        ("ReadFile", (77, "&", PAGE, "&", "&")),
        ("CloseHandle", (77,)),
    ]
    assert unbuffered.Overlapped.Offset.offset == 16


def test_windows_failures_are_os_errors() -> None:
    with pytest.raises(OSError, match=r"a\.moex"):
        WindowsReader(Path("a.moex"), FakeDll(CreateFileW=ctypes.c_void_p(-1).value))
    reader = WindowsReader(Path("a.moex"), FakeDll(CreateFileW=77, ReadFile=0))
    with mmap.mmap(-1, PAGE) as buffer, pytest.raises(OSError, match="unbuffered read"):
        reader.read_into(buffer, PAGE, 0)


def test_long_windows_paths_take_the_extended_form() -> None:
    deep = "C:\\" + "深" * 300
    assert extended(deep) == "\\\\?\\" + deep
    assert extended("\\\\nas\\" + "x" * 300) == "\\\\?\\UNC\\nas\\" + "x" * 300
    assert extended("C:\\short") == "C:\\short"
    assert extended("\\\\?\\" + deep) == "\\\\?\\" + deep
