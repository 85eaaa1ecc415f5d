"""What a well-typed manifest must also fulfil. Pure; every breach is a ContainerError saying where.

Offsets and sizes are not checked one rule at a time: they are computed again from the shape and the
number formats and must be equal. Caps keep a hostile manifest from asking for huge allocations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.container.manifest import DENSE_NAME, MANIFEST_NAME, Manifest, RecordEntry, TensorEntry
from engine.container.record import (
    MAX_FILES,
    generation_of,
    place_records,
    place_tensors,
    record_layout,
    tensor_bytes,
)
from engine.container.strict import DAMAGED
from engine.errors import ContainerError
from engine.formats import RECORD_ALIGN
from engine.model.shape import ModelShape
from engine.model.weights import Role, WeightSpec
from engine.text import Text

RECORD_ALIGNMENTS = (RECORD_ALIGN, 4 * RECORD_ALIGN, 16 * RECORD_ALIGN)
MAX_DENSE_BYTES = 1 << 40
MAX_RECORDS = 1 << 18

_SHAPE_LIMITS = {
    "layers": (1, 1024),
    "hidden": (1, 65536),
    "heads": (1, 4096),
    "kv_heads": (1, 4096),
    "head_dim": (1, 8192),
    "vocab": (1, 2 << 20),
    "experts": (1, 4096),
    "top_k": (1, 64),  # E0_MAX_TOP_K of the native executor
    "expert_width": (1, 1 << 18),
    "rms_eps": (0, 1),
    "max_positions": (1, 1 << 26),
    "rope_factor": (1e-6, 1e6),
}
_ROLE_FORMATS = {
    Role.MATRIX: {"nf4", "int4", "iq4_nl", "e2m1", "int8", "bf16"},
    Role.FLOAT: {"f32"},
    Role.EMBEDDING: {"q8_rows", "bf16_rows"},
}
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_DEVICE_NAME = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)
_HASH = re.compile(r"[0-9a-f]{64}")


def check(manifest: Manifest) -> None:
    """Raise ContainerError unless the manifest describes one possible container."""
    check_shape(manifest.shape)
    _require(
        manifest.record_align in RECORD_ALIGNMENTS, Text("record_align is not 4, 16 or 64 KiB")
    )
    _require(bool(_HASH.fullmatch(manifest.id)), Text("id is not a hash"))
    _check_tensors(manifest)
    _check_layouts(manifest)
    _check_records(manifest)
    _check_side_files(manifest)
    _check_counts(manifest)


def check_shape(shape: ModelShape) -> None:
    """Raise ContainerError when a size is out of any reasonable range or two of them disagree."""
    for name, (low, high) in _SHAPE_LIMITS.items():
        value = getattr(shape, name)
        problem = Text("{0} is {1}, outside {2} to {3}", f"shape.{name}", value, low, high)
        _require(low <= value <= high, problem)
    _require(
        shape.heads % shape.kv_heads == 0, Text("shape.heads is no multiple of shape.kv_heads")
    )
    _require(shape.head_dim % 16 == 0, Text("shape.head_dim is no multiple of 16"))
    _require(shape.top_k <= shape.experts, Text("shape.top_k is above shape.experts"))
    _require(
        2 * len(shape.rope_frequencies) <= shape.head_dim,
        Text("shape.rope_frequencies is too long"),
    )
    _require(
        not shape.dense or shape.top_k == shape.experts,
        Text("shape.top_k does not fit a dense model"),
    )
    window = shape.sliding_window
    _require(window is None or 1 <= window <= 1 << 26, Text("shape.sliding_window is out of range"))


def check_weights(manifest: Manifest, specs: Iterable[WeightSpec]) -> None:
    """Raise ContainerError unless the resident weights are exactly those the family asks for."""
    expected = {spec.name: spec for spec in specs if spec.role is not Role.EXPERT}
    odd = sorted(expected.keys() ^ manifest.tensors.keys())
    _require(not odd, Text("weights are missing or unknown: {0}", ", ".join(odd[:5])))
    for name, spec in expected.items():
        found = manifest.tensors[name]
        fits = (found.role, found.shape) == (spec.role, spec.shape)
        _require(fits, Text("{0} does not fit the model's shape", name))


def is_safe_name(name: str) -> bool:
    """Whether a side file may have this name on every system: no path, no device, not ours."""
    ours = name.lower() in (MANIFEST_NAME, DENSE_NAME) or name.lower().endswith(".moex")
    plain = _SAFE_NAME.fullmatch(name) and not name.endswith(".")
    return bool(plain) and not ours and not _DEVICE_NAME.match(name)


def _require(condition: bool, problem: Text) -> None:
    if not condition:
        raise _broken(problem)


def _broken(problem: Text) -> ContainerError:
    return ContainerError(Text("{0}: {1}.", MANIFEST_NAME, problem), DAMAGED)


def _check_tensors(manifest: Manifest) -> None:
    for name, tensor in manifest.tensors.items():
        _require(name == tensor.name, Text("{0} has a second name", name))
        _check_tensor(tensor)
    total = sum(tensor_bytes(t.format, t.shape) for t in manifest.tensors.values())
    _require(total <= MAX_DENSE_BYTES, Text("tensors are too large"))
    placed, size = place_tensors(manifest.tensors.values())
    for name, tensor in placed.items():
        fits = tensor == manifest.tensors[name]
        _require(fits, Text("{0} is not where it belongs", name))
    _require(size == manifest.dense_bytes, Text("dense_bytes is not {0}", size))


def _check_tensor(tensor: TensorEntry) -> None:
    name = tensor.name
    _require(len(name) <= 256 and name.isascii(), Text("{0} is an odd name", name[:80]))
    _require(name != "__metadata__", Text("{0} is a reserved name", name))
    fits = tensor.format in _ROLE_FORMATS.get(tensor.role, ())
    _require(fits, Text("{0} has a format of another role", name))
    _require(bool(_HASH.fullmatch(tensor.sha256)), Text("{0} has no hash", name))
    dimensions = 1 <= len(tensor.shape) <= 2 and all(1 <= n <= 1 << 24 for n in tensor.shape)
    sized = dimensions and tensor_bytes(tensor.format, tensor.shape) > 0
    _require(sized, Text("{0} has no size", name))


def _check_layouts(manifest: Manifest) -> None:
    shape, count = manifest.shape, len(manifest.layouts)
    _require(1 <= count <= shape.layers, Text("layouts has a wrong length"))
    _require(len(manifest.layer_layout) == shape.layers, Text("layer_layout has a wrong length"))
    _require(all(i < count for i in manifest.layer_layout), Text("layer_layout names no layout"))
    for i, layout in enumerate(manifest.layouts):
        names = tuple(matrix.name for matrix in layout.matrices)
        where = f"layouts[{i}]"
        _require(names == ("gate", "up", "down"), Text("{0} is not gate, up, down", where))
        formats = {matrix.name: matrix.format for matrix in layout.matrices}
        expected = record_layout(shape, formats, manifest.record_align)
        _require(layout == expected, Text("{0} does not fit the model's shape", where))


def _check_records(manifest: Manifest) -> None:
    order = _expert_order(manifest)
    _require(1 <= len(manifest.files) <= MAX_FILES, Text("files has a wrong length"))
    generation = generation_of(manifest.files[0].name)
    files, records = place_records(
        manifest.layouts, manifest.layer_layout, order, manifest.record_align, generation or 0
    )
    for expected, found in zip(records, manifest.records, strict=True):
        if not _HASH.fullmatch(found.sha256):
            raise _broken(Text("{0} has no hash", _place(found)))
        if replace(expected, sha256=found.sha256) != found:
            raise _broken(Text("{0} is not where it belongs", _place(found)))
    _require(files == manifest.files, Text("files does not fit the records"))


def _place(record: RecordEntry) -> Text:
    return Text("layer {0}, expert {1}", record.layer, record.expert)


def _expert_order(manifest: Manifest) -> Sequence[Sequence[int]]:
    """Experts of each layer in file order; every layer must have each exactly once."""
    shape = manifest.shape
    layers, experts = shape.layers, shape.experts
    _require(layers * experts <= MAX_RECORDS, Text("the shape has too many experts"))
    fits = len(manifest.records) == layers * experts
    _require(fits, Text("records is not {0} long", layers * experts))
    order = []
    for layer in range(layers):
        part = manifest.records[layer * experts : (layer + 1) * experts]
        alike = all(record.layer == layer for record in part)
        _require(alike, Text("records of layer {0} are mixed", layer))
        ids = [record.expert for record in part]
        whole = sorted(ids) == list(range(experts))
        _require(whole, Text("layer {0} lacks or repeats experts", layer))
        order.append(ids)
    return order


def _check_side_files(manifest: Manifest) -> None:
    names = [entry.name.lower() for entry in manifest.side_files]
    _require(len(set(names)) == len(names), Text("side_files has a name twice"))
    for entry in manifest.side_files:
        _require(is_safe_name(entry.name), Text("{0} is an unsafe name", f"{entry.name[:80]!r}"))
        _require(bool(_HASH.fullmatch(entry.sha256)), Text("{0} has no hash", entry.name))


def _check_counts(manifest: Manifest) -> None:
    if manifest.counts is not None:
        lengths = [len(layer) for layer in manifest.counts]
        expected = [manifest.shape.experts] * manifest.shape.layers
        _require(lengths == expected, Text("counts does not fit the model's shape"))
