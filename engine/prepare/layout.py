"""Decides number formats and lays out the container before a byte of it is written: a plan.

Reads headers and a few samples, no weights. Stored kinds we can hold exactly (Q4_0, IQ4_NL, MXFP4,
Q8_0) are kept, except with bf16, which asks for float maths throughout; `quant` governs the rest.
The head, which decides every token, gets at least int8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.checkpoint.checkpoint import Checkpoint
from engine.container.manifest import (
    FORMAT,
    VERSION,
    Manifest,
    Quant,
    RecordLayout,
    SourceInfo,
    TensorEntry,
    TensorFormat,
    identity,
)
from engine.container.record import MatrixName, place_records, place_tensors, record_layout
from engine.errors import ConfigError
from engine.formats import NumberFormat
from engine.model.weights import Role, WeightSpec
from engine.prepare.fingerprint import fingerprint
from engine.text import Text

LOSSLESS = {
    "Q4_0": NumberFormat.INT4,
    "IQ4_NL": NumberFormat.IQ4_NL,
    "Q8_0": NumberFormat.INT8,
    "MXFP4": NumberFormat.E2M1,
}
_FLOATS = ("F32", "F16", "BF16")
_EXACT_AS_BF16 = ("BF16", "MXFP4")
_NOUNS = {
    Role.EXPERT: (Text("expert matrix"), Text("expert matrices")),
    Role.FLOAT: (Text("small weight"), Text("small weights")),
}
_WEIGHTS = (Text("weight"), Text("weights"))
MATRICES: tuple[MatrixName, ...] = ("gate", "up", "down")


@dataclass(frozen=True)
class Plan:
    """manifest: complete but for hashes. specs: every weight by its name."""

    manifest: Manifest
    specs: dict[str, WeightSpec]


def make_plan(
    checkpoint: Checkpoint,
    quant: Quant,
    align: int,
    hot_order: Mapping[int, Sequence[int]],
    counts: Sequence[Sequence[int]] | None = None,
    content: str = "",
) -> Plan:
    """The plan for a checkpoint whose tensors are known to be complete.

    content: names the source's bytes where that is known without looking at them.
    """
    shape = checkpoint.shape
    specs = {spec.name: spec for spec in checkpoint.family.weights(shape)}
    formats = _formats(checkpoint, specs, quant)
    tensors, dense_bytes = place_tensors(
        TensorEntry(name, spec.role, formats[name], spec.shape, 0, 0, "")
        for name, spec in sorted(specs.items(), key=_dense_order)
        if spec.role is not Role.EXPERT
    )
    layouts, layer_layout = _layouts(checkpoint, formats, align)
    order = [_expert_order(hot_order, layer, shape.experts) for layer in range(shape.layers)]
    files, records = place_records(layouts, layer_layout, order, align)
    manifest = Manifest(
        format=FORMAT,
        version=VERSION,
        id="",
        shape=shape,
        quant=quant,
        record_align=align,
        dense_bytes=dense_bytes,
        tensors=tensors,
        layouts=layouts,
        layer_layout=layer_layout,
        files=files,
        records=records,
        side_files=(),
        counts=None if counts is None else tuple(tuple(layer) for layer in counts),
        source=_source(checkpoint, specs, formats, content),
    )
    return Plan(replace(manifest, id=identity(manifest)), specs)


def expert_weight(layer: int, expert: int, part: str) -> str:
    """Name of one matrix of an expert."""
    return f"layers.{layer}.experts.{expert}.{part}"


def _formats(
    checkpoint: Checkpoint, specs: Mapping[str, WeightSpec], quant: Quant
) -> dict[str, TensorFormat]:
    """The stored format of every weight."""
    result: dict[str, TensorFormat] = {}
    for name, spec in specs.items():
        stored = _stored_type(checkpoint, spec)
        if spec.role is Role.FLOAT:
            result[name] = "f32"
        elif spec.role is Role.EMBEDDING:
            result[name] = "bf16_rows" if stored in (*_FLOATS, "MXFP4") else "q8_rows"
        elif stored in LOSSLESS and quant != "bf16":
            result[name] = LOSSLESS[stored].value
        else:
            result[name] = "int8" if name == "head" and quant in ("nf4", "int4") else quant
    return result | _mixed_layers(checkpoint, result, quant)


def _mixed_layers(
    checkpoint: Checkpoint, formats: Mapping[str, TensorFormat], quant: Quant
) -> dict[str, TensorFormat]:
    """`quant` for the experts of a layer that do not all have the same format: records must."""
    shape = checkpoint.shape
    result: dict[str, TensorFormat] = {}
    for layer in range(shape.layers):
        for part in MATRICES:
            names = [expert_weight(layer, expert, part) for expert in range(shape.experts)]
            if len({formats[name] for name in names}) > 1:
                result |= dict.fromkeys(names, quant)
    return result


def _stored_type(checkpoint: Checkpoint, spec: WeightSpec) -> str:
    """The stored type; a transposed block type is read as float32."""
    source = checkpoint.source(spec)
    stored = checkpoint.stored_type(source)
    return "F32" if source.transpose and stored in LOSSLESS else stored


def _dense_order(entry: tuple[str, WeightSpec]) -> int:
    """Matrices first, whose sizes keep each other aligned; the embedding, rarely read, last."""
    return (Role.MATRIX, Role.FLOAT, Role.EMBEDDING, Role.EXPERT).index(entry[1].role)


def _layouts(
    checkpoint: Checkpoint, formats: Mapping[str, TensorFormat], align: int
) -> tuple[tuple[RecordLayout, ...], tuple[int, ...]]:
    """The distinct record layouts, and which one each layer has."""
    shape = checkpoint.shape
    found: dict[RecordLayout, int] = {}
    chosen = []
    for layer in range(shape.layers):
        parts = {part: NumberFormat(formats[expert_weight(layer, 0, part)]) for part in MATRICES}
        layout = record_layout(shape, parts, align)
        chosen.append(found.setdefault(layout, len(found)))
    return tuple(found), tuple(chosen)


def _expert_order(
    hot_order: Mapping[int, Sequence[int]], layer: int, experts: int
) -> Sequence[int]:
    order = hot_order.get(layer, range(experts))
    if sorted(order) != list(range(experts)):
        raise ConfigError(
            Text("The expert order of layer {0} lacks or repeats experts.", layer),
            Text("Give each of 0 to {0} once, or leave the layer out.", experts - 1),
        )
    return order


def _source(
    checkpoint: Checkpoint,
    specs: Mapping[str, WeightSpec],
    formats: Mapping[str, TensorFormat],
    content: str,
) -> SourceInfo:
    """Where the weights come from and what became of them."""
    moves = Counter(
        (checkpoint.stored_type(checkpoint.source(spec)), formats[name], spec.role)
        for name, spec in specs.items()
    )
    types: Counter[str] = Counter()
    for (stored, _, _), count in moves.items():
        types[stored] += count
    return SourceInfo(
        name=checkpoint.path.name,
        kind=checkpoint.kind,
        fingerprint=content or fingerprint(checkpoint),
        stored_types=dict(sorted(types.items())),
        notes=tuple(_note(*move, count) for move, count in sorted(moves.items())),
    )


def _note(stored: str, fmt: str, role: Role, count: int) -> Text:
    """What happened to weights of one stored type, for people."""
    one, many = _NOUNS.get(role, _WEIGHTS)
    noun, fate = one if count == 1 else many, _fate(stored, fmt)
    return Text("{0} → {1}: {2} {3} {4}", stored, fmt, count, noun, fate)


def _fate(stored: str, fmt: str) -> Text:
    exact_int8 = fmt == "q8_rows" and stored in LOSSLESS and stored != "MXFP4"
    exact_bf16 = fmt in ("bf16", "bf16_rows") and stored in _EXACT_AS_BF16
    if fmt == LOSSLESS.get(stored) or exact_int8 or exact_bf16 or fmt == "f32":
        return Text("kept exactly")
    if fmt in ("bf16", "bf16_rows") and stored in _FLOATS:
        return Text("rounded")
    return Text("quantised") if stored in _FLOATS else Text("dequantised and requantised")
