"""Checks of the place models are kept in: room, rights, drive, and whether something syncs it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.container.files import storage_error
from engine.doctor.findings import Finding, Status
from engine.machine.disk import drive_info
from engine.machine.samples import DriveInfo, DriveKind
from engine.store.probe import ProbeResult
from engine.text import Text, gb, joined

LITTLE_SPACE = 20_000_000_000  # about one 30B model as nf4
NO_SPACE = 1_000_000_000
SATA_CLASS_MB_S = 600.0
HDD_CLASS_MB_S = 150.0
HOT_C = 70.0

_KINDS: dict[DriveKind, str] = {
    "nvme": Text("an NVMe SSD"),
    "sata_ssd": Text("a SATA SSD"),
    "hdd": Text("a hard disk"),
    "usb": Text("a USB drive or memory card"),
    "network": Text("a network drive"),
    "virtual": Text("a virtual drive"),
    "unknown": Text("a drive that does not say what it is"),
}
_SLOW: dict[DriveKind, str] = {
    "sata_ssd": Text(
        "It reads about a tenth as fast as NVMe: keep models that do not fit into"
        " memory on an NVMe SSD."
    ),
    "hdd": Text(
        "Far too slow for streaming experts: the first reply can take minutes. Move"
        " the models to an NVMe SSD."
    ),
    "usb": Text(
        "Usually too slow for streaming experts, and it may be unplugged. Move the"
        " models to the built-in SSD."
    ),
    "network": Text("Every token would wait for the network. Move the models to a local SSD."),
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
        advice = Text(
            "Choose another folder for models. On Windows, 'Controlled folder access' blocks"
            " programs from writing to Documents and similar folders."
        )
        evidence = storage_error(existing, error).message
        title = Text("The models folder cannot be written")
        return Finding("models-folder", "fail", title, evidence, advice)
    return Finding("models-folder", "ok", Text("Models folder"), str(folder))


def space(drive: DriveInfo, folder: Path) -> Finding:
    """Whether another model fits."""
    evidence = Text("{0} free for {1}.", gb(drive.free_bytes), folder)
    if drive.free_bytes < LITTLE_SPACE:
        status: Status = "fail" if drive.free_bytes < NO_SPACE else "warn"
        advice = Text("A 30B model takes about 18 GB after conversion: free some space first.")
        return Finding("disk-space", status, Text("Little disk space"), evidence, advice)
    return Finding("disk-space", "ok", Text("Disk space"), evidence)


def kind(drive: DriveInfo, folder: Path) -> Finding:
    """What the drive calls itself."""
    name = f" ({drive.device})" if drive.device else ""
    evidence = Text(
        "{0} is on {1}{2}, {3}.",
        folder,
        _KINDS[drive.kind],
        name,
        drive.filesystem or Text("file system unknown"),
    )
    if drive.filesystem in ("tmpfs", "ramfs"):
        advice = Text(
            "This folder is kept in memory, which the model needs itself. Use a real drive."
        )
        return Finding("drive", "warn", Text("Models are kept in memory"), evidence, advice)
    if drive.kind in _SLOW:
        return Finding("drive", "warn", Text("A slow kind of drive"), evidence, _SLOW[drive.kind])
    if drive.kind == "nvme":
        return Finding("drive", "ok", Text("Drive"), evidence)
    advice = Text("Measure it: edge0 doctor MODEL --probe.")
    return Finding("drive", "info", Text("A drive of unknown speed"), evidence, advice)


def cloud(drive: DriveInfo, folder: Path) -> Finding:
    """A sync service would upload gigabytes, and may replace files by placeholders."""
    evidence = Text("{0} belongs to {1}.", folder, drive.cloud_service)
    advice = Text(
        "Move the models out of it: they would be uploaded, and reading could mean downloading."
    )
    return Finding("cloud-folder", "warn", Text("Models in a synced folder"), evidence, advice)


def removable(drive: DriveInfo, folder: Path) -> Finding:
    """A drive that can go away while a model is open."""
    evidence = Text("{0} is on a removable drive.", folder)
    advice = Text("Do not unplug it while a model is open.")
    return Finding("removable", "info", Text("A removable drive"), evidence, advice)


def temperature(celsius: float) -> Finding:
    """A hot SSD slows itself down."""
    evidence = Text("The drive reports {0} °C.", f"{celsius:.0f}")
    if celsius > HOT_C:
        advice = Text("Let air reach it or add a heat sink; a larger memory budget reads less.")
        return Finding("drive-temperature", "warn", Text("The drive is hot"), evidence, advice)
    return Finding("drive-temperature", "ok", Text("Drive temperature"), evidence)


def measured_drive(result: ProbeResult) -> Finding:
    """What the drive really does, against what streaming needs."""
    best = result.best
    speeds = [Text("{0} MB/s at depth {1}", f"{p.mb_s:.0f}", p.depth) for p in result.points]
    size = result.record_bytes / 1e6
    cached = "" if result.unbuffered else Text(" This file system only reads through its cache.")
    evidence = Text("Random reads of {0} MB: {1}.{2}", f"{size:.1f}", joined(", ", speeds), cached)
    if best.mb_s < HDD_CLASS_MB_S:
        advice = Text("Far too slow for streaming experts: move the model to an NVMe SSD.")
        return Finding("drive-speed", "fail", Text("The drive is very slow"), evidence, advice)
    if best.mb_s < SATA_CLASS_MB_S:
        advice = Text("A budget that holds more experts, or an NVMe SSD, will help most.")
        return Finding(
            "drive-speed", "warn", Text("The drive is as slow as SATA"), evidence, advice
        )
    advice = Text(
        "The first reply after a start still reads cold files: edge0 warm reads them ahead."
    )
    return Finding("drive-speed", "ok", Text("The drive is fast enough"), evidence, advice)
