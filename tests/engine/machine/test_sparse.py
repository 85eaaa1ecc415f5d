"""Marking a file as sparse: the exact calls on Windows, nothing elsewhere."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from engine.machine.sparse import make_sparse
from engine.machine.windows_sparse import make_sparse as on_windows
from tests.helpers.fake_dll import FakeDll

FILE: Any = PureWindowsPath("D:\\模型\\m.part")


def test_the_exact_calls() -> None:
    kernel = FakeDll(CreateFileW=88, DeviceIoControl=1, CloseHandle=1)
    on_windows(FILE, kernel)
    assert kernel.calls == [
        ("CreateFileW", ("D:\\模型\\m.part", 0x40000000, 7, None, 3, 0, None)),
        ("DeviceIoControl", (88, 0x900C4, None, 0, None, 0, "&", None)),
        ("CloseHandle", (88,)),
    ]


@pytest.mark.parametrize("handle", [None, 2**64 - 1])
def test_a_file_that_cannot_be_opened_is_left(handle: int | None) -> None:
    kernel = FakeDll(CreateFileW=handle)
    on_windows(FILE, kernel)
    assert [name for name, _ in kernel.calls] == ["CreateFileW"]


def test_a_drive_that_refuses_is_no_fault() -> None:
    kernel = FakeDll(CreateFileW=88, DeviceIoControl=0, CloseHandle=1)
    on_windows(FILE, kernel)
    assert kernel.calls[-1] == ("CloseHandle", (88,))


def test_the_file_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"abc")
    make_sparse(file)
    assert file.read_bytes() == b"abc"
