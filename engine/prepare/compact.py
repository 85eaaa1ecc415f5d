"""Lays a converted model's records out anew: hot experts first inside each layer, bytes unchanged.

Owns the folder `compact.partial` inside the model folder while it runs. New files lie beside the
old ones, under other names, until each of their records was read back from the drive; all that
stays is compared with its hash, too. Replacing manifest.json is then the one step that changes the
model. Kill it anywhere: the folder holds one complete model, and the same command goes on or tidies
up. Memory: one record.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.container.checks import check
from engine.container.files import check_space, storage_errors, sync_folder, write_durably
from engine.container.manifest import MANIFEST_NAME, Manifest, RecordEntry, encode, identity
from engine.container.reader import Container
from engine.container.record import generation_of, moex_header, place_records
from engine.container.strict import DAMAGED
from engine.container.verified import note_verified
from engine.container.writer import ContainerWriter
from engine.errors import ConfigError, ContainerError, Stopped, StorageError
from engine.events import Progress
from engine.machine.unbuffered import open_unbuffered
from engine.prepare.target import claimed
from engine.stop import StopFlag
from engine.text import Text

WORK_NAME = "compact.partial"

Counts = NDArray[np.int64]  # (layers, experts)
Report = Callable[[Progress], None]


@dataclass(frozen=True)
class CompactSummary:
    """What was done. bytes: of the record files; already: the order was right before."""

    path: Path
    bytes: int
    records: int
    already: bool = False


def compact(
    path: Path,
    counts: Counts | None = None,
    progress: Report = lambda _: None,
    stop: StopFlag | None = None,
) -> CompactSummary:
    """Lay out the records of `path` by how often experts are used; None takes the manifest's.

    Raises ConfigError, ContainerError, StorageError, Stopped; the model is whole after any.
    """
    stop, path = stop or StopFlag(), Path(os.path.abspath(path))
    with claimed(path), closing(Container.open(path)) as container:
        old = container.manifest
        plan = plan_layout(old, counts)
        _remove_strays(path, old)
        already = old.counts is not None and _order(plan.records) == _order(old.records)
        if not already:
            _rewrite(container, plan, progress, stop)
            note_verified(path, Container(path, plan).all_files)  # all was compared on its way
        shutil.rmtree(path / WORK_NAME, ignore_errors=True)
    total = sum(file.bytes for file in plan.files)
    return CompactSummary(path, total, len(plan.records), already)


def plan_layout(manifest: Manifest, counts: Counts | None = None) -> Manifest:
    """The manifest with hot experts first, in files of new names; its hashes are the old ones."""
    shape = manifest.shape
    if counts is None and manifest.counts is None:
        raise ConfigError(
            Text("Nothing is known yet about which experts this model uses most."),
            Text("Use the model for a while, or add --calibrate."),
        )
    uses = np.asarray(manifest.counts if counts is None else counts, np.int64)
    if uses.shape != (shape.layers, shape.experts) or uses.min() < 0:
        raise ConfigError(Text("The counts do not fit the model."), Text("Count with this model."))
    files, placed = place_records(
        manifest.layouts,
        manifest.layer_layout,
        hot_order(uses),
        manifest.record_align,
        (generation_of(manifest.files[0].name) or 0) + 1,
    )
    hashes = {(record.layer, record.expert): record.sha256 for record in manifest.records}
    records = tuple(replace(r, sha256=hashes[r.layer, r.expert]) for r in placed)
    rows = tuple(tuple(row) for row in uses.tolist())
    plan = replace(manifest, files=files, records=records, counts=rows)
    return replace(plan, id=identity(plan))


def hot_order(counts: Counts) -> list[list[int]]:
    """Experts of each layer, the most used first; ties by number."""
    order: list[list[int]] = np.argsort(-counts, axis=1, kind="stable").tolist()
    return order


def strays(path: Path, manifest: Manifest) -> list[Path]:
    """Expert files that a killed run left in the model folder: the manifest does not name them."""
    named = {file.name for file in manifest.files}
    with storage_errors(path):
        names = os.listdir(path)
    return [path / n for n in sorted(names) if generation_of(n) is not None and n not in named]


def _remove_strays(path: Path, manifest: Manifest) -> None:
    for file in strays(path, manifest):
        with suppress(OSError):  # Windows keeps a file that a program has open: next time
            file.unlink()


def _order(records: Sequence[RecordEntry]) -> list[tuple[int, int]]:
    return [(record.layer, record.expert) for record in records]


def _rewrite(container: Container, plan: Manifest, progress: Report, stop: StopFlag) -> None:
    path, work = container.path, container.path / WORK_NAME
    writer = ContainerWriter(work, replace(plan, tensors={}))  # records only: the rest stays
    try:
        check_space(path, writer.missing_bytes)
        rest = _check_rest(container, writer, progress, stop)
        _copy(container, writer, rest, progress, stop)
    except ContainerError:
        writer.close()
        shutil.rmtree(work, ignore_errors=True)
        raise
    finally:
        writer.close()
    _read_back(work, plan, rest, progress, stop)
    check(plan)
    with storage_errors(path):
        for file in plan.files:
            os.replace(work / file.name, path / file.name)
        sync_folder(path)
    write_durably(path / MANIFEST_NAME, encode(plan))
    sync_folder(path)
    _remove_strays(path, plan)


def _check_rest(
    container: Container, writer: ContainerWriter, progress: Report, stop: StopFlag
) -> int:
    """Compare what stays as it is, before the long work; returns how many bytes that are."""
    moved = 2 * sum(item.bytes for item in writer.items)
    return container.verify_resident(
        lambda step: progress(replace(step, total=step.total + moved)), stop
    )


def _copy(
    container: Container, writer: ContainerWriter, rest: int, progress: Report, stop: StopFlag
) -> None:
    done, total = rest + writer.written_bytes, rest + 2 * sum(item.bytes for item in writer.items)
    try:
        for item in writer.plan.records[writer.position :]:
            stop.check()
            progress(Progress(done, total, Text("moving the experts of layer {0}", item.layer + 1)))
            data = container.read_record(item.layer, item.expert)
            if writer.write([data]) != item.sha256:
                what = Text("layer {0}, expert {1}", item.layer, item.expert)
                text = Text("{0} is damaged: {1}.", container.path, what)
                note_verified(container.path, container.all_files, intact=False)
                raise ContainerError(text, DAMAGED)
            done += item.bytes
    except Stopped:
        writer.sync()
        raise
    writer.sync()


def _read_back(work: Path, plan: Manifest, rest: int, progress: Report, stop: StopFlag) -> None:
    """Compare what the drive holds, not what the system's cache remembers."""
    written = sum(record.bytes for record in plan.records)
    done, total, header = rest + written, rest + 2 * written, len(moex_header(plan, 0))
    size = max(header, *(record.bytes for record in plan.records))
    with storage_errors(work), ExitStack() as stack:
        buffer = stack.enter_context(mmap.mmap(-1, size))
        view = stack.enter_context(memoryview(buffer))
        files = [open_unbuffered(work / file.name) for file in plan.files]
        for reader in files:
            stack.callback(reader.close)
        for number, reader in enumerate(files):
            count = reader.read_into(buffer, header, 0)
            _require(bytes(view[:count]) == moex_header(plan, number), work)
        for record in plan.records:
            stop.check()
            what = Text("checking the experts of layer {0}", record.layer + 1)
            progress(Progress(done, total, what))
            count = files[record.file].read_into(buffer, record.bytes, record.offset)
            _require(hashlib.sha256(view[:count]).hexdigest() == record.sha256, work)
            done += record.bytes
    progress(Progress(done, total, Text("checked")))


def _require(same: bool, work: Path) -> None:
    if not same:
        shutil.rmtree(work, ignore_errors=True)
        raise StorageError(
            Text("The drive gave back other bytes than were written to {0}.", work),
            Text("Check the health of the drive. The model itself is unchanged."),
        )
