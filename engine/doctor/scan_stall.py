"""How long a scanner holds up the first opening of a new expert file: measured, not guessed.

Writes one file where expert files lie, one folder below the models folder, with their ending, so
that an exclusion counts for it; opens it twice; removes it. Any thread, for some seconds.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.container.files import storage_errors
from engine.stop import StopFlag

FILE_BYTES = 64 << 20
PIECE = 4 << 20
NOTICEABLE_S = 0.25


@dataclass(frozen=True)
class ScanStall:
    """Seconds from the wish to open a file to its first bytes: when it is new, and once more."""

    first_s: float
    again_s: float

    @property
    def noticeable(self) -> bool:
        """Whether somebody holds new files up."""
        return self.first_s - self.again_s > NOTICEABLE_S


def seconds_to_open(path: Path) -> float:
    """Time until the first bytes of a file are there."""
    begin = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        file.read(4096)
    return time.perf_counter() - begin


def measure_stall(
    models: Path,
    stop: StopFlag,
    opened: Callable[[Path], float] = seconds_to_open,
    size: int = FILE_BYTES,
) -> ScanStall:
    """Measure under `models`. Raises StorageError and Stopped."""
    with storage_errors(models):
        models.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".edge0-scan-", dir=models) as folder:
            file = Path(folder) / "probe.moex"
            with open(file, "wb", buffering=0) as writing:
                for _ in range(max(1, size // PIECE)):
                    stop.check()
                    writing.write(os.urandom(PIECE))
            return ScanStall(opened(file), opened(file))
