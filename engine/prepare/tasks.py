"""Cuts the conversion into small tasks and runs them on worker threads, a few ahead, in order.

A task reads, quantises and packs one piece: at most 4 million weights, save for matrices whose rows
must be reordered or turned. Memory: a few pieces a worker.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from engine.checkpoint.checkpoint import Checkpoint
from engine.container.manifest import TensorEntry
from engine.container.writer import Item
from engine.formats import STRIP_ROWS
from engine.model.weights import Source, WeightSpec
from engine.prepare.encode import encode
from engine.prepare.layout import Plan, expert_weight

PIECE_VALUES = 4 << 20
MAX_WORKERS = 8

Bytes = NDArray[np.uint8]
Task = Callable[[], Bytes]


def tasks_of(checkpoint: Checkpoint, plan: Plan, item: Item) -> list[Task]:
    """Functions whose results, joined, are the item's bytes."""
    if isinstance(item, TensorEntry):
        return _weight_tasks(checkpoint, plan.specs[item.name], item.format)
    layout = plan.manifest.layouts[plan.manifest.layer_layout[item.layer]]
    tasks: list[Task] = []
    for matrix in layout.matrices:
        spec = plan.specs[expert_weight(item.layer, item.expert, matrix.name)]
        tasks += _weight_tasks(checkpoint, spec, matrix.format)
    padding = layout.bytes - sum(matrix.bytes for matrix in layout.matrices)
    return [*tasks, partial(_zeros, padding)]


def _weight_tasks(checkpoint: Checkpoint, spec: WeightSpec, fmt: str) -> list[Task]:
    source = checkpoint.source(spec)
    return [
        partial(_produce, checkpoint, piece, fmt, spec.name)
        for piece in _pieces(source, spec.shape)
    ]


def _produce(checkpoint: Checkpoint, source: Source, fmt: str, name: str) -> Bytes:
    return encode(checkpoint.read(source), fmt, name)


def _pieces(source: Source, shape: tuple[int, ...]) -> list[Source]:
    """Cuts a large matrix into groups of whole strips; a reordered or turned one stays whole."""
    if len(shape) != 2 or source.transpose or source.unpermute_heads is not None:
        return [source]
    rows, cols = shape
    step = max(1, PIECE_VALUES // (cols * STRIP_ROWS)) * STRIP_ROWS
    first = source.rows[0] if source.rows else 0
    starts = range(0, rows, step)
    return [replace(source, rows=(first + i, first + min(i + step, rows))) for i in starts]


def _zeros(count: int) -> Bytes:
    return np.zeros(count, np.uint8)


def in_order(tasks: Iterable[Task]) -> Generator[Bytes]:
    """Results of the tasks in their order, a few computed ahead on worker threads."""
    workers = min(MAX_WORKERS, os.cpu_count() or 1)
    waiting = iter(tasks)
    with ThreadPoolExecutor(workers, "prepare") as pool:
        ahead: deque[Future[Bytes]] = deque(
            pool.submit(task) for task in islice(waiting, 2 * workers)
        )
        try:
            while ahead:
                result = ahead.popleft().result()
                ahead.extend(pool.submit(task) for task in islice(waiting, 1))
                yield result
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
