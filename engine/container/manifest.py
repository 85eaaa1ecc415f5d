"""manifest.json as frozen dataclasses: what a converted model is and where every byte of it lies.

Owns the format's version and field names; what values are allowed is in `checks`. Any thread.
A plan is a manifest whose hashes are still empty: the writer fills them in.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from engine.container.strict import decode, parse_json
from engine.errors import ContainerError
from engine.formats import NumberFormat
from engine.model.shape import ModelShape
from engine.model.weights import Role
from engine.text import Text

FORMAT = "edge0-container"
VERSION = 1
MANIFEST_NAME = "manifest.json"
DENSE_NAME = "dense.safetensors"
MAX_MANIFEST_BYTES = 64 << 20  # a model of 23,000 experts needs 6

Quant = Literal["nf4", "int4", "int8", "bf16"]
TensorFormat = Literal[
    "nf4", "int4", "iq4_nl", "e2m1", "int8", "bf16", "f32", "q8_rows", "bf16_rows"
]


@dataclass(frozen=True)
class TensorEntry:
    """A resident weight. offset: from the start of dense.safetensors."""

    name: str
    role: Role
    format: TensorFormat
    shape: tuple[int, ...]
    offset: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class MatrixEntry:
    """One matrix of a record. offset: from the start of the record."""

    name: Literal["gate", "up", "down"]
    format: NumberFormat
    rows: int
    cols: int
    offset: int
    bytes: int


@dataclass(frozen=True)
class RecordLayout:
    """How the bytes of a record are divided; bytes is a multiple of the record alignment."""

    matrices: tuple[MatrixEntry, ...]
    bytes: int


@dataclass(frozen=True)
class RecordEntry:
    """One expert of one layer. file: index into Manifest.files; offset: from its start."""

    layer: int
    expert: int
    file: int
    offset: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ExpertFile:
    """One .moex file."""

    name: str
    bytes: int
    records: int


@dataclass(frozen=True)
class SideFile:
    """A small file copied from the source: tokenizer, template, licence."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class SourceInfo:
    """What was converted. stored_types: how many weights came in each type; notes: for people."""

    name: str
    kind: Literal["safetensors", "gguf"]
    fingerprint: str
    stored_types: dict[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """The whole file. tensors and records are in file order.

    counts: how often the router picked each (layer, expert), relative to the others of its layer.
    """

    format: str
    version: int
    id: str
    shape: ModelShape
    quant: Quant
    record_align: int
    dense_bytes: int
    tensors: dict[str, TensorEntry]
    layouts: tuple[RecordLayout, ...]
    layer_layout: tuple[int, ...]
    files: tuple[ExpertFile, ...]
    records: tuple[RecordEntry, ...]
    side_files: tuple[SideFile, ...]
    counts: tuple[tuple[int, ...], ...] | None
    source: SourceInfo

    @property
    def weight_bytes(self) -> int:
        """Bytes of the dense weights' file and of all expert files."""
        return self.dense_bytes + sum(file.bytes for file in self.files)


def encode(manifest: Manifest) -> bytes:
    """manifest.json."""
    fields = dataclasses.asdict(manifest)
    return (json.dumps(fields, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def parse(data: bytes) -> Manifest:
    """A manifest of the right types; `checks.check` decides whether it makes sense."""
    value = parse_json(data, MANIFEST_NAME)
    _check_version(value)
    return decode(Manifest, value, MANIFEST_NAME)


def identity(manifest: Manifest) -> str:
    """Hash of everything planned: two conversions with the same identity give the same bytes."""
    plan = dataclasses.replace(
        manifest,
        id="",
        tensors={name: dataclasses.replace(t, sha256="") for name, t in manifest.tensors.items()},
        records=tuple(dataclasses.replace(record, sha256="") for record in manifest.records),
        side_files=(),
    )
    return hashlib.sha256(encode(plan)).hexdigest()


def weights_id(manifest: Manifest) -> str:
    """Hash of the weights alone: the same wherever their records lie and however they came."""
    digest = hashlib.sha256()
    for tensor in sorted(manifest.tensors.values(), key=lambda entry: entry.name):
        digest.update(f"{tensor.name} {tensor.format} {tensor.sha256}\n".encode())
    for record in sorted(manifest.records, key=lambda entry: (entry.layer, entry.expert)):
        digest.update(bytes.fromhex(record.sha256))
    return digest.hexdigest()


def _check_version(value: object) -> None:
    found = value.get("format") if isinstance(value, dict) else None
    if not isinstance(value, dict) or found != FORMAT:
        raise ContainerError(
            Text("{0} does not describe an Edge0 model.", MANIFEST_NAME),
            Text("Choose a folder that Edge0 has converted, or convert the model first."),
        )
    version = value.get("version")
    if type(version) is not int or version < 1:
        raise ContainerError(
            Text("{0} has no version.", MANIFEST_NAME), Text("Convert the model again.")
        )
    if version > VERSION:
        raise ContainerError(
            Text(
                "The model folder was made by a newer Edge0 (format {0}, this one reads {1}).",
                version,
                VERSION,
            ),
            Text("Update Edge0, or convert the model again with this version."),
        )
