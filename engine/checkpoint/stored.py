"""What both kinds of checkpoint share: named tensors that lie in files, and reading weights from
them. Holds no data and no open file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from engine.checkpoint.decode import Floats
from engine.checkpoint.tensors import StoredTensor, TensorInfo, read_weight
from engine.errors import CheckpointError
from engine.formats import Blocks
from engine.model.families.registry import Family
from engine.model.shape import ModelShape
from engine.model.weights import Source
from engine.text import Text

Kind = Literal["safetensors", "gguf"]


class StoredCheckpoint:
    """Base of the two readers. warnings: what `side_files` left out or guessed, for the user."""

    family: Family
    shape: ModelShape

    def __init__(self, kind: Kind, path: Path, tensors: dict[str, StoredTensor]) -> None:
        self.kind: Kind = kind
        self.path = path
        self.warnings: list[Text] = []
        self._tensors = tensors

    def names(self) -> Mapping[str, TensorInfo]:
        """Every tensor by name."""
        return self._tensors

    def read(self, source: Source) -> Blocks | Floats:
        """The weight: `Blocks` if stored losslessly in one of our formats, else float32."""
        return read_weight(self._tensor(source), source)

    def stored_type(self, source: Source) -> str:
        """The stored type, for messages: "Q4_0", "BF16"."""
        return self._tensor(source).dtype

    def close(self) -> None:
        """Forgets the tensors; reads fail from now on."""
        self._tensors = {}

    def _tensor(self, source: Source) -> StoredTensor:
        tensor = self._tensors.get(source.name)
        if tensor is None:
            raise CheckpointError(
                Text("{0} has no tensor {1}.", self.path, source.name),
                Text("Fetch the complete model."),
            )
        return tensor
