"""Keeps the KV cache rows of earlier prompts on disk, so that a conversation that comes back need
not be computed again.

A prompt is cut into blocks of 64 tokens. A block is named by a hash of the model and of all ids up
to its end, so conversations share what they begin with, and every row is written once at most.
Saving runs on a thread of its own between two uses of the model: `pause` before anything changes
the KV cache. All else on the thread that runs the model. Memory: one block while one is moved.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from engine.config import Edge0Config
from engine.container.manifest import weights_id
from engine.container.reader import Container
from engine.errors import Edge0Error
from engine.kernels.native import library_digest
from engine.model.families.registry import by_model_type
from engine.model.language_model import KvRows
from engine.model.model import Model
from engine.stop import StopFlag
from engine.store.budget import budget_bytes
from engine.store.snapshot_file import Rows
from engine.store.snapshot_folder import SnapshotFolder

BLOCK = 64  # tokens: a multiple of the KV cache's tiles, so whole blocks are moved in long runs
MIN_NEW_TOKENS = 256  # fewer are not worth writing yet; they are written with what follows
MIN_GAIN = 3.0  # reading must be so many times faster than computing
PATIENCE_S = 0.25  # rows about to be overwritten may be saved to the end for so long
CLOSING_S = 2.0
log = logging.getLogger(__name__)


class Snapshots:
    """The saved prefixes of one open model. identity: of all that decides what its rows hold."""

    def __init__(self, model: KvRows, folder: SnapshotFolder, identity: bytes) -> None:
        self._model = model
        self._folder = folder
        self._identity = identity
        self._block_bytes = BLOCK * model.kv_token_bytes
        self._run: _Run | None = None

    def restore(self, ids: Sequence[int], position: int, stop: StopFlag) -> int:
        """Put the longest saved prefix of `ids` into the KV cache, whose first `position` tokens
        are theirs already; the position reached. Ends early when `stop` is set.
        """
        keys = block_keys(self._identity, ids)
        first = position // BLOCK
        if first >= len(keys) or not self._folder.has(keys[first]):
            return position
        rows = self._rows()
        for block in range(first, len(keys)):
            if stop.is_set() or not self._folder.read(keys[block], rows):
                break
            self._model.import_rows(block * BLOCK, rows)
            position = (block + 1) * BLOCK
        self._folder.used(keys[: position // BLOCK])
        return position

    def save(self, ids: Sequence[int], prefill_tok_s: float | None) -> None:
        """Begin to save the rows of `ids`, which the KV cache begins with, where they are new.

        prefill_tok_s: how fast they could be computed again; None when nobody knows.
        """
        if len(ids) >= MIN_NEW_TOKENS:
            work = partial(self._write, list(ids), prefill_tok_s)
            self._run = _Run(len(ids), work, self._run)

    def pause(self, position: int) -> None:
        """Stop reading the KV cache: its rows from `position` on may change now."""
        if self._run:
            self._run.end(PATIENCE_S if position < self._run.tokens else 0)

    def close(self) -> None:
        """Finish what is being saved, within reason."""
        if self._run:
            self._run.end(CLOSING_S)
            self._run.join()

    def _write(self, ids: list[int], prefill_tok_s: float | None, run: _Run) -> None:
        """Save the blocks that are not on disk while the run may go on. On its thread."""
        size = self._folder.file_bytes(self._block_bytes)
        keys = block_keys(self._identity, ids)[: self._folder.limit // size]
        missing = [block for block, key in enumerate(keys) if not self._folder.has(key)]
        if len(missing) * BLOCK < MIN_NEW_TOKENS or not self._worthwhile(prefill_tok_s):
            return
        self._folder.used(keys)  # what goes to make room must not be of this text
        fitting = self._folder.room(len(missing) * size) // size
        written = 0
        try:
            rows = self._rows()
            for block in missing[: max(fitting, 0)]:
                if not run.step(partial(self._model.export_rows, block * BLOCK, rows)):
                    break
                written += self._folder.write(keys[block], rows)
        finally:
            self._folder.used(keys)
            self._folder.note(written)

    def _worthwhile(self, prefill_tok_s: float | None) -> bool:
        speed = self._folder.read_bytes_s()
        return worth_saving(self._model.kv_token_bytes, speed, prefill_tok_s)

    def _rows(self) -> Rows:
        return np.empty(self._block_bytes, np.uint8)


class _Run:
    """One run of saving, on its own thread, that may be ended at any time."""

    def __init__(self, tokens: int, work: Callable[[_Run], None], before: _Run | None) -> None:
        self.tokens = tokens
        self._over = False
        self._copying = threading.Lock()
        self._thread = threading.Thread(
            target=self._work, args=(work, before), name="edge0-snapshots"
        )
        self._thread.start()

    def step(self, copy: Callable[[], None]) -> bool:
        """Copy rows, unless the run was ended."""
        with self._copying:
            if not self._over:
                copy()
            return not self._over

    def end(self, patience_s: float) -> None:
        """No more copying once this returns; may first wait for the run to come to its end."""
        if patience_s and not self._over:
            self._thread.join(patience_s)
        with self._copying:
            self._over = True

    def join(self) -> None:
        """Wait for the thread, which may still write what it has copied."""
        self._thread.join()

    def _work(self, work: Callable[[_Run], None], before: _Run | None) -> None:
        if before:
            before.join()
        try:
            work(self)
        except (Edge0Error, MemoryError) as error:
            log.info("a conversation's prefix is not saved: %s", error)


def worth_saving(token_bytes: int, read_bytes_s: float, prefill_tok_s: float | None) -> bool:
    """Whether reading a token's rows back takes far less time than computing them again."""
    return read_bytes_s > 0 and token_bytes * (prefill_tok_s or 0) * MIN_GAIN <= read_bytes_s


def block_keys(identity: bytes, ids: Sequence[int]) -> list[bytes]:
    """The name of each whole block: sha256 over the name before it and its ids."""
    data, keys, key = np.asarray(ids, "<i4"), [], identity
    for end in range(BLOCK, len(ids) + 1, BLOCK):
        key = hashlib.sha256(key + data[end - BLOCK : end].tobytes()).digest()
        keys.append(key)
    return keys


def rows_identity(container: Container, config: Edge0Config, isa: str) -> bytes:
    """Hash of what decides the bits of the KV cache: weights, program, kernels, number format."""
    program = by_model_type(container.family).program(container.shape)
    weights = weights_id(container.manifest)
    parts = ("edge0-prefix 1", weights, config.kv_format, isa, library_digest(), repr(program))
    return hashlib.sha256("\n".join(parts).encode("utf-8")).digest()


def open_snapshots(config: Edge0Config, container: Container, model: Model) -> Snapshots | None:
    """The snapshots of a model that is being opened; None when they are switched off."""
    limit = budget_bytes(config.prefix_cache_gb)
    if not limit:
        return None
    folder = SnapshotFolder(config.cache_dir, weights_id(container.manifest), limit)
    return Snapshots(model, folder, rows_identity(container, config, model.executor.isa))
