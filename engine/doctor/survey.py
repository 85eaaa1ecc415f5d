"""What the setup wizard asks about a machine and a folder: memory, processor, drive, real speeds.

Any thread; only `measure` works for longer than a moment. It writes one test file into the folder
and removes it again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.container.files import storage_errors
from engine.doctor import drive_checks
from engine.errors import Edge0Error, StorageError
from engine.events import Progress
from engine.hub.speed import MachineSpeed
from engine.kernels.native import instruction_set
from engine.kernels.speed import measure_kernels
from engine.machine.cpu import cpu_info
from engine.machine.disk import drive_info
from engine.machine.gpu import gpu_info
from engine.machine.memory import system_memory
from engine.machine.samples import CpuInfo, DriveInfo, GpuInfo, SystemMemory
from engine.stop import StopFlag
from engine.store.probe import probe_reads
from engine.text import Text

TEST_FILE_BYTES = 256 << 20  # more than a drive's own cache serves for 3 seconds
RECORD_BYTES = 2_654_208  # an expert of Qwen3-30B-A3B as nf4
FAT_FILE_BYTES = (4 << 30) - 1
PIECE = 1 << 22
SPARE_BYTES = 1 << 30  # never fill the drive for a measurement

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Survey:
    """isa: "" when the kernels cannot run, then `kernel_problem` says why.

    not_writable: why nothing can be stored in the folder, or "". file_limit: bytes, None: no limit
    that matters.
    """

    folder: Path
    memory: SystemMemory
    cpu: CpuInfo
    drive: DriveInfo
    isa: str = ""
    kernel_problem: str = ""
    not_writable: str = ""
    file_limit: int | None = None
    gpus: tuple[GpuInfo, ...] = ()


@dataclass(frozen=True)
class Measured:
    """Speeds of the machine. unbuffered False: a cache may have helped the drive."""

    speed: MachineSpeed
    unbuffered: bool
    depth: int


def survey(folder: Path) -> Survey:
    """Read what the machine says about itself; never raises."""
    drive = drive_info(folder)
    writable = drive_checks.writable(folder)
    isa, problem = "", ""
    try:
        isa = instruction_set()
    except Edge0Error as error:
        problem = str(error)
    return Survey(
        folder,
        system_memory(),
        cpu_info(),
        drive,
        isa,
        problem,
        writable.evidence if writable.status == "fail" else "",
        file_limit(drive.filesystem),
        gpu_info(),
    )


def file_limit(filesystem: str) -> int | None:
    """The largest file of a file system where it is small."""
    name = filesystem.lower()
    return FAT_FILE_BYTES if name in ("vfat", "fat", "fat32", "fat16", "msdos") else None


def measure(
    folder: Path,
    stop: StopFlag,
    progress: OnProgress = lambda _: None,
    seconds: float = 3.0,
    test_bytes: int = TEST_FILE_BYTES,
) -> Measured:
    """Measure the kernels and the drive under `folder`. Raises StorageError and Stopped."""
    progress(Progress(0, 3, Text("Measuring the processor…")))
    kernels = measure_kernels(min(0.6, seconds))
    stop.check()
    progress(Progress(1, 3, Text("Writing a test file…")))
    existing = next((p for p in (folder, *folder.parents) if p.is_dir()), folder)
    if drive_info(existing).free_bytes < test_bytes + SPARE_BYTES:
        raise StorageError(
            Text("There is too little room in {0} to measure the drive.", existing),
            Text("Free some space."),
        )
    with storage_errors(existing), tempfile.TemporaryDirectory(".edge0-probe", dir=existing) as at:
        file = Path(at) / "probe"
        _write(file, test_bytes, stop)
        progress(Progress(2, 3, Text("Reading it in random places, past every cache…")))
        result = probe_reads([file], RECORD_BYTES, seconds, stop=stop)
    progress(Progress(3, 3, ""))
    speed = MachineSpeed(
        kernels.weights_gb_s,
        kernels.batch_gops,
        result.best.mb_s,
        system_memory().available,
        kernels.small_weights_gb_s,
    )
    return Measured(speed, result.unbuffered, result.best.depth)


def _write(path: Path, size: int, stop: StopFlag) -> None:
    """Random bytes: some drives compress or leave out zeros."""
    piece = os.urandom(PIECE)
    with open(path, "wb", buffering=0) as file:
        for _ in range(max(1, size // PIECE)):
            stop.check()
            file.write(piece)
        os.fsync(file.fileno())
