"""A compaction that kills itself without warning (run as a program).

Arguments: folder, moment. The moment is a number of bytes, or the name of a file whose arrival by
os.replace is the last thing that happens.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from engine.container import writer
from engine.container.reader import read_manifest
from engine.events import Progress
from engine.prepare.compact import compact


def main(folder: str, moment: str) -> None:
    writer.SYNC_BYTES = 20_000
    replace = os.replace

    def report(progress: Progress) -> None:
        if moment.isdigit() and progress.done >= int(moment):
            os.kill(os.getpid(), signal.SIGKILL)

    def replace_and_die(source: Any, target: Any) -> None:
        replace(source, target)
        if Path(target).name == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace_and_die
    compact(Path(folder), rising(Path(folder)), report)


def rising(folder: Path) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Counts that turn every layer's order around."""
    shape = read_manifest(folder).shape
    return np.tile(np.arange(shape.experts, dtype=np.int64), (shape.layers, 1))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
