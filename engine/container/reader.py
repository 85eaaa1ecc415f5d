"""Opens a converted model: strict about every file, cheap (reads the manifest and headers only).

Owns one handle for embedding rows, opened once, guarded by a lock: any thread may read. Expert
files are only named here; the store opens and reads them. Memory: the manifest.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.container.checks import check, check_weights
from engine.container.embedding import decode_rows
from engine.container.files import (
    checked_size,
    hash_range,
    open_checked,
    read_range,
    storage_errors,
)
from engine.container.manifest import (
    DENSE_NAME,
    MANIFEST_NAME,
    MAX_MANIFEST_BYTES,
    Manifest,
    RecordEntry,
    RecordLayout,
    TensorEntry,
    identity,
    parse,
)
from engine.container.record import dense_header, moex_header
from engine.container.strict import DAMAGED
from engine.container.verified import Verified, holes, note_verified, verified
from engine.errors import ContainerError
from engine.events import Progress
from engine.model.families.registry import by_model_type
from engine.model.shape import ModelShape
from engine.stop import StopFlag
from engine.text import Text, joined

SMALL_BYTES = 64 << 10  # norms and biases: all of them are hashed in a moment
MAX_REPORTED = 5

Bytes = NDArray[np.uint8]
_Part = tuple[str, Path, int, int, str]  # what, path, offset, size, sha256


class Container:
    """A converted model folder whose files fit its manifest."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.files = [path / entry.name for entry in manifest.files]
        self.dense_path = path / DENSE_NAME
        self._records = {(r.layer, r.expert): r for r in manifest.records}
        self._embedding: BinaryIO | None = None
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path) -> Container:
        """Open and check a folder without reading its weights.

        Raises ContainerError, StorageError, UnsupportedModelError.
        """
        manifest = read_manifest(path)
        family = by_model_type(manifest.shape.model_type)
        check_weights(manifest, family.weights(manifest.shape))
        container = cls(path, manifest)
        container._check_files()
        container._check_holes()
        return container

    @property
    def shape(self) -> ModelShape:
        """The model's sizes."""
        return self.manifest.shape

    @property
    def family(self) -> str:
        """Name of the model's family in the registry."""
        return self.manifest.shape.model_type

    def record(self, layer: int, expert: int) -> RecordEntry:
        """Where an expert lies."""
        return self._records[layer, expert]

    def layout(self, layer: int) -> RecordLayout:
        """How the records of a layer are divided into matrices."""
        return self.manifest.layouts[self.manifest.layer_layout[layer]]

    def read_record(self, layer: int, expert: int) -> Bytes:
        """The bytes of one record, in fresh memory."""
        record = self.record(layer, expert)
        return _read(self.files[record.file], record.offset, record.bytes)

    def read_dense(self, name: str) -> Bytes:
        """The stored bytes of a resident weight, in fresh memory."""
        data = np.empty(self.manifest.tensors[name].bytes, np.uint8)
        self.read_dense_into(name, data)
        return data

    def read_dense_into(self, name: str, target: Bytes) -> None:
        """Read a resident weight into memory of its size; a small one is compared with its hash."""
        entry = self.manifest.tensors[name]
        with open_checked(self.dense_path) as file:
            read_range(file, self.dense_path, entry.offset, target.data)
        if entry.bytes <= SMALL_BYTES and hashlib.sha256(target.data).hexdigest() != entry.sha256:
            note_verified(self.path, self.all_files, intact=False)
            raise ContainerError(_damage_report(self.path, [name]), DAMAGED)

    def embedding_rows(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Embeddings (n, hidden) of token ids, each distinct row read once from the disk."""
        entry = self.manifest.tensors["embedding"]
        unique, back = np.unique(np.asarray(ids, np.int64).reshape(-1), return_inverse=True)
        if unique.size and not 0 <= unique[0] <= unique[-1] < self.shape.vocab:
            odd = unique[0] if unique[0] < 0 else unique[-1]
            raise ContainerError(
                Text(
                    "The token {0} is outside the model's vocabulary of {1}.", odd, self.shape.vocab
                ),
                Text("The tokenizer belongs to another model: convert the model again."),
            )
        stored = self._read_rows(entry, unique)
        return decode_rows(stored, entry.format, self.shape.hidden)[back]

    def verify(self, progress: Callable[[Progress], None], stop: StopFlag) -> None:
        """Read everything and compare hashes; ContainerError names what is damaged."""
        total = self._compare(list(self._parts()), progress, stop)
        progress(Progress(total, total, Text("checked")))
        note_verified(self.path, self.all_files)

    def verify_resident(self, progress: Callable[[Progress], None], stop: StopFlag) -> int:
        """The same for all but the experts; returns how many bytes that are."""
        return self._compare(list(self._resident_parts()), progress, stop)

    def refuse_known_damage(self) -> None:
        """Raises ContainerError when the last check found these very files damaged."""
        state, _ = self.verified
        if state == "damaged":
            raise ContainerError(
                Text("{0} is damaged: the last check of its files found wrong bytes.", self.path),
                Text(
                    "Convert or download the model again. Was it the drive? Then choose Check the"
                    ' files in the list of models, or run edge0 doctor "{0}" --deep.',
                    self.path,
                ),
            )

    def refuse_damage(self) -> None:
        """`refuse_known_damage`, and compares what is read whole at every opening, in a moment."""
        self.refuse_known_damage()
        dense, parts = self.dense_path, self._resident_parts()
        small = [part for part in parts if part[1] != dense or part[3] <= SMALL_BYTES]
        self._compare(small, lambda _: None, StopFlag())

    @property
    def verified(self) -> tuple[Verified, float]:
        """Whether `verify` has seen the files as they are now, and when."""
        return verified(self.path, self.all_files)

    @property
    def all_files(self) -> list[Path]:
        """Everything the manifest names, and itself."""
        side = [self.path / entry.name for entry in self.manifest.side_files]
        return [self.path / MANIFEST_NAME, self.dense_path, *self.files, *side]

    def hold(self) -> None:
        """Open the embedding file now: whatever becomes of the folder, its rows stay the same."""
        with self._lock:
            self._rows_file()

    def close(self) -> None:
        """Release the embedding file. The container may be used again."""
        with self._lock:
            if self._embedding is not None:
                self._embedding.close()
                self._embedding = None

    def _compare(
        self, parts: Sequence[_Part], progress: Callable[[Progress], None], stop: StopFlag
    ) -> int:
        damaged = [] if identity(self.manifest) == self.manifest.id else [MANIFEST_NAME]
        done, total = 0, sum(size for _, _, _, size, _ in parts)
        for what, path, offset, size, sha256 in parts:
            progress(Progress(done, total, Text("checking {0}", what)))
            if hash_range(path, offset, size, stop) != sha256:
                damaged.append(what)
            done += size
        if damaged:
            note_verified(self.path, self.all_files, intact=False)
            raise ContainerError(_damage_report(self.path, damaged), DAMAGED)
        return total

    def _parts(self) -> Iterator[_Part]:
        """Everything that has a hash."""
        yield from self._resident_parts()
        for record in self.manifest.records:
            what = Text("layer {0}, expert {1}", record.layer, record.expert)
            path = self.files[record.file]
            yield what, path, record.offset, record.bytes, record.sha256

    def _resident_parts(self) -> Iterator[_Part]:
        for tensor in self.manifest.tensors.values():
            yield tensor.name, self.dense_path, tensor.offset, tensor.bytes, tensor.sha256
        for entry in self.manifest.side_files:
            yield entry.name, self.path / entry.name, 0, entry.bytes, entry.sha256

    def _read_rows(self, entry: TensorEntry, rows: NDArray[np.int64]) -> Bytes:
        size = entry.bytes // self.shape.vocab
        stored = np.empty((len(rows), size), np.uint8)
        with self._lock:
            file = self._rows_file()
            for i, row in enumerate(rows):
                target = stored[i].data
                read_range(file, self.dense_path, entry.offset + int(row) * size, target)
        return stored

    def _rows_file(self) -> BinaryIO:
        if self._embedding is None:
            self._embedding = open_checked(self.dense_path)
        return self._embedding

    def _check_files(self) -> None:
        manifest = self.manifest
        sizes = {DENSE_NAME: manifest.dense_bytes}
        sizes |= {entry.name: entry.bytes for entry in manifest.files}
        sizes |= {entry.name: entry.bytes for entry in manifest.side_files}
        for name, size in sizes.items():
            found = checked_size(self.path / name)
            if found != size:
                raise ContainerError(
                    Text("{0} has {1} bytes instead of {2}.", self.path / name, found, size),
                    DAMAGED,
                )
        tensors = manifest.tensors.values()
        _check_header(self.dense_path, dense_header(tensors, next(iter(tensors)).offset))
        for number, path in enumerate(self.files):
            _check_header(path, moex_header(manifest, number))

    def _check_holes(self) -> None:
        """A file can have its size and lack bytes: what lies there is compared with its hash."""
        gaps = {
            path: list(holes(path, size))
            for path, size in [
                (self.dense_path, self.manifest.dense_bytes),
                *zip(self.files, (entry.bytes for entry in self.manifest.files), strict=True),
            ]
        }
        if not any(gaps.values()):
            return
        for what, path, offset, size, sha256 in self._parts():
            touched = any(a < offset + size and offset < b for a, b in gaps.get(path, ()))
            if touched and hash_range(path, offset, size, StopFlag()) != sha256:
                raise ContainerError(_damage_report(self.path, [what]), DAMAGED)


def read_manifest(path: Path) -> Manifest:
    """The checked manifest of a model folder, without looking at its other files."""
    if not path.is_dir():
        raise ContainerError(
            Text("{0} is not a folder.", path), Text("Choose a converted model's folder.")
        )
    file = path / MANIFEST_NAME
    size = checked_size(file)
    if size > MAX_MANIFEST_BYTES:
        raise ContainerError(Text("{0} is far too large ({1} bytes).", file, size), DAMAGED)
    with storage_errors(file):
        manifest = parse(file.read_bytes())
    check(manifest)
    return manifest


def _read(path: Path, offset: int, size: int) -> Bytes:
    data = np.empty(size, np.uint8)
    with open_checked(path) as file:
        read_range(file, path, offset, data.data)
    return data


def _check_header(path: Path, expected: bytes) -> None:
    if _read(path, 0, len(expected)).tobytes() != expected:
        raise ContainerError(
            Text("{0} does not belong to this model, or its first bytes are damaged.", path),
            DAMAGED,
        )


def _damage_report(path: Path, damaged: list[str]) -> str:
    left = len(damaged) - MAX_REPORTED
    shown, more = joined("; ", damaged[:MAX_REPORTED]), Text(" and {0} more", left)
    return Text("{0} is damaged: {1}{2}.", path, shown, more if left > 0 else "")
