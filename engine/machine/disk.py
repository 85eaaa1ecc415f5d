"""Drives and disk traffic, the same on every system. Any thread; holds nothing."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from engine.machine.samples import DiskCounters, DriveInfo, DriveKind, ProcessIO
from engine.text import Text

if sys.platform == "win32":
    from engine.machine import windows as system
    from engine.machine.windows_drive import drive_info as system_drive
elif sys.platform == "darwin":
    from engine.machine import macos as system
    from engine.machine.macos import drive_info as system_drive
else:
    from engine.machine import linux as system
    from engine.machine.linux_drive import drive_info as system_drive

__all__ = [
    "DiskCounters",
    "DriveInfo",
    "DriveKind",
    "ProcessIO",
    "cloud_service",
    "drive_info",
    "folder_bytes",
    "process_io_now",
    "system_disk_now",
]

# Folder names sync services use, by how they start, in lower case.
_CLOUD_FOLDERS = {
    "onedrive": "OneDrive",
    "dropbox": "Dropbox",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "icloud": "iCloud",
    "mobile documents": "iCloud",
    "cloudstorage": Text("a cloud drive"),
    "nextcloud": "Nextcloud",
    "owncloud": "ownCloud",
    "nutstore": "Nutstore",
    "坚果云": "Nutstore",
    "baidunetdisk": "Baidu Netdisk",
    "baidusyncdisk": "Baidu Netdisk",
}
_ONEDRIVE_VARIABLES = ("OneDrive", "OneDriveConsumer", "OneDriveCommercial")  # set by Windows


def process_io_now() -> ProcessIO:
    """Bytes this process read and wrote so far; the record says where they were counted."""
    return system.process_io()


def system_disk_now() -> DiskCounters | None:
    """Traffic of all drives together; None where the system keeps no count."""
    counters = psutil.disk_io_counters()
    if counters is None:
        return None
    return DiskCounters(counters.read_bytes, counters.write_bytes, counters.read_count)


def drive_info(folder: Path) -> DriveInfo:
    """The drive under `folder`, which need not exist yet. Never raises: unknown is an answer."""
    existing = _existing(folder)
    try:
        drive = system_drive(existing)
    except OSError:
        drive = DriveInfo()
    try:
        usage = shutil.disk_usage(existing)
    except OSError:
        return replace(drive, cloud_service=cloud_service(existing))
    service = cloud_service(existing)
    return replace(drive, free_bytes=usage.free, total_bytes=usage.total, cloud_service=service)


def cloud_service(folder: Path, environ: Mapping[str, str] = os.environ) -> str:
    """Name of the service that syncs `folder`, by its folder names and Windows' variables."""
    for name in _ONEDRIVE_VARIABLES:
        root = environ.get(name)
        if root and folder.is_relative_to(root):
            return "OneDrive"
    for part in folder.parts:
        for start, service in _CLOUD_FOLDERS.items():
            if part.lower().startswith(start):
                return service
    return ""


def folder_bytes(folder: Path, pattern: str = "*") -> int:
    """Bytes that a folder's files take on the drive: they may have holes, or vanish meanwhile."""
    total = 0
    with suppress(OSError):
        for path in folder.glob(pattern):
            total += _file_bytes(path)
    return total


def _file_bytes(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0
    if not stat.S_ISREG(status.st_mode):
        return 0
    blocks = getattr(status, "st_blocks", None)  # Windows tells none
    return status.st_size if blocks is None else min(status.st_size, blocks * 512)


def _existing(folder: Path) -> Path:
    """`folder` with links followed, or the nearest folder above it that exists."""
    folder = Path(os.path.realpath(folder))
    return next((p for p in (folder, *folder.parents) if p.exists()), folder)
