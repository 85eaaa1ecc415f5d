"""GGUF files, single or split, as a `Checkpoint`. Owns the parsed headers only; weights are read
when asked for. Any thread; memory: the metadata (token lists) plus the piece being read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from engine.checkpoint.decode import to_float
from engine.checkpoint.files import FETCH_AGAIN
from engine.checkpoint.gguf_header import GgufHeader, read_header
from engine.checkpoint.gguf_tokenizer import tokenizer_files
from engine.checkpoint.stored import StoredCheckpoint
from engine.checkpoint.tensors import StoredTensor, read_weight
from engine.errors import CheckpointError
from engine.model.families import registry
from engine.model.weights import Source, WeightSpec
from engine.text import Text

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
_STACKED = re.compile(r"(blk\.\d+\.ffn_(?:gate|up|down))_exps(\.weight)")
_EMBEDDING, HEAD = "token_embd.weight", "output.weight"
_ROPE_FACTORS = "rope_freqs.weight"
_MAX_ROPE_FACTORS = 4096
_PARTS_AGAIN = Text("Fetch the parts of one model again.")


class GgufCheckpoint(StoredCheckpoint):
    """A GGUF model. `path`: the file that was opened (any part of a split one)."""

    def __init__(self, path: Path) -> None:
        headers = _parts(path)
        self.metadata: Mapping[str, object] = headers[0].metadata
        super().__init__("gguf", path, merged(headers))
        self._add_rope_factors()
        self.family = registry.by_gguf(self.metadata)
        shape = self.family.shape_from_gguf(self.metadata)
        self.shape = replace(shape, tied_embeddings=HEAD not in self._tensors)

    def source(self, spec: WeightSpec) -> Source:
        """A tied head is the embedding; old files hold each expert as a tensor of its own."""
        source = spec.gguf
        if source.name in self._tensors:
            return source
        if spec.optional_gguf and _EMBEDDING in self._tensors:
            return replace(source, name=_EMBEDDING)
        alone = _STACKED.sub(rf"\g<1>.{source.index}\g<2>", source.name)
        return replace(source, name=alone, index=None) if alone in self._tensors else source

    def side_files(self) -> dict[str, bytes]:
        """Tokenizer, chat template, generation defaults and licence note made from the metadata."""
        files, self.warnings = tokenizer_files(self.metadata)
        return files

    def _add_rope_factors(self) -> None:
        """Llama 3's rotary scaling is stored as a tensor; families read it from the metadata."""
        tensor = self._tensors.get(_ROPE_FACTORS)
        if tensor is None:
            return
        if len(tensor.shape) != 1 or tensor.shape[0] > _MAX_ROPE_FACTORS:
            text = Text("{0}: {1} has the shape {2}.", self.path, _ROPE_FACTORS, tensor.shape)
            raise CheckpointError(text, FETCH_AGAIN)
        factors = to_float(read_weight(tensor, Source(_ROPE_FACTORS)))
        self.metadata = {**self.metadata, _ROPE_FACTORS: factors.tolist()}


def _parts(path: Path) -> list[GgufHeader]:
    """All headers of a model, first part first."""
    given = read_header(path)
    count = _split_number(given, "split.count", 1)
    if count <= 1:
        return [given]
    match = _PART.fullmatch(path.name)
    if match is None or int(match["count"]) != count:
        raise CheckpointError(
            Text("{0} is one of {1} parts, but its name does not say which.", path, count),
            Text("Rename the parts to {0} and so on.", f"name-00001-of-{count:05}.gguf"),
        )
    return [_part(path, given, match, number, count) for number in range(1, count + 1)]


def _part(
    path: Path, given: GgufHeader, match: re.Match[str], number: int, count: int
) -> GgufHeader:
    part = path.with_name(f"{match['stem']}-{number:05}-of-{count:05}{path.suffix}")
    if not part.exists():
        raise CheckpointError(
            Text("{0} is missing: the model is split into {1} files.", part, count),
            Text("Fetch the missing part."),
        )
    header = given if part == path else read_header(part)
    place = _split_number(header, "split.no", -1), _split_number(header, "split.count", 0)
    if place != (number - 1, count):
        raise CheckpointError(
            Text(
                "{0} is part {1} of {2} by its content, not {3} of {4}.",
                part,
                place[0] + 1,
                place[1],
                number,
                count,
            ),
            _PARTS_AGAIN,
        )
    return header


def _split_number(header: GgufHeader, key: str, default: int) -> int:
    value = header.metadata.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= 99_999:
        text = Text("{0}: {1} is {2}.", header.path, key, f"{value!r:.40}")
        raise CheckpointError(text, FETCH_AGAIN)
    return value


def merged(headers: list[GgufHeader]) -> dict[str, StoredTensor]:
    """The tensors of all parts of a model."""
    result: dict[str, StoredTensor] = {}
    for header in headers:
        for name, tensor in header.tensors.items():
            if name in result:
                text = Text("{0} repeats the tensor {1}.", header.path, name)
                raise CheckpointError(text, FETCH_AGAIN)
            result[name] = tensor
    told = headers[0].metadata.get("split.tensors.count", len(result))
    if len(headers) > 1 and told != len(result):
        raise CheckpointError(
            Text(
                "{0} and its parts hold {1} tensors, not {2}.",
                headers[0].path,
                len(result),
                f"{told!r:.40}",
            ),
            _PARTS_AGAIN,
        )
    return result
