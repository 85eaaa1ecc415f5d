"""Checks of the place models are kept in: room, rights, drive, and whether something syncs it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.doctor.findings import Finding, Status, gb
from engine.machine.disk import drive_info
from engine.machine.samples import DriveInfo, DriveKind
from engine.store.probe import ProbeResult

LITTLE_SPACE = 20_000_000_000  # about one 30B model as nf4
NO_SPACE = 1_000_000_000
SATA_CLASS_MB_S = 600.0
HDD_CLASS_MB_S = 150.0
HOT_C = 70.0

_KINDS: dict[DriveKind, str] = {
    "nvme": "an NVMe SSD",
    "sata_ssd": "a SATA SSD",
    "hdd": "a hard disk",
    "usb": "a USB drive or memory card",
    "network": "a network drive",
    "virtual": "a virtual drive",
    "unknown": "a drive that does not say what it is",
}
_SLOW: dict[DriveKind, str] = {
    "sata_ssd": "It reads about a tenth as fast as NVMe: keep models that do not fit into memory on"
    " an NVMe SSD.",
    "hdd": "Far too slow for streaming experts: the first reply can take minutes. Move the models"
    " to an NVMe SSD.",
    "usb": "Usually too slow for streaming experts, and it may be unplugged. Move the models to the"
    " built-in SSD.",
    "network": "Every token would wait for the network. Move the models to a local SSD.",
}


def check_folder(folder: Path) -> Iterator[Finding]:
    """Every check of the folder models are kept in."""
    yield writable(folder)
    yield space(drive_info(folder), folder)
    yield from check_place(folder)


def check_place(folder: Path) -> Iterator[Finding]:
    """Every check of the drive under a folder."""
    drive = drive_info(folder)
    yield kind(drive, folder)
    if drive.cloud_synced:
        yield cloud(drive, folder)
    if drive.removable and drive.kind != "usb":
        yield removable(drive, folder)
    if drive.temperature_c is not None:
        yield temperature(drive.temperature_c)


def writable(folder: Path) -> Finding:
    """Whether a model could be stored here; tried with a file that is gone at once."""
    existing = next((p for p in (folder, *folder.parents) if p.is_dir()), folder)
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        advice = "Choose another folder for models. On Windows, 'Controlled folder access' blocks"
        advice += " programs from writing to Documents and similar folders."
        evidence = f"{existing}: {reason}."
        title = "The models folder cannot be written"
        return Finding("models-folder", "fail", title, evidence, advice)
    return Finding("models-folder", "ok", "Models folder", str(folder))


def space(drive: DriveInfo, folder: Path) -> Finding:
    """Whether another model fits."""
    evidence = f"{gb(drive.free_bytes)} free for {folder}."
    if drive.free_bytes < LITTLE_SPACE:
        status: Status = "fail" if drive.free_bytes < NO_SPACE else "warn"
        advice = "A 30B model takes about 17 GB after conversion: free some space first."
        return Finding("disk-space", status, "Little disk space", evidence, advice)
    return Finding("disk-space", "ok", "Disk space", evidence)


def kind(drive: DriveInfo, folder: Path) -> Finding:
    """What the drive calls itself."""
    name = f" ({drive.device})" if drive.device else ""
    evidence = (
        f"{folder} is on {_KINDS[drive.kind]}{name}, {drive.filesystem or 'file system unknown'}."
    )
    if drive.filesystem in ("tmpfs", "ramfs"):
        advice = "This folder is kept in memory, which the model needs itself. Use a real drive."
        return Finding("drive", "warn", "Models are kept in memory", evidence, advice)
    if drive.kind in _SLOW:
        return Finding("drive", "warn", "A slow kind of drive", evidence, _SLOW[drive.kind])
    if drive.kind == "nvme":
        return Finding("drive", "ok", "Drive", evidence)
    advice = "Measure it: edge0 doctor MODEL --probe."
    return Finding("drive", "info", "A drive of unknown speed", evidence, advice)


def cloud(drive: DriveInfo, folder: Path) -> Finding:
    """A sync service would upload gigabytes, and may replace files by placeholders."""
    evidence = f"{folder} belongs to {drive.cloud_service}."
    advice = (
        "Move the models out of it: they would be uploaded, and reading could mean downloading."
    )
    return Finding("cloud-folder", "warn", "Models in a synced folder", evidence, advice)


def removable(drive: DriveInfo, folder: Path) -> Finding:
    """A drive that can go away while a model is open."""
    evidence = f"{folder} is on a removable drive."
    advice = "Do not unplug it while a model is open."
    return Finding("removable", "info", "A removable drive", evidence, advice)


def temperature(celsius: float) -> Finding:
    """A hot SSD slows itself down."""
    evidence = f"The drive reports {celsius:.0f} °C."
    if celsius > HOT_C:
        advice = "Let air reach it or add a heat sink; a larger memory budget reads less."
        return Finding("drive-temperature", "warn", "The drive is hot", evidence, advice)
    return Finding("drive-temperature", "ok", "Drive temperature", evidence)


def measured_drive(result: ProbeResult) -> Finding:
    """What the drive really does, against what streaming needs."""
    best = result.best
    depths = ", ".join(f"{p.mb_s:.0f} MB/s at depth {p.depth}" for p in result.points)
    size = result.record_bytes / 1e6
    cached = "" if result.unbuffered else " This file system only reads through its cache."
    evidence = f"Random reads of {size:.1f} MB: {depths}.{cached}"
    if best.mb_s < HDD_CLASS_MB_S:
        advice = "Far too slow for streaming experts: move the model to an NVMe SSD."
        return Finding("drive-speed", "fail", "The drive is very slow", evidence, advice)
    if best.mb_s < SATA_CLASS_MB_S:
        advice = "A budget that holds more experts, or an NVMe SSD, will help most."
        return Finding("drive-speed", "warn", "The drive is as slow as SATA", evidence, advice)
    advice = "The first reply after a start still reads cold files: edge0 warm reads them ahead."
    return Finding("drive-speed", "ok", "The drive is fast enough", evidence, advice)
