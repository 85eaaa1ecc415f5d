"""A download that kills itself without warning once so many bytes came in (run as a program).

Arguments: a pickled (plan, policy), target, bytes, connections. It dies inside a worker thread,
between two pieces or in the middle of noting one.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path

from engine.hub import worker
from engine.hub.board import Board
from engine.hub.download import download
from engine.hub.part import Claim


class DyingBoard(Board):
    """Counts what arrives."""

    left = 0

    def arrived(self, claim: Claim, count: int, step: int) -> None:
        DyingBoard.left -= count
        if DyingBoard.left <= 0 and DyingBoard.left % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        super().arrived(claim, count, step)
        if DyingBoard.left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def main(order: str, target: str, limit: int, connections: int) -> None:
    from engine.hub import download as module

    worker.PIECE = 10_000
    DyingBoard.left = limit
    module.Board = DyingBoard  # type: ignore[misc]
    plan, policy = pickle.loads(Path(order).read_bytes())
    download(plan, Path(target), connections=connections, policy=policy)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
