"""Feeds a writer: produces the next items on worker threads, a few ahead, and writes them in order.

The calling thread writes. Memory: a few pieces a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from engine.checkpoint.checkpoint import Checkpoint
from engine.container.manifest import Manifest, TensorEntry
from engine.container.writer import ContainerWriter, Item
from engine.errors import Stopped
from engine.events import Progress
from engine.prepare.layout import Plan
from engine.prepare.tasks import in_order, tasks_of
from engine.stop import StopFlag
from engine.text import Text

Bytes = NDArray[np.uint8]
Report = Callable[[Progress], None]


def write_items(
    checkpoint: Checkpoint,
    plan: Plan,
    writer: ContainerWriter,
    count: int,
    progress: Report,
    stop: StopFlag,
) -> None:
    """Write up to `count` more items; the rest of the items is only counted in the progress."""
    items = writer.items[writer.position :][:count]
    tasks = [tasks_of(checkpoint, plan, item) for item in items]
    done, total = writer.written_bytes, sum(item.bytes for item in writer.items)
    results = in_order(task for each in tasks for task in each)
    try:
        for item, each in zip(items, tasks, strict=True):
            progress(Progress(done, total, _describe(item, plan.manifest)))
            writer.write(_watched(islice(results, len(each)), stop))
            done += item.bytes
        progress(Progress(done, total, Text("written")))
    except Stopped:
        writer.sync()
        raise
    finally:
        results.close()


def _watched(pieces: Iterable[Bytes], stop: StopFlag) -> Iterator[Bytes]:
    for piece in pieces:
        stop.check()
        yield piece


def _describe(item: Item, manifest: Manifest) -> str:
    if isinstance(item, TensorEntry):
        return Text("weights that stay in memory")
    return Text("experts of layer {0} of {1}", item.layer + 1, manifest.shape.layers)
