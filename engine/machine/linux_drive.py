"""Which drive a Linux folder is on: /proc/self/mountinfo for the file system, /sys for the device.

Sources: man 5 proc (mountinfo), kernel docs ABI/stable/sysfs-block. Reads only; any thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.machine.cgroup import unescape
from engine.machine.kernel_file import text_of
from engine.machine.samples import DriveInfo, DriveKind

MOUNTINFO = Path("/proc/self/mountinfo")
SYS = Path("/sys")

_NETWORK = ("nfs", "cifs", "smb", "ceph", "glusterfs", "afs", "fuse.sshfs", "fuse.rclone", "davfs")
_NETWORK_DISKS = ("nbd", "rbd", "drbd")
_VIRTUAL_DISKS = ("vd", "xvd", "loop", "ram", "zram", "pmem")
_VIRTUAL_VENDORS = ("QEMU", "VMware", "Msft", "VBOX", "Google", "Amazon")
_SLOWEST_FIRST: tuple[DriveKind, ...] = (
    "network", "hdd", "usb", "unknown", "virtual", "sata_ssd", "nvme",
)  # fmt: skip


@dataclass(frozen=True)
class _Mount:
    device: str  # "259:2"
    filesystem: str
    source: str


def drive_info(folder: Path, mountinfo: Path = MOUNTINFO, sys: Path = SYS) -> DriveInfo:
    """The drive under `folder`, without its free space. Several disks (RAID): the slowest kind."""
    mount = _mount_of(folder, mountinfo.read_text(encoding="utf-8", errors="replace"))
    if mount is None:
        return DriveInfo()
    if mount.filesystem.startswith(_NETWORK):
        return DriveInfo("network", mount.filesystem, mount.source)
    if mount.filesystem in ("tmpfs", "ramfs"):
        return DriveInfo("virtual", mount.filesystem, mount.source)
    disks = list(_disks(_block_device(mount, sys)))
    if not disks:
        return DriveInfo("unknown", mount.filesystem, mount.source)
    kinds = [_kind(disk) for disk in disks]
    return DriveInfo(
        kind=min(kinds, key=_SLOWEST_FIRST.index),
        filesystem=mount.filesystem,
        device=" ".join(disk.name for disk in disks),
        removable=any(text_of(disk / "removable") == "1" for disk in disks) or "usb" in kinds,
        temperature_c=max((t for disk in disks if (t := _temperature(disk))), default=None),
    )


def _mount_of(folder: Path, mountinfo: str) -> _Mount | None:
    """The mount with the longest matching path; of equal ones the last, which covers the others."""
    best: tuple[int, _Mount | None] = (-1, None)
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, tail = before.split(), after.split()
        if len(fields) < 5 or len(tail) < 2:
            continue
        point = Path(unescape(fields[4]))
        if folder.is_relative_to(point) and len(point.parts) >= best[0]:
            best = (len(point.parts), _Mount(fields[2], tail[0], unescape(tail[1])))
    return best[1]


def _block_device(mount: _Mount, sys: Path) -> Path:
    """The device's folder in /sys; btrfs shows an invented number, so go by its source's name."""
    if mount.device.startswith("0:") and mount.source.startswith("/dev/"):
        return sys / "class" / "block" / Path(os.path.realpath(mount.source)).name
    return sys / "dev" / "block" / mount.device


def _disks(link: Path) -> Iterator[Path]:
    """Whole disks under a block device: out of a partition, down through dm and md layers."""
    if not link.exists():
        return
    device = link.resolve()
    if (device / "partition").exists():
        device = device.parent
    slaves = sorted((device / "slaves").iterdir()) if (device / "slaves").is_dir() else []
    if not slaves:
        yield device
    for slave in slaves:
        yield from _disks(slave)


def _kind(disk: Path) -> DriveKind:
    name = disk.name
    if name.startswith("nvme"):
        return "nvme"
    if any(part.startswith("usb") for part in disk.parts):
        return "usb"
    if name.startswith(_NETWORK_DISKS):
        return "network"
    vendor = text_of(disk / "device" / "vendor")
    if name.startswith(_VIRTUAL_DISKS) or vendor.startswith(_VIRTUAL_VENDORS):
        return "virtual"
    if not name.startswith("sd"):
        return "unknown"  # eMMC and what we have never met: measure
    rotational = text_of(disk / "queue" / "rotational")
    kinds: dict[str, DriveKind] = {"1": "hdd", "0": "sata_ssd"}
    return kinds.get(rotational, "unknown")


def _temperature(disk: Path) -> float | None:
    """Degrees Celsius from the kernel's own sensor (nvme, drivetemp); needs no special rights."""
    places = (
        disk.parent.glob("hwmon*/temp1_input"),
        disk.parent.glob("nvme*/hwmon*/temp1_input"),
        disk.glob("device/hwmon/hwmon*/temp1_input"),
    )
    for place in places:
        for sensor in place:
            text = text_of(sensor)
            if text.lstrip("-").isdigit():
                return int(text) / 1000
    return None
