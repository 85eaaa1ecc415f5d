"""Converts a checkpoint into a container: plan, produce each piece, write, publish by rename.

Owns the unfinished folder `<out>.partial` and a lock beside it for as long as it runs. Worker
threads produce pieces (`writing`); the calling thread hashes and writes them in order, so the
result does not depend on timing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from engine.checkpoint.checkpoint import (
    Checkpoint,
    missing_tensors,
    open_checkpoint,
    unexpected_tensors,
)
from engine.container.checks import RECORD_ALIGNMENTS, check_shape
from engine.container.files import check_space
from engine.container.manifest import Manifest, Quant
from engine.container.writer import ContainerWriter, publish
from engine.errors import CheckpointError, ConfigError, UnsupportedModelError
from engine.events import Progress
from engine.formats import RECORD_ALIGN
from engine.prepare.layout import Plan, make_plan
from engine.prepare.target import claimed, found_complete
from engine.prepare.writing import write_items
from engine.stop import StopFlag
from engine.text import Text, joined

Report = Callable[[Progress], None]


@dataclass(frozen=True)
class PrepareSummary:
    """What came out.

    notes: what became of which stored type; warnings: what the source lacks, such as a tokenizer.
    resumed_bytes: taken over from an interrupted run; already: `path` was complete before.
    """

    path: Path
    bytes: int
    records: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    resumed_bytes: int = 0
    already: bool = False


def prepare(
    source: Path,
    out: Path,
    quant: str = "nf4",
    progress: Report = lambda _: None,
    stop: StopFlag | None = None,
    overwrite: bool = False,
    expert_block: int = RECORD_ALIGN,
    hot_order: Mapping[int, Sequence[int]] | None = None,
    side_files: Mapping[str, bytes] | None = None,
    content: str = "",
) -> PrepareSummary:
    """Convert `source` into the container `out`; run again after any interruption to go on.

    side_files: small files that go in beside, or instead of, the source's own. content: names the
    source's bytes (the hub's hashes), where that is known without looking at them.

    Raises CheckpointError, UnsupportedModelError, StorageError, ConfigError, Stopped.
    """
    chosen = checked_quant(quant, expert_block)
    stop = stop or StopFlag()
    out = Path(os.path.abspath(out))
    checkpoint = open_checkpoint(source)
    try:
        refuse_unknown(checkpoint)
        progress(Progress(0, 1, Text("planning")))
        plan = make_plan(checkpoint, chosen, expert_block, hot_order or {}, content=content)
        with claimed(out):
            if found_complete(out, plan.manifest, overwrite):
                return summary(checkpoint, plan.manifest, out, already=True)
            extra = {} if side_files is None else side_files
            return _convert(checkpoint, plan, out, extra, progress, stop)
    finally:
        checkpoint.close()


def checked_quant(quant: str, expert_block: int = RECORD_ALIGN) -> Quant:
    """`quant` as one of the formats we write. Raises ConfigError."""
    known: dict[str, Quant] = {name: name for name in get_args(Quant)}
    if quant not in known:
        raise ConfigError(
            Text("The number format {0} is not known.", f"{quant[:40]!r}"),
            Text("Choose one of {0}.", ", ".join(known)),
        )
    if expert_block not in RECORD_ALIGNMENTS:
        raise ConfigError(
            Text("The expert block is {0} bytes.", expert_block), Text("Choose 4k, 16k or 64k.")
        )
    return known[quant]


def refuse_unknown(checkpoint: Checkpoint) -> None:
    """Stop before the first byte when a tensor is missing, misshapen or nobody's."""
    check_shape(checkpoint.shape)
    specs = checkpoint.family.weights(checkpoint.shape)
    missing = missing_tensors(checkpoint, specs)
    if missing:
        raise CheckpointError(
            Text("{0} lacks {1} tensors: {2}.", checkpoint.path, len(missing), _some(missing)),
            Text("Fetch the complete model again."),
        )
    unexpected = unexpected_tensors(checkpoint, specs)
    if unexpected:
        raise UnsupportedModelError(
            Text(
                "{0} holds tensors this version does not know: {1}.",
                checkpoint.path,
                _some(unexpected),
            ),
            Text("Choose another version of the model, or update Edge0."),
        )


def _some(names: Sequence[str]) -> Text:
    return joined(", ", [*names[:5], "…"] if len(names) > 5 else names)


def _convert(
    checkpoint: Checkpoint,
    plan: Plan,
    out: Path,
    extra: Mapping[str, bytes],
    progress: Report,
    stop: StopFlag,
) -> PrepareSummary:
    side_files = checkpoint.side_files() | dict(
        extra
    )  # before the long work: a bad tokenizer is told at once
    folder = out.with_name(out.name + ".partial")
    writer = ContainerWriter(folder, plan.manifest)
    resumed = writer.written_bytes
    if writer.restarted:
        progress(Progress(0, 1, Text("the source or the options changed: starting anew")))
    try:
        check_space(out.parent, writer.missing_bytes)
        write_items(checkpoint, plan, writer, len(writer.items), progress, stop)
        progress(Progress(1, 1, Text("finishing")))
        manifest = writer.finish(side_files)
    finally:
        writer.close()
    publish(folder, out)
    return summary(checkpoint, manifest, out, resumed)


def summary(
    checkpoint: Checkpoint, manifest: Manifest, out: Path, resumed: int = 0, already: bool = False
) -> PrepareSummary:
    """What to tell of a finished conversion."""
    return PrepareSummary(
        path=out,
        bytes=manifest.weight_bytes,
        records=len(manifest.records),
        notes=manifest.source.notes,
        warnings=tuple(checkpoint.warnings),
        resumed_bytes=resumed,
        already=already,
    )
