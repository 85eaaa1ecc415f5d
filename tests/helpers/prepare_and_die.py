"""A conversion that kills itself without warning once `bytes` are written (run as a program).

Arguments: source, target, bytes. It syncs after every few items, so that there is work to keep.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from engine.container import writer
from engine.events import Progress
from engine.prepare.prepare import prepare


def main(source: str, target: str, limit: int) -> None:
    writer.SYNC_BYTES = 20_000

    def report(progress: Progress) -> None:
        if progress.what != "planning" and progress.done >= limit:
            os.kill(os.getpid(), signal.SIGKILL)

    prepare(Path(source), Path(target), "nf4", report)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
