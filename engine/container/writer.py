"""Writes a planned container item by item into an unfinished folder; publishes it when complete.

Owns the data files of that folder and its journal, on one thread. Items are the plan's tensors,
then its records, in file order or in an order of one's own. After a kill at any instant the same
plan and order go on behind the last item known to be on the disk. Memory: the item at hand.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.container.checks import check, is_safe_name
from engine.container.files import read_range, storage_errors, sync_folder, write_durably
from engine.container.journal import JOURNAL_NAME, Journal, belongs_to
from engine.container.manifest import (
    DENSE_NAME,
    MANIFEST_NAME,
    Manifest,
    RecordEntry,
    SideFile,
    TensorEntry,
    encode,
)
from engine.container.record import dense_header, moex_header
from engine.errors import ContainerError, StorageError
from engine.machine.disk import folder_bytes
from engine.machine.page_cache import forget
from engine.text import Text

SYNC_BYTES = 64 << 20  # at most this much work is lost by a kill
CHECKED_TAIL_BYTES = 64 << 20  # read back and compared when a conversion goes on

Item = TensorEntry | RecordEntry
Bytes = NDArray[np.uint8]


class ContainerWriter:
    """`position` items are written; `items[position]` is the next.

    order: numbers of the plan's items as they are to be written; None: as they lie in the files.
    resumed: work for this plan was found; restarted: work for another plan was found and dropped.
    """

    def __init__(self, folder: Path, plan: Manifest, order: Sequence[int] | None = None) -> None:
        self.folder = folder
        self.plan = plan
        self._planned: list[Item] = [*plan.tensors.values(), *plan.records]
        self._order = range(len(self._planned)) if order is None else order
        self.items = [self._planned[number] for number in self._order]
        name = plan.id if order is None else f"{plan.id} in order {_order_id(order)}"
        with storage_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self.restarted = _clear_other_work(folder, name)
        self._journal = Journal(folder, name)
        self._hashes = list(self._journal.hashes[: len(self.items)])
        self._file: BinaryIO | None = None
        self._path = folder
        self._unsynced = 0
        try:
            self._keep_intact_items()
        except BaseException:
            self.close()
            raise
        self.resumed = bool(self._hashes)

    @property
    def position(self) -> int:
        """How many items are written."""
        return len(self._hashes)

    @property
    def written_bytes(self) -> int:
        """Bytes of the items written so far."""
        return sum(item.bytes for item in self.items[: self.position])

    @property
    def missing_bytes(self) -> int:
        """Disk space still to be taken: bytes that no sync confirmed lie there all the same."""
        total = sum(item.bytes for item in self.items)
        return max(0, total - max(self.written_bytes, folder_bytes(self.folder)))

    def write(self, chunks: Iterable[Bytes]) -> str:
        """Append the next item, given in pieces that add up to its planned size; its hash."""
        item = self.items[self.position]
        file = self._open_for(item)
        digest, size = hashlib.sha256(), 0
        with storage_errors(self._path):
            for chunk in chunks:
                digest.update(chunk.data)
                file.write(chunk.data)
                size += chunk.nbytes
        if size != item.bytes:
            raise ValueError(f"{size} bytes given for an item of {item.bytes}")
        self._hashes.append(digest.hexdigest())
        self._journal.add(self._hashes[-1])
        self._unsynced += size
        if self._unsynced >= SYNC_BYTES:
            self.sync()
        return self._hashes[-1]

    def sync(self) -> None:
        """Make everything written so far survive a crash."""
        if self._file is not None:
            with storage_errors(self._path):
                self._file.flush()
                os.fsync(self._file.fileno())
        self._journal.commit()
        self._unsynced = 0

    def verify(self, positions: Iterable[int]) -> None:
        """Read written items back, from the drive where the system allows. Raises StorageError."""
        self.sync()
        wanted = list(positions)
        forget({self._path_of(self.items[position]) for position in wanted})
        for position in wanted:
            if not self._is_intact(position):
                path = self._path_of(self.items[position])
                raise StorageError(
                    Text("{0} does not hold what was written to it.", path),
                    Text("The drive may be failing: choose another one."),
                )

    def finish(self, side_files: Mapping[str, bytes]) -> Manifest:
        """Write side files and the manifest; the folder is then complete but not published."""
        self.sync()
        self.close()
        entries = tuple(self._write_side_file(*pair) for pair in sorted(side_files.items()))
        manifest = self._manifest(entries)
        check(manifest)
        write_durably(self.folder / MANIFEST_NAME, encode(manifest))
        sync_folder(self.folder)
        return manifest

    def close(self) -> None:
        """Release all files; unsynced items will be written again. Where none is, nothing stays."""
        if self._file is not None:
            with suppress(OSError):  # a full disk was reported already
                self._file.close()
            self._file = None
        self._journal.close()
        if not self._hashes:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _manifest(self, side_files: tuple[SideFile, ...]) -> Manifest:
        hashes = dict(zip(self._order, self._hashes, strict=True))
        hashed = [replace(item, sha256=hashes[n]) for n, item in enumerate(self._planned)]
        tensors = {entry.name: entry for entry in hashed if isinstance(entry, TensorEntry)}
        records = tuple(entry for entry in hashed if isinstance(entry, RecordEntry))
        return replace(self.plan, tensors=tensors, records=records, side_files=side_files)

    def _write_side_file(self, name: str, data: bytes) -> SideFile:
        if not is_safe_name(name):
            raise ContainerError(
                Text("The file {0} has an unsafe name.", f"{name[:80]!r}"), Text("Rename it.")
            )
        write_durably(self.folder / name, data)
        return SideFile(name, len(data), hashlib.sha256(data).hexdigest())

    def _path_of(self, item: Item) -> Path:
        if isinstance(item, TensorEntry):
            return self.folder / DENSE_NAME
        return self.folder / self.plan.files[item.file].name

    def _header_of(self, item: Item) -> bytes:
        """The header of the file an item lies in."""
        if isinstance(item, RecordEntry):
            return moex_header(self.plan, item.file)
        tensors = self.plan.tensors.values()
        return dense_header(tensors, next(iter(tensors)).offset)

    def _open_for(self, item: Item) -> BinaryIO:
        """The item's file, positioned where the item goes."""
        path = self._path_of(item)
        file = self._file if self._path == path else None
        if file is None:
            file = self._switch_to(path, self._header_of(item))
        with storage_errors(path):
            if file.tell() != item.offset:
                file.seek(item.offset)
        return file

    def _switch_to(self, path: Path, header: bytes) -> BinaryIO:
        """The header is written whenever a file is opened: a crash may have lost it."""
        if self._file is not None:
            self.sync()
            self._file.close()
        with storage_errors(path):
            path.touch()
            self._file, self._path = open(path, "r+b"), path  # noqa: SIM115
            self._file.write(header)
        return self._file

    def _keep_intact_items(self) -> None:
        """Drop journalled items that are not there whole; the last ones are read and compared."""
        del self._hashes[self._count_within_files() :]
        left, number = CHECKED_TAIL_BYTES, self.position - 1
        while number >= 0 and left > 0:
            left -= self.items[number].bytes
            if not self._is_intact(number):
                del self._hashes[number:]
                left = CHECKED_TAIL_BYTES
            number -= 1
        if self.position != len(self._journal.hashes):
            self._journal.cut(self.position)

    def _count_within_files(self) -> int:
        """How many of the journalled items lie inside their files."""
        sizes: dict[Path, int] = {}
        for number, item in enumerate(self.items[: self.position]):
            path = self._path_of(item)
            if path not in sizes:
                sizes[path] = path.stat().st_size if path.is_file() else 0
            if item.offset + item.bytes > sizes[path]:
                return number
        return self.position

    def _is_intact(self, number: int) -> bool:
        item = self.items[number]
        path, data = self._path_of(item), bytearray(item.bytes)
        with storage_errors(path), open(path, "rb", buffering=0) as file:
            read_range(file, path, item.offset, memoryview(data))
        return hashlib.sha256(data).hexdigest() == self._hashes[number]


def _order_id(order: Sequence[int]) -> str:
    return hashlib.sha256(",".join(map(str, order)).encode("ascii")).hexdigest()[:16]


def _clear_other_work(folder: Path, identity: str) -> bool:
    """Empty a folder that holds work for another plan; refuse one that is not ours at all."""
    if belongs_to(folder, identity) or not any(folder.iterdir()):
        return False
    if not (folder / JOURNAL_NAME).is_file():
        raise StorageError(
            Text("{0} is needed for the conversion but holds other files.", folder),
            Text("Move them away, or choose another target."),
        )
    for path in folder.iterdir():
        if path.name != JOURNAL_NAME:  # last: without it the rest would look like another's files
            path.unlink()
    (folder / JOURNAL_NAME).unlink()
    return True


def publish(folder: Path, target: Path) -> None:
    """Give a finished folder its name. An old container at `target` is replaced."""
    old = target.with_name(f".{target.name}.edge0-replaced")
    with storage_errors(target):
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
            os.rename(target, old)
            sync_folder(target.parent)
        os.rename(folder, target)
        sync_folder(target.parent)
        (target / JOURNAL_NAME).unlink(missing_ok=True)
        shutil.rmtree(old, ignore_errors=True)
