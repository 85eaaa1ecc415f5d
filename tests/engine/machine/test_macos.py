"""macOS calls against fakes that record them exactly."""

from __future__ import annotations

import ctypes
import os
import plistlib
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.machine import macos
from engine.machine.samples import DriveInfo, ProcessIO
from tests.helpers.fake_dll import FakeDll, fill

MB = 1 << 20


def usage() -> FakeDll:
    return FakeDll(
        proc_pid_rusage=fill(
            ri_phys_footprint=300 * MB,
            ri_resident_size=450 * MB,
            ri_diskio_bytesread=11,
            ri_diskio_byteswritten=7,
        )
    )


def test_the_footprint_is_the_working_set() -> None:
    fake = usage()
    found = macos.process_memory(fake)
    assert (found.working_set, found.committed, found.anon) == (300 * MB,) * 3
    assert found.file_resident == 150 * MB
    assert found.virtual > 0 and found.minor_faults > 0
    assert fake.calls == [("proc_pid_rusage", (os.getpid(), 2, "&"))]
    assert macos.resident_and_committed(usage()) == (300 * MB, 300 * MB)


def test_disk_bytes_come_from_the_block_layer() -> None:
    assert macos.process_io(usage()) == ProcessIO(11, 7, "block")


def test_the_structure_is_that_of_sys_resource_h() -> None:
    assert macos.RusageInfo.ri_phys_footprint.offset == 72
    assert macos.RusageInfo.ri_diskio_bytesread.offset == 144
    assert ctypes.sizeof(macos.RusageInfo) == 160


def sysctl(values: dict[bytes, Any]) -> FakeDll:
    def answer(name: bytes, target: Any, size: Any, new: None, length: int) -> int:
        assert (new, length) == (None, 0)
        if name not in values:
            return -1
        getattr(target, "_obj", target).value = values[name]
        return 0

    return FakeDll(sysctlbyname=answer)


def test_performance_cores() -> None:
    silicon = {b"hw.perflevel0.physicalcpu": 4, b"hw.physicalcpu": 8}
    assert macos.performance_cores(sysctl(silicon)) == 4
    assert macos.performance_cores(sysctl({b"hw.physicalcpu": 6})) == 6
    assert macos.performance_cores(sysctl({})) >= 1
    assert macos.cpu_name(sysctl({b"machdep.cpu.brand_string": b"Apple M3"})) == "Apple M3"
    assert macos.cpu_name(sysctl({})) == ""


@pytest.mark.parametrize(
    ("info", "kind", "removable"),
    [
        ({"BusProtocol": "Apple Fabric", "SolidState": True}, "nvme", False),
        ({"BusProtocol": "PCI-Express", "SolidState": True}, "nvme", False),
        ({"BusProtocol": "SATA", "SolidState": True}, "sata_ssd", False),
        ({"BusProtocol": "SATA", "SolidState": False}, "hdd", False),
        ({"BusProtocol": "USB", "SolidState": True}, "usb", True),
        ({"BusProtocol": "Disk Image"}, "virtual", False),
        ({"BusProtocol": "Thunderbolt", "Ejectable": True}, "unknown", True),
        ({"FilesystemType": "smbfs"}, "network", False),
    ],
)
def test_diskutil_answers(info: dict[str, Any], kind: str, removable: bool) -> None:
    asked: list[Path] = []

    def ask(folder: Path) -> bytes:
        asked.append(folder)
        return plistlib.dumps({"DeviceIdentifier": "disk3s1", **info})

    found = macos.drive_info(Path("/tmp/模型"), ask)
    assert (found.kind, found.removable) == (kind, removable)
    assert os.path.ismount(asked[0])


@pytest.mark.parametrize("failure", [OSError("no diskutil"), subprocess.TimeoutExpired("x", 10)])
def test_a_silent_diskutil_is_unknown(failure: Exception) -> None:
    def ask(_: Path) -> bytes:
        raise failure

    assert macos.drive_info(Path("/"), ask) == DriveInfo()
    assert macos.drive_info(Path("/"), lambda _: b"not a plist") == DriveInfo()
