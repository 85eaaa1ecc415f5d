"""Drive detection on Windows against a fake kernel32: which calls, in which order, with what."""

from __future__ import annotations

import ctypes
from pathlib import PureWindowsPath
from typing import Any

import pytest

from engine.machine import windows_drive
from engine.machine.samples import DriveInfo
from tests.helpers.fake_dll import FakeDll

FIXED, REMOVABLE, REMOTE = 3, 2, 4
FOLDER: Any = PureWindowsPath(r"D:\模型\qwen")


def text(value: str, position: int) -> Any:
    def answer(*args: Any) -> int:
        args[position].value = value
        return 1

    return answer


def control(bus: int, seek_penalty: bool | None, removable: int = 0) -> Any:
    def answer(_: Any, code: Any, query: Any, *rest: Any) -> int:
        assert code.value == 0x2D1400
        target = rest[1]._obj
        if query._obj.PropertyId == 0:
            target.BusType, target.RemovableMedia = bus, removable
        elif seek_penalty is None:
            return 0
        else:
            target.IncursSeekPenalty = seek_penalty
        return 1

    return answer


def kernel(drive_type: int = FIXED, **answers: Any) -> FakeDll:
    usual = {
        "GetVolumePathNameW": text("D:\\", 1),
        "GetVolumeInformationW": text("NTFS", 6),
        "GetDriveTypeW": drive_type,
        "GetVolumeNameForVolumeMountPointW": text("\\\\?\\Volume{12}\\", 1),
        "CreateFileW": 88,
        "DeviceIoControl": control(17, False),
        "CloseHandle": 1,
    }
    return FakeDll(**{**usual, **answers})


def test_the_exact_calls() -> None:
    fake = kernel()
    assert windows_drive.drive_info(FOLDER, fake) == DriveInfo("nvme", "NTFS", "D:\\")
    assert fake.calls == [
        ("GetVolumePathNameW", (r"D:\模型\qwen", "&", 1024)),
        ("GetVolumeInformationW", ("D:\\", None, 0, None, None, None, "&", 64)),
        ("GetDriveTypeW", ("D:\\",)),
        ("GetVolumeNameForVolumeMountPointW", ("D:\\", "&", 64)),
        ("CreateFileW", ("\\\\?\\Volume{12}", 0, 7, None, 3, 0, None)),
        ("DeviceIoControl", (88, 0x2D1400, "&", 12, "&", 40, "&", None)),
        ("DeviceIoControl", (88, 0x2D1400, "&", 12, "&", 12, "&", None)),
        ("CloseHandle", (88,)),
    ]


@pytest.mark.parametrize(
    ("bus", "seek_penalty", "kind"),
    [
        (17, False, "nvme"),
        (17, None, "nvme"),
        (11, False, "sata_ssd"),
        (11, True, "hdd"),
        (11, None, "unknown"),
        (7, False, "usb"),
        (7, True, "usb"),
        (8, False, "unknown"),  # Intel VMD hides NVMe behind RAID
        (8, True, "hdd"),
        (9, True, "network"),
        (15, False, "virtual"),
        (19, False, "unknown"),
    ],
)
def test_bus_and_seek_penalty(bus: int, seek_penalty: bool | None, kind: str) -> None:
    fake = kernel(DeviceIoControl=control(bus, seek_penalty))
    found = windows_drive.drive_info(FOLDER, fake)
    assert found.kind == kind
    assert found.removable == (kind == "usb")


def test_network_and_refused_volumes_are_not_opened() -> None:
    fake = kernel(REMOTE)
    assert windows_drive.drive_info(FOLDER, fake).kind == "network"
    assert "CreateFileW" not in [name for name, _ in fake.calls]
    for refused in (
        kernel(REMOVABLE, CreateFileW=ctypes.c_void_p(-1).value),
        kernel(REMOVABLE, GetVolumeNameForVolumeMountPointW=0),
    ):
        found = windows_drive.drive_info(FOLDER, refused)
        assert (found.kind, found.removable) == ("unknown", True)
        assert "CloseHandle" not in [name for name, _ in refused.calls]


def test_the_handle_is_closed_when_a_query_fails() -> None:
    fake = kernel(DeviceIoControl=0)
    assert windows_drive.drive_info(FOLDER, fake).kind == "unknown"
    assert fake.calls[-1] == ("CloseHandle", (88,))


def test_offsets_are_those_of_the_windows_headers() -> None:
    assert windows_drive.DeviceDescriptor.BusType.offset == 28
    assert windows_drive.SeekPenaltyDescriptor.IncursSeekPenalty.offset == 8
    assert ctypes.sizeof(windows_drive.PropertyQuery) == 12
