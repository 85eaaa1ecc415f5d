"""Rewrites a small GGUF with its matrices in other stored types, filled with random blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gguf
from gguf import GGMLQuantizationType as Type

from tests.helpers.checkpoint_files import random_stored


def requantised(source: Path, out: Path, kind_of: Callable[[str], Type | None]) -> Path:
    """Writes `source` to `out`; tensors for which `kind_of` names a type get random bytes of it."""
    reader = gguf.GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(out, architecture)
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name != "general.architecture":
            sub_type = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(name, field.contents(), field.types[0], sub_type)
    for seed, tensor in enumerate(reader.tensors):
        kind = kind_of(tensor.name)
        if kind is None:
            writer.add_tensor(tensor.name, tensor.data)
            continue
        shape = tuple(int(length) for length in reversed(tensor.shape))
        raw = random_stored(kind, shape, seed)
        writer.add_tensor(tensor.name, raw, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out


def matrices(kind: Type, **others: Type) -> Callable[[str], Type | None]:
    """`kind` for all matrices but the router; `others` by the name's beginning, __ for a dot."""

    def kind_of(name: str) -> Type | None:
        for start, other in others.items():
            if name.startswith(start.replace("__", ".")):
                return other
        return None if "norm" in name or "gate_inp" in name or name.endswith("bias") else kind

    return kind_of
