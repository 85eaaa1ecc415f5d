"""Hugging Face folders of safetensors files as a `Checkpoint`. Owns the parsed headers only;
weights are read when asked for. Any thread. As strict as the library's own reader; no pickles."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TypeGuard

from engine.checkpoint.files import (
    FETCH_AGAIN,
    file_size,
    inside,
    list_names,
    parse_json,
    read_range,
    read_small,
    refuse_pointer,
)
from engine.checkpoint.side_files import hugging_face_files
from engine.checkpoint.stored import StoredCheckpoint
from engine.checkpoint.tensors import StoredTensor, is_plain_name
from engine.errors import CheckpointError, UnsupportedModelError
from engine.model.families import registry
from engine.model.weights import Source, WeightSpec
from engine.text import Text

MAX_HEADER = 100_000_000
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16, "U32": 32, "I32": 32, "U64": 64, "I64": 64,
    "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
}  # fmt: skip
_READABLE = ("F32", "F16", "BF16")
_log = logging.getLogger(__name__)


class SafetensorsCheckpoint(StoredCheckpoint):
    """A model folder with config.json and one or more .safetensors files."""

    def __init__(self, folder: Path) -> None:
        where = inside(folder, "config.json")
        config = parse_json(read_small(where), str(where))
        model_type = config.get("model_type")
        if not isinstance(model_type, str):
            raise CheckpointError(
                Text("{0} names no model_type.", where), Text("Fetch the complete model.")
            )
        self.family = registry.by_model_type(model_type)
        self.shape = self.family.shape_from_config(config)
        super().__init__("safetensors", folder, _folder_tensors(folder))
        refuse_types(self._tensors)

    def source(self, spec: WeightSpec) -> Source:
        """Where a weight is."""
        return spec.hf

    def side_files(self) -> dict[str, bytes]:
        """The small files beside the weights: tokenizer, templates, configuration, licence."""
        files, self.warnings = hugging_face_files(self.path)
        for warning in self.warnings:
            _log.warning("%s: %s", self.path, warning)
        return files


def read_file_header(path: Path) -> dict[str, StoredTensor]:
    """The tensors of one .safetensors file. Raises CheckpointError."""
    size = file_size(path)
    start = read_range(path, 0, min(8, size)).tobytes()
    refuse_pointer(start, path)
    length = int.from_bytes(start, "little")
    if size < 8 or length > min(MAX_HEADER, size - 8):
        text = Text("{0}: the header does not fit into the file.", path)
        raise CheckpointError(text, FETCH_AGAIN)
    return parse_header(read_range(path, 8, length).tobytes(), path, size)


def parse_header(text: bytes, path: Path, size: int) -> dict[str, StoredTensor]:
    """The tensors that a header tells of; the file, here or elsewhere, has `size` bytes."""
    header, length = parse_json(text, Text("The header of {0}", path)), len(text)
    _check_metadata(header.pop("__metadata__", {}), path)
    tensors = [_entry(name, value, path, 8 + length) for name, value in header.items()]
    end = 8 + length
    for tensor in sorted(tensors, key=lambda t: (t.offset, t.nbytes)):
        if tensor.offset != end:
            raise CheckpointError(
                Text(
                    "{0}: tensor {1} overlaps the one before it, or leaves a gap.",
                    path,
                    tensor.name,
                ),
                FETCH_AGAIN,
            )
        end += tensor.nbytes
    if end != size:
        raise CheckpointError(
            Text("{0} has {1} bytes, its header tells of {2}.", path, size, end), FETCH_AGAIN
        )
    return {tensor.name: tensor for tensor in tensors}


def _check_metadata(value: object, path: Path) -> None:
    texts = isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    if not texts:
        raise CheckpointError(Text("{0}: the metadata are not texts.", path), FETCH_AGAIN)


def _entry(name: str, value: object, path: Path, data: int) -> StoredTensor:
    """One entry of the header, checked by itself."""
    fields = value if isinstance(value, dict) else {}
    dtype, shape, span = (fields.get(key) for key in ("dtype", "shape", "data_offsets"))
    if (
        not _is_dtype(dtype)
        or len(fields) != 3
        or not _sizes(shape)
        or not _sizes(span)
        or len(span) != 2
        or len(shape) > 8
    ):
        text = Text("{0}: tensor {1} is not described well.", path, f"{name!r:.200}")
        raise CheckpointError(text, FETCH_AGAIN)
    if not is_plain_name(name):
        text = Text("{0}: {1} is not a tensor's name.", path, f"{name!r:.200}")
        raise CheckpointError(text, FETCH_AGAIN)
    nbytes = span[1] - span[0]
    if nbytes * 8 != math.prod(shape) * _BITS[dtype]:
        raise CheckpointError(
            Text(
                "{0}: tensor {1} of shape {2} as {3} cannot have {4} bytes.",
                path,
                name,
                shape,
                dtype,
                nbytes,
            ),
            FETCH_AGAIN,
        )
    unit = (1, max(_BITS[dtype] // 8, 1))
    return StoredTensor(name, tuple(shape), dtype, nbytes, path, data + span[0], unit)


def _is_dtype(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value in _BITS


def _sizes(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 1 << 60 for n in value)


def _folder_tensors(folder: Path) -> dict[str, StoredTensor]:
    names = list_names(folder)
    if INDEX in names:
        return _sharded(folder)
    if SINGLE in names:
        return read_file_header(inside(folder, SINGLE))
    if any(name.endswith(".safetensors") for name in names):
        raise CheckpointError(
            Text("{0} has neither {1} nor {2}.", folder, SINGLE, INDEX),
            Text("Fetch the complete model."),
        )
    if any(name.lower().endswith(_PICKLES) for name in names):
        raise CheckpointError(
            Text(
                "{0} holds pickled weights ({1}), which could run any code.",
                folder,
                ", ".join(_PICKLES),
            ),
            Text("Choose a version of the model with .safetensors files."),
        )
    raise CheckpointError(
        Text("{0} holds no .safetensors files.", folder), Text("Fetch the complete model.")
    )


def _sharded(folder: Path) -> dict[str, StoredTensor]:
    """Tensors of all shards that the index names, which must be where the index says."""
    where = inside(folder, INDEX)
    places = parse_json(read_small(where), str(where)).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(file, str) for file in places.values()):
        raise CheckpointError(Text("{0} has no list of tensors and files.", where), FETCH_AGAIN)
    shards = {file: _shard(folder, file) for file in sorted(set(places.values()))}
    for name, file in places.items():
        if name not in shards[file]:
            raise CheckpointError(
                Text(
                    "{0} lacks the tensor {1} that {2} puts there.",
                    folder / file,
                    f"{name!r:.200}",
                    INDEX,
                ),
                FETCH_AGAIN,
            )
    return {name: shards[file][name] for name, file in places.items()}


def _shard(folder: Path, file: str) -> dict[str, StoredTensor]:
    path = inside(folder, file)
    if path.suffix != ".safetensors":
        raise CheckpointError(
            Text(
                "{0} names {1}, which is not a .safetensors file.",
                folder / INDEX,
                f"{file!r:.200}",
            ),
            Text("Choose a version of the model with .safetensors files."),
        )
    return read_file_header(path)


def refuse_types(tensors: dict[str, StoredTensor]) -> None:
    """Refuses weights in number types that we cannot read; integer buffers are nobody's weights."""
    bad = {t.dtype for t in tensors.values() if t.dtype[0] in "FC" and t.dtype not in _READABLE}
    if bad:
        raise UnsupportedModelError(
            Text(
                "The weights are stored as {0}; only {1} can be read.",
                ", ".join(sorted(bad)),
                ", ".join(_READABLE),
            ),
            Text("Choose a BF16 version of the model, or a GGUF."),
        )
