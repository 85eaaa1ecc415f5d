"""A model's resident (dense) weights: all of them in one anonymous mapping, and how large it is.

Memory: never the page cache, huge pages where possible; `close` gives it back.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.container.manifest import TensorEntry
from engine.container.reader import Container
from engine.formats import aligned
from engine.machine.pages import huge_pages
from engine.model.weights import Role

Floats = NDArray[np.float32]


class DenseArena:
    """Every resident weight of an open model."""

    def __init__(self, container: Container) -> None:
        self._offsets: dict[str, int] = {}
        size = 0
        for entry in _resident(container):
            self._offsets[entry.name] = size
            size += aligned(entry.bytes, 64)
        self._memory = huge_pages(max(size, 1))
        self._bytes = np.frombuffer(self._memory, np.uint8)
        for entry in _resident(container):
            container.read_dense_into(entry.name, self._view(entry))

    def _view(self, entry: TensorEntry) -> NDArray[np.uint8]:
        begin = self._offsets[entry.name]
        return self._bytes[begin : begin + entry.bytes]

    def address(self, entry: TensorEntry) -> int:
        """Where the weight's first byte lies."""
        return int(self._view(entry).ctypes.data)

    def floats(self, entry: TensorEntry) -> Floats:
        """A float32 weight, flat, without a copy."""
        return self._view(entry).view(np.float32)

    def close(self) -> None:
        """Give the memory back. No array over it may be left."""
        del self._bytes
        self._memory.close()


def _resident(container: Container) -> Iterator[TensorEntry]:
    return (e for e in container.manifest.tensors.values() if e.role is not Role.EMBEDDING)


def dense_bytes(container: Container) -> int:
    """Memory the resident weights take; float matrices are kept twice, as stored and as strips."""
    return sum(
        aligned(e.bytes, 64) * (2 if e.format == "f32" and len(e.shape) == 2 else 1)
        for e in _resident(container)
    )
