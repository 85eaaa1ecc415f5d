"""Which drive a Windows folder is on, asked without administrator rights. Any thread.

The volume is opened with access 0, which allows property queries only. Sources: learn.microsoft.com
fileapi (GetVolumePathNameW, GetVolumeInformationW, CreateFileW), winioctl
(IOCTL_STORAGE_QUERY_PROPERTY, STORAGE_DEVICE_DESCRIPTOR, DEVICE_SEEK_PENALTY_DESCRIPTOR).
"""

from __future__ import annotations

import ctypes
from ctypes import c_uint8, c_uint32, c_void_p
from pathlib import Path
from typing import Any

from engine.machine.samples import DriveInfo, DriveKind
from engine.machine.windows import kernel32

_PATH_CHARS = 1024
_DRIVE_REMOVABLE, _DRIVE_REMOTE, _DRIVE_RAMDISK = 2, 4, 6  # GetDriveTypeW
_SHARE_ALL = 7  # FILE_SHARE_READ | WRITE | DELETE
_OPEN_EXISTING = 3
_QUERY_PROPERTY = 0x2D1400  # IOCTL_STORAGE_QUERY_PROPERTY
_DEVICE_PROPERTY, _SEEK_PENALTY_PROPERTY = 0, 7
_INVALID_HANDLE = c_void_p(-1).value

# STORAGE_BUS_TYPE. RAID (8) hides NVMe behind Intel VMD/RST, so it stays unknown: measure.
_BUS_KINDS: dict[int, DriveKind] = {
    4: "usb", 7: "usb", 12: "usb", 13: "usb",  # FireWire, USB, SD and MMC cards
    9: "network", 14: "virtual", 15: "virtual", 17: "nvme",
}  # fmt: skip
_SEEKING_BUSES = (1, 2, 3, 8, 10, 11)  # SCSI, ATAPI, ATA, RAID, SAS, SATA


class PropertyQuery(ctypes.Structure):
    """STORAGE_PROPERTY_QUERY."""

    _fields_ = (("PropertyId", c_uint32), ("QueryType", c_uint32), ("Additional", c_uint8 * 4))


class DeviceDescriptor(ctypes.Structure):
    """STORAGE_DEVICE_DESCRIPTOR."""

    _fields_ = (
        ("Version", c_uint32),
        ("Size", c_uint32),
        ("DeviceType", c_uint8),
        ("DeviceTypeModifier", c_uint8),
        ("RemovableMedia", c_uint8),
        ("CommandQueueing", c_uint8),
        ("VendorIdOffset", c_uint32),
        ("ProductIdOffset", c_uint32),
        ("ProductRevisionOffset", c_uint32),
        ("SerialNumberOffset", c_uint32),
        ("BusType", c_uint32),
        ("RawPropertiesLength", c_uint32),
        ("RawDeviceProperties", c_uint8 * 1),
    )


class SeekPenaltyDescriptor(ctypes.Structure):
    """DEVICE_SEEK_PENALTY_DESCRIPTOR."""

    _fields_ = (("Version", c_uint32), ("Size", c_uint32), ("IncursSeekPenalty", c_uint8))


def drive_info(folder: Path, kernel: Any = None) -> DriveInfo:
    """The drive under `folder`, without its free space."""
    kernel = kernel or kernel32()
    root = _volume_root(kernel, folder)
    filesystem, kind = _filesystem(kernel, root), int(kernel.GetDriveTypeW(root))
    if kind == _DRIVE_REMOTE:
        return DriveInfo("network", filesystem, root)
    if kind == _DRIVE_RAMDISK:
        return DriveInfo("virtual", filesystem, root)
    return _device(kernel, root, filesystem, kind == _DRIVE_REMOVABLE)


def _device(kernel: Any, root: str, filesystem: str, removable: bool) -> DriveInfo:
    handle = _open_volume(kernel, root)
    if handle is None:
        return DriveInfo("unknown", filesystem, root, removable=removable)
    try:
        device, seek = DeviceDescriptor(), SeekPenaltyDescriptor()
        known = _query(kernel, handle, _DEVICE_PROPERTY, device)
        seek_known = _query(kernel, handle, _SEEK_PENALTY_PROPERTY, seek)
    finally:
        kernel.CloseHandle(handle)
    penalty = bool(seek.IncursSeekPenalty) if seek_known else None
    found = _kind(int(device.BusType), penalty) if known else "unknown"
    loose = removable or bool(device.RemovableMedia) or found == "usb"
    return DriveInfo(found, filesystem, root, removable=loose)


def _kind(bus: int, seek_penalty: bool | None) -> DriveKind:
    if bus in _BUS_KINDS:
        return _BUS_KINDS[bus]
    if seek_penalty and bus in _SEEKING_BUSES:
        return "hdd"
    return "sata_ssd" if seek_penalty is False and bus in (3, 10, 11) else "unknown"


def _volume_root(kernel: Any, folder: Path) -> str:
    buffer = ctypes.create_unicode_buffer(_PATH_CHARS)
    found = kernel.GetVolumePathNameW(str(folder), buffer, c_uint32(_PATH_CHARS))
    return buffer.value if found else folder.anchor


def _filesystem(kernel: Any, root: str) -> str:
    name = ctypes.create_unicode_buffer(64)
    call = kernel.GetVolumeInformationW
    return name.value if call(root, None, c_uint32(0), None, None, None, name, c_uint32(64)) else ""


def _open_volume(kernel: Any, root: str) -> c_void_p | None:
    guid = ctypes.create_unicode_buffer(64)
    if not kernel.GetVolumeNameForVolumeMountPointW(root, guid, c_uint32(64)):
        return None
    create = kernel.CreateFileW
    create.restype = c_void_p
    volume = guid.value.rstrip("\\")  # with the backslash it would be the root folder
    handle = create(volume, c_uint32(0), c_uint32(_SHARE_ALL), None, _OPEN_EXISTING, 0, None)
    return None if handle in (None, _INVALID_HANDLE) else c_void_p(handle)


def _query(kernel: Any, handle: c_void_p, prop: int, answer: ctypes.Structure) -> bool:
    query, returned = PropertyQuery(PropertyId=prop), c_uint32()
    out, size = ctypes.byref(answer), c_uint32(ctypes.sizeof(answer))
    asked = (ctypes.byref(query), c_uint32(ctypes.sizeof(query)))
    control = kernel.DeviceIoControl
    return bool(
        control(handle, c_uint32(_QUERY_PROPERTY), *asked, out, size, ctypes.byref(returned), None)
    )
