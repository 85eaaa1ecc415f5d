"""Strict reader of one GGUF file's header (versions 2 and 3, ggml `docs/gguf.md`): metadata and
where each tensor lies. Every count is checked against the bytes that are left before use."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Any, Protocol

import numpy as np

from engine.checkpoint.files import FETCH_AGAIN, open_regular, refuse_pointer, storage_error
from engine.checkpoint.tensors import StoredTensor, is_plain_name
from engine.errors import CheckpointError, UnsupportedModelError
from engine.text import Text

MAX_STRING = 64 << 20
MAX_NAME = 1024
MAX_ITEMS = 16 << 20
MAX_ENTRIES = 100_000  # tensors, and metadata keys
MAX_HEADER = 1 << 30
MAX_ALIGNMENT = 1 << 20

_U32, _U64 = Struct("<I"), Struct("<Q")
_STRING, _ARRAY, _BOOL = 8, 9, 7
_KEY, _TENSOR = Text("a metadata key"), Text("a tensor")
_NUMBERS: dict[int, np.dtype[Any]] = {
    0: np.dtype("u1"), 1: np.dtype("i1"), 2: np.dtype("<u2"), 3: np.dtype("<i2"),
    4: np.dtype("<u4"), 5: np.dtype("<i4"), 6: np.dtype("<f4"), _BOOL: np.dtype("u1"),
    10: np.dtype("<u8"), 11: np.dtype("<i8"), 12: np.dtype("<f8"),
}  # fmt: skip


class Stream(Protocol):
    """What a header is read from."""

    def read(self, count: int, /) -> bytes: ...


@dataclass(frozen=True)
class GgufHeader:
    """One file. metadata values: int, float, bool, str, or a list of one of them."""

    path: Path
    metadata: dict[str, object]
    tensors: dict[str, StoredTensor]


def read_header(path: Path) -> GgufHeader:
    """Reads and checks a header. Raises CheckpointError, UnsupportedModelError."""
    with io.BufferedReader(open_regular(path), 1 << 20) as file:
        try:
            size = file.seek(0, 2)
            file.seek(0)
            return parse_header(path, file, size)
        except OSError as error:
            raise storage_error(path, error) from error


def parse_header(path: Path, file: Stream, size: int) -> GgufHeader:
    """A header from a stream at its start; the file, here or elsewhere, has `size` bytes."""
    return _Reader(path, file, size).header()


class _Reader:
    def __init__(self, path: Path, file: Stream, size: int) -> None:
        self._path, self._file, self._size, self._position = path, file, size, 0

    def header(self) -> GgufHeader:
        self._magic()
        tensors = self._count(Text("tensors"), 8 + 4 + 8 + 4 + 8)
        keys = self._count(Text("metadata keys"), 8 + 4 + 1)
        metadata: dict[str, object] = {}
        for _ in range(keys):
            key = self._name(_KEY)
            if key in metadata:
                raise self._bad(Text("repeats the metadata key {0}", repr(key)))
            metadata[key] = self._value(key)
        alignment = self._alignment(metadata)
        found = [self._tensor(alignment) for _ in range(tensors)]
        return GgufHeader(self._path, metadata, self._placed(found, alignment))

    def _magic(self) -> None:
        start = self._take(4, Text("its signature"))
        if start != b"GGUF":
            refuse_pointer(start, self._path)
            step = Text("Choose a .gguf model file.")
            raise self._bad(Text("does not start like a GGUF file"), step)
        version = self._u32(Text("its version"))
        if version not in (2, 3):
            raise UnsupportedModelError(
                Text("{0} is a big-endian GGUF file.", self._path)
                if version in (2 << 24, 3 << 24)
                else Text("{0} is a version {1} GGUF file.", self._path, version),
                Text("Choose a file of GGUF version 3."),
            )

    def _count(self, what: Text, least_bytes: int) -> int:
        count = self._u64(Text("the number of {0}", what))
        if count > MAX_ENTRIES or count * least_bytes > self._size - self._position:
            raise self._bad(Text("claims {0} {1}", count, what))
        return count

    def _value(self, key: str) -> object:
        kind = self._u32(key)
        if kind == _ARRAY:
            return self._array(key)
        if kind == _STRING:
            return self._string(key)
        return self._numbers(kind, 1, key)[0]

    def _array(self, key: str) -> list[object]:
        kind = self._u32(key)
        if kind == _ARRAY:
            raise self._bad(Text("has arrays inside the array {0}", repr(key)))
        count = self._u64(key)
        least = 8 if kind == _STRING else 1
        if count > MAX_ITEMS or count * least > self._size - self._position:
            raise self._bad(Text("claims {0} items in {1}", count, repr(key)))
        if kind == _STRING:
            return [self._string(key) for _ in range(count)]
        return self._numbers(kind, count, key)

    def _numbers(self, kind: int, count: int, key: str) -> list[object]:
        if kind not in _NUMBERS:
            raise self._bad(Text("has a value of unknown type {0} in {1}", kind, repr(key)))
        dtype = _NUMBERS[kind]
        values = np.frombuffer(self._take(count * dtype.itemsize, key), dtype)
        if kind != _BOOL:
            return list(values.tolist())
        if (values > 1).any():
            raise self._bad(Text("has a truth value other than 0 and 1 in {0}", repr(key)))
        return list(values.astype(bool).tolist())

    def _string(self, key: str) -> str:
        size = self._u64(key)
        if size > MAX_STRING:
            raise self._bad(Text("claims a text of {0} bytes in {1}", size, repr(key)))
        return self._take(size, key).decode("utf-8", "replace")

    def _name(self, what: Text) -> str:
        size = self._u64(what)
        if not 0 < size <= MAX_NAME:
            raise self._bad(Text("claims a name of {0} bytes for {1}", size, what))
        try:
            name = self._take(size, what).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._bad(Text("has {0} that is not UTF-8 text", what)) from error
        if not is_plain_name(name):
            raise self._bad(Text("has {0} as the name of {1}", repr(name), what))
        return name

    def _alignment(self, metadata: dict[str, object]) -> int:
        value = metadata.get("general.alignment", 32)
        if type(value) is int and 0 < value <= MAX_ALIGNMENT and not value & (value - 1):
            return value
        shown = f"{value!r:.40}"
        raise self._bad(Text("has the alignment {0}, which is not a small power of two", shown))

    def _tensor(self, alignment: int) -> StoredTensor:
        """One entry, its offset still counted from the start of the data."""
        name = self._name(_TENSOR)
        axes = self._u32(name)
        if not 1 <= axes <= 4:
            raise self._bad(Text("gives tensor {0} {1} axes", name, axes))
        shape = tuple(self._u64(name) for _ in range(axes))[::-1]
        dtype, unit = _stored_type(self._u32(name), f"{self._path}: {name}")
        offset = self._u64(name)
        values = 1
        for length in shape:
            values *= length
        if not 0 < values < 1 << 60 or shape[-1] % unit[0] or offset % alignment:
            place = (name, shape, dtype, offset)
            raise self._bad(Text("gives tensor {0} the shape {1} as {2} at {3}", *place))
        return StoredTensor(
            name, shape, dtype, values // unit[0] * unit[1], self._path, offset, unit
        )

    def _placed(self, tensors: list[StoredTensor], alignment: int) -> dict[str, StoredTensor]:
        """The tensors by name with offsets in the file; refuses ones that overlap or leave it."""
        data = -(-self._position // alignment) * alignment
        end, result = data, {}
        for t in sorted(tensors, key=lambda tensor: tensor.offset):
            if data + t.offset < end:
                raise self._bad(Text("lets tensor {0} overlap the one before it", t.name))
            end = data + t.offset + t.nbytes
            if end > self._size:
                ends = (self._size, t.name, end)
                raise self._bad(Text("has {0} bytes, but tensor {1} ends at {2}", *ends))
            if t.name in result:
                raise self._bad(Text("repeats the tensor {0}", t.name))
            place = (t.name, t.shape, t.dtype, t.nbytes, t.file, data + t.offset, t.unit)
            result[t.name] = StoredTensor(*place)
        return result

    def _u32(self, what: str) -> int:
        return int(_U32.unpack(self._take(4, what))[0])

    def _u64(self, what: str) -> int:
        return int(_U64.unpack(self._take(8, what))[0])

    def _take(self, count: int, what: str) -> bytes:
        """what: a key or a tensor's name as it is, so that reading one makes no Text."""
        if count > min(self._size, MAX_HEADER) - self._position:
            raise self._bad(Text("ends inside {0}, at byte {1}", what, self._position))
        data = self._file.read(count)
        if len(data) != count:
            raise self._bad(Text("became shorter while it was read"))
        self._position += count
        return data

    def _bad(self, problem: Text, next_step: Text = FETCH_AGAIN) -> CheckpointError:
        return CheckpointError(Text("{0} {1}.", self._path, problem), next_step)


def _stored_type(number: int, where: str) -> tuple[str, tuple[int, int]]:
    """Name and (values, bytes) of a block of a ggml type."""
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    try:
        kind = GGMLQuantizationType(number)
        return kind.name, GGML_QUANT_SIZES[kind]
    except (ValueError, KeyError) as error:
        raise UnsupportedModelError(
            Text("{0} is stored as type {1}, which is not known here.", where, number),
            Text("Choose a version of the model in a common type, such as Q4_0, Q8_0 or Q4_K_M."),
        ) from error
