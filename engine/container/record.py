"""Where bytes go: matrices in a record, records in .moex files, weights in dense.safetensors, and
the headers of both. Pure functions, used to plan a container and to check one.
"""

from __future__ import annotations

import dataclasses
import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from engine.container.manifest import (
    ExpertFile,
    Manifest,
    MatrixEntry,
    RecordEntry,
    RecordLayout,
    TensorEntry,
)
from engine.formats import NumberFormat, aligned, blocks, matrix_bytes
from engine.model.shape import ModelShape

MAGIC = b"MOEX"
MOEX_VERSION = 1
MAX_FILE_BYTES = 8 << 30
MAX_FILES = 4096
Q8_ROW_BLOCK_BYTES = 34  # fp16 scale + 32 int8, as in GGUF Q8_0

# magic, version, file number from 0, records, alignment, reserved, bytes of the file, container id
_MOEX_HEADER = struct.Struct("<4sIIIIIQ32s")
_FILE_NAME = re.compile(r"experts-(?:([1-9][0-9]{0,5})-)?[0-9]{5}\.moex", re.ASCII)
_SAFETENSORS_TYPES = {"f32": "F32", "bf16_rows": "BF16"}

MatrixName = Literal["gate", "up", "down"]
Matrices = Mapping[MatrixName, NumberFormat]


def record_layout(shape: ModelShape, formats: Matrices, align: int) -> RecordLayout:
    """The layout of a record whose gate, up and down have the given number formats."""
    sizes: dict[MatrixName, tuple[int, int]] = {
        "gate": (shape.expert_width, shape.hidden),
        "up": (shape.expert_width, shape.hidden),
        "down": (shape.hidden, shape.expert_width),
    }
    entries, offset = [], 0
    for name, (rows, cols) in sizes.items():
        size = matrix_bytes(formats[name], rows, cols)
        entries.append(MatrixEntry(name, formats[name], rows, cols, offset, size))
        offset += size
    return RecordLayout(tuple(entries), aligned(offset, align))


def tensor_bytes(fmt: str, shape: Sequence[int]) -> int:
    """Bytes of a resident weight in dense.safetensors; 0 for a shape its format cannot have."""
    if fmt == "f32":
        size = 4
        for length in shape:
            size *= length
        return size
    if len(shape) != 2:
        return 0
    rows, cols = shape
    if fmt == "q8_rows":
        return rows * blocks(cols) * Q8_ROW_BLOCK_BYTES
    if fmt == "bf16_rows":
        return rows * cols * 2
    return matrix_bytes(NumberFormat(fmt), rows, cols)


def place_tensors(tensors: Iterable[TensorEntry]) -> tuple[dict[str, TensorEntry], int]:
    """The tensors with their offsets, one after the other, and the file's size."""
    placed, offset = {}, 0
    for tensor in tensors:
        size = tensor_bytes(tensor.format, tensor.shape)
        placed[tensor.name] = dataclasses.replace(tensor, offset=offset, bytes=size)
        offset += size
    start = len(dense_header(placed.values(), 0))
    shifted = {
        name: dataclasses.replace(tensor, offset=tensor.offset + start)
        for name, tensor in placed.items()
    }
    return shifted, start + offset


def dense_header(tensors: Iterable[TensorEntry], start: int) -> bytes:
    """Header of dense.safetensors, padded to 4096; `start` is the file offset of its data."""
    fields: dict[str, object] = {"__metadata__": {"format": "edge0"}}
    for tensor in tensors:
        begin = tensor.offset - start
        stored = _SAFETENSORS_TYPES.get(tensor.format, "U8")
        shape = [tensor.bytes] if stored == "U8" else list(tensor.shape)
        fields[tensor.name] = {
            "dtype": stored,
            "shape": shape,
            "data_offsets": [begin, begin + tensor.bytes],
        }
    text = json.dumps(fields, separators=(",", ":")).encode("utf-8")
    size = aligned(8 + len(text)) - 8
    return struct.pack("<Q", size) + text.ljust(size)


def place_records(
    layouts: Sequence[RecordLayout],
    layer_layout: Sequence[int],
    order: Sequence[Sequence[int]],
    align: int,
    generation: int = 0,
) -> tuple[tuple[ExpertFile, ...], tuple[RecordEntry, ...]]:
    """All files and records: layer by layer, experts of a layer in `order`, files up to 8 GiB."""
    records: list[RecordEntry] = []
    ends: list[int] = []
    for layer, experts in enumerate(order):
        size = layouts[layer_layout[layer]].bytes
        for expert in experts:
            if not ends or ends[-1] + size > MAX_FILE_BYTES:
                ends.append(header_bytes(align))
            records.append(RecordEntry(layer, expert, len(ends) - 1, ends[-1], size, ""))
            ends[-1] += size
    counts = [0] * len(ends)
    for record in records:
        counts[record.file] += 1
    files = tuple(
        ExpertFile(file_name(number, generation), end, counts[number])
        for number, end in enumerate(ends)
    )
    return files, tuple(records)


def file_name(number: int, generation: int = 0) -> str:
    """Name of the expert file with this number, counted from 0.

    generation: how often the records were laid out anew. New files never have the names of old
    ones, so both can lie in the folder until one manifest takes the other's place.
    """
    return f"experts-{f'{generation}-' if generation else ''}{number + 1:05d}.moex"


def generation_of(name: str) -> int | None:
    """The generation an expert file's name tells; None when it is not the name of one."""
    match = _FILE_NAME.fullmatch(name)
    return int(match[1] or 0) if match else None


def header_bytes(align: int) -> int:
    """Bytes before the first record of a .moex file."""
    return aligned(_MOEX_HEADER.size, align)


def moex_header(manifest: Manifest, number: int) -> bytes:
    """The header of expert file `number`; it names the container, so that files cannot be mixed."""
    entry = manifest.files[number]
    packed = _MOEX_HEADER.pack(
        MAGIC,
        MOEX_VERSION,
        number,
        entry.records,
        manifest.record_align,
        0,
        entry.bytes,
        bytes.fromhex(manifest.id),
    )
    return packed.ljust(header_bytes(manifest.record_align), b"\0")
