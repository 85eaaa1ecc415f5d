"""A converted model as weights of the torch executor: the bytes native kernels eat, read on use.

Holds nothing but the container; every call reads from the disk. For tests and comparisons only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from engine.container.reader import Container
from engine.formats import NumberFormat
from engine.kernels.packing import Bytes, unpack, unpack_blocks
from engine.kernels.reference import Matrix


class ContainerWeights:
    """`Weights` of a container; quantised matrices stay Blocks, so both executor modes work."""

    def __init__(self, container: Container) -> None:
        self._container = container

    def embedding(self, ids: Sequence[int]) -> torch.Tensor:
        """Rows (n, hidden) of the embedding."""
        return torch.from_numpy(self._container.embedding_rows(ids))

    def tensor(self, name: str) -> Matrix:
        """A resident weight by its logical name."""
        entry = self._container.manifest.tensors[name]
        data = np.array(self._container.read_dense(name))
        if entry.format == "f32":
            return torch.from_numpy(data.view("<f4").reshape(entry.shape))
        rows, cols = entry.shape
        return _matrix(data, NumberFormat(entry.format), rows, cols)

    def expert(self, layer: int, expert: int) -> tuple[Matrix, Matrix, Matrix]:
        """gate, up and down of one expert."""
        record = self._container.read_record(layer, expert)
        gate, up, down = (
            _matrix(record[m.offset : m.offset + m.bytes], m.format, m.rows, m.cols)
            for m in self._container.layout(layer).matrices
        )
        return gate, up, down


def _matrix(data: Bytes, fmt: NumberFormat, rows: int, cols: int) -> Matrix:
    if fmt is NumberFormat.BF16:
        return torch.from_numpy(unpack(data, fmt, rows, cols))
    return unpack_blocks(data, fmt, rows, cols)
