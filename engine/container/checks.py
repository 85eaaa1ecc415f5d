"""What a well-typed manifest must also fulfil. Pure; every breach is a ContainerError saying where.

Offsets and sizes are not checked one rule at a time: they are computed again from the shape and the
number formats and must be equal. Caps keep a hostile manifest from asking for huge allocations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.container.manifest import DENSE_NAME, MANIFEST_NAME, Manifest, TensorEntry
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
    _require(manifest.record_align in RECORD_ALIGNMENTS, "record_align is not 4, 16 or 64 KiB")
    _require(bool(_HASH.fullmatch(manifest.id)), "id is not a hash")
    _check_tensors(manifest)
    _check_layouts(manifest)
    _check_records(manifest)
    _check_side_files(manifest)
    _check_counts(manifest)


def check_shape(shape: ModelShape) -> None:
    """Raise ContainerError when a size is out of any reasonable range or two of them disagree."""
    for name, (low, high) in _SHAPE_LIMITS.items():
        value = getattr(shape, name)
        _require(low <= value <= high, f"shape.{name} is {value}, outside {low} to {high}")
    _require(shape.heads % shape.kv_heads == 0, "shape.heads is no multiple of shape.kv_heads")
    _require(shape.head_dim % 16 == 0, "shape.head_dim is no multiple of 16")
    _require(shape.top_k <= shape.experts, "shape.top_k is above shape.experts")
    _require(
        2 * len(shape.rope_frequencies) <= shape.head_dim, "shape.rope_frequencies is too long"
    )
    _require(
        not shape.dense or shape.top_k == shape.experts, "shape.top_k does not fit a dense one"
    )
    window = shape.sliding_window
    _require(window is None or 1 <= window <= 1 << 26, "shape.sliding_window is out of range")


def check_weights(manifest: Manifest, specs: Iterable[WeightSpec]) -> None:
    """Raise ContainerError unless the resident weights are exactly those the family asks for."""
    expected = {spec.name: spec for spec in specs if spec.role is not Role.EXPERT}
    odd = sorted(expected.keys() ^ manifest.tensors.keys())
    _require(not odd, f"weights are missing or unknown: {', '.join(odd[:5])}")
    for name, spec in expected.items():
        found = manifest.tensors[name]
        fits = (found.role, found.shape) == (spec.role, spec.shape)
        _require(fits, f"tensor {name} does not fit the model's shape")


def is_safe_name(name: str) -> bool:
    """Whether a side file may have this name on every system: no path, no device, not ours."""
    ours = name.lower() in (MANIFEST_NAME, DENSE_NAME) or name.lower().endswith(".moex")
    plain = _SAFE_NAME.fullmatch(name) and not name.endswith(".")
    return bool(plain) and not ours and not _DEVICE_NAME.match(name)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ContainerError(f"{MANIFEST_NAME}: {problem}.", DAMAGED)


def _check_tensors(manifest: Manifest) -> None:
    for name, tensor in manifest.tensors.items():
        _require(name == tensor.name, f"tensor {name} has a second name")
        _check_tensor(tensor)
    total = sum(tensor_bytes(t.format, t.shape) for t in manifest.tensors.values())
    _require(total <= MAX_DENSE_BYTES, "tensors are too large")
    placed, size = place_tensors(manifest.tensors.values())
    for name, tensor in placed.items():
        _require(tensor == manifest.tensors[name], f"tensor {name} is not where it belongs")
    _require(size == manifest.dense_bytes, f"dense_bytes is not {size}")


def _check_tensor(tensor: TensorEntry) -> None:
    where = f"tensor {tensor.name}"
    _require(len(tensor.name) <= 256 and tensor.name.isascii(), f"{where[:80]} has an odd name")
    _require(tensor.name != "__metadata__", f"{where} has a reserved name")
    _require(
        tensor.format in _ROLE_FORMATS.get(tensor.role, ()), f"{where} has a format of another role"
    )
    _require(bool(_HASH.fullmatch(tensor.sha256)), f"{where} has no hash")
    dimensions = 1 <= len(tensor.shape) <= 2 and all(1 <= n <= 1 << 24 for n in tensor.shape)
    _require(dimensions and tensor_bytes(tensor.format, tensor.shape) > 0, f"{where} has no size")


def _check_layouts(manifest: Manifest) -> None:
    shape, count = manifest.shape, len(manifest.layouts)
    _require(1 <= count <= shape.layers, "layouts has a wrong length")
    _require(len(manifest.layer_layout) == shape.layers, "layer_layout has a wrong length")
    _require(all(i < count for i in manifest.layer_layout), "layer_layout names no layout")
    for i, layout in enumerate(manifest.layouts):
        names = tuple(matrix.name for matrix in layout.matrices)
        _require(names == ("gate", "up", "down"), f"layouts[{i}] is not gate, up, down")
        formats = {matrix.name: matrix.format for matrix in layout.matrices}
        expected = record_layout(shape, formats, manifest.record_align)
        _require(layout == expected, f"layouts[{i}] does not fit the model's shape")


def _check_records(manifest: Manifest) -> None:
    order = _expert_order(manifest)
    _require(1 <= len(manifest.files) <= MAX_FILES, "files has a wrong length")
    generation = generation_of(manifest.files[0].name)
    files, records = place_records(
        manifest.layouts, manifest.layer_layout, order, manifest.record_align, generation or 0
    )
    for expected, found in zip(records, manifest.records, strict=True):
        where = f"the record of layer {found.layer}, expert {found.expert}"
        _require(bool(_HASH.fullmatch(found.sha256)), f"{where} has no hash")
        placed = replace(expected, sha256=found.sha256)
        _require(placed == found, f"{where} is not where it belongs")
    _require(files == manifest.files, "files does not fit the records")


def _expert_order(manifest: Manifest) -> Sequence[Sequence[int]]:
    """Experts of each layer in file order; every layer must have each exactly once."""
    shape = manifest.shape
    layers, experts = shape.layers, shape.experts
    _require(layers * experts <= MAX_RECORDS, "the shape has too many experts")
    _require(len(manifest.records) == layers * experts, f"records is not {layers * experts} long")
    order = []
    for layer in range(layers):
        part = manifest.records[layer * experts : (layer + 1) * experts]
        _require(
            all(record.layer == layer for record in part), f"records of layer {layer} are mixed"
        )
        ids = [record.expert for record in part]
        _require(sorted(ids) == list(range(experts)), f"layer {layer} lacks or repeats experts")
        order.append(ids)
    return order


def _check_side_files(manifest: Manifest) -> None:
    names = [entry.name.lower() for entry in manifest.side_files]
    _require(len(set(names)) == len(names), "side_files has a name twice")
    for entry in manifest.side_files:
        _require(is_safe_name(entry.name), f"the side file {entry.name[:80]!r} has an unsafe name")
        _require(bool(_HASH.fullmatch(entry.sha256)), f"the side file {entry.name} has no hash")


def _check_counts(manifest: Manifest) -> None:
    if manifest.counts is not None:
        lengths = [len(layer) for layer in manifest.counts]
        expected = [manifest.shape.experts] * manifest.shape.layers
        _require(lengths == expected, "counts does not fit the model's shape")
