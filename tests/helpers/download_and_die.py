"""Downloads that kill themselves without warning once so many bytes came in (run as a program).

Arguments: a pickled (plan, policy), connections. For each line on stdin, `bytes target`, a child is
forked that dies inside a worker thread, between two pieces or in the middle of noting one; its exit
code (-9: killed) is printed.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path

from engine.hub import download as module
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


def main(order: str, connections: int) -> None:
    worker.PIECE = 10_000
    module.Board = DyingBoard  # type: ignore[misc]
    plan, policy = pickle.loads(Path(order).read_bytes())
    for line in sys.stdin:
        limit, target = line.rstrip("\n").split(" ", 1)
        child = os.fork()  # the parent has no threads, and everything is imported: quick
        if not child:
            DyingBoard.left = int(limit)
            download(plan, Path(target), connections=connections, policy=policy)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
