"""Hashes files while they arrive, in the order of the plan, and gives the right ones their names.

One thread; reads the part behind the workers, so the bytes come from the page cache. A wrong hash
throws the file away. Memory: one piece.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from engine.container.files import storage_errors, sync_folder
from engine.errors import Stopped
from engine.hub.board import Board
from engine.hub.marker import note_verified
from engine.hub.part import Part
from engine.hub.plan import RemoteFile

PIECE = 1 << 20
RENAME_TRIES, RENAME_WAIT_S = 20, 0.1  # a virus scanner may hold a new file for a moment


class Verifier(threading.Thread):
    """Verifies every part of a board."""

    def __init__(self, board: Board) -> None:
        super().__init__(name="edge0-verify", daemon=True)
        self._board = board

    def run(self) -> None:
        """Until all parts have their names, or the download ends."""
        try:
            for part in self._board.parts:
                while not part.finished and not self._board.closed:
                    self._verify(part)
        except Stopped:
            pass
        except BaseException as error:
            self._board.fail(error)

    def _verify(self, part: Part) -> None:
        generation = part.generation
        digest = new_digest(part.file)
        with storage_errors(part.part_path), open(part.part_path, "rb", buffering=0) as file:
            if not self._hash(part, generation, file, digest.update):
                return
        if not self._board.wait_until_complete(part, generation):
            return
        if digest.hexdigest() == (part.file.sha256 or part.file.git_sha1):
            publish(part)
            self._board.finish(part)
        else:
            self._board.discard(part)

    def _hash(
        self, part: Part, generation: int, file: BinaryIO, update: Callable[[memoryview], None]
    ) -> bool:
        """Follow the bytes as they come; False when the file started anew or the download ended."""
        position, buffer = 0, memoryview(bytearray(PIECE))
        while position < part.file.size:
            prefix = self._board.wait_for_prefix(part, position, generation)
            if prefix < 0:
                return False
            while position < prefix:
                count = file.readinto(buffer[: min(PIECE, prefix - position)])  # type: ignore[attr-defined]
                if self._board.closed:
                    return False
                if not count:  # someone cut the file
                    self._lost(part, generation)
                    return False
                update(buffer[:count])
                position += count
        return True

    def _lost(self, part: Part, generation: int) -> None:
        if part.generation == generation:
            self._board.discard(part)


def new_digest(file: RemoteFile) -> hashlib._Hash:
    """The hash a file is known by: sha256, or git's own of a small file."""
    if file.sha256:
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)


def publish(part: Part) -> None:
    """A verified part becomes the file; its journal goes."""
    with storage_errors(part.path):
        with open(part.part_path, "r+b", buffering=0) as file:
            os.fsync(file.fileno())
        part.close()
        _rename(part)
        sync_folder(part.path.parent)
        note_verified(part.path.parent, part.file)
        if part.journal is not None:
            part.journal.path.unlink(missing_ok=True)


def _rename(part: Part) -> None:
    for _ in range(RENAME_TRIES):
        with suppress(PermissionError):
            os.replace(part.part_path, part.path)
            return
        time.sleep(RENAME_WAIT_S)
    os.replace(part.part_path, part.path)
