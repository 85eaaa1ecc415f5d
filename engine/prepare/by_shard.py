"""Converts a model whose files come one after the other and leave again: disk for the result and,
as a rule, two of them.

Owns `<out>.partial` as `prepare` does; the files belong to the supply. A file leaves only when
everything made of it was read back from the drive. Killed anywhere, it goes on; the result has the
same bytes as a conversion of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from engine.checkpoint.checkpoint import Checkpoint
from engine.container.writer import ContainerWriter, publish
from engine.events import Progress
from engine.formats import RECORD_ALIGN
from engine.prepare.layout import Plan, make_plan
from engine.prepare.prepare import (
    PrepareSummary,
    Report,
    checked_quant,
    refuse_unknown,
    summary,
)
from engine.prepare.stages import Stage, Stages, stages_of
from engine.prepare.target import claimed, found_complete
from engine.prepare.writing import write_items
from engine.stop import StopFlag
from engine.text import Text


class Supply(Protocol):
    """Where the files of the source come from."""

    def fetch(self, files: Sequence[str], reserve_bytes: int) -> None:
        """Have these files there, leaving so much disk free."""
        ...

    def holds(self, file: str) -> bool:
        """Whether a file is there."""
        ...

    def release(self, file: str) -> None:
        """A file is not needed any more."""
        ...


def prepare_by_shard(
    checkpoint: Checkpoint,
    places: Mapping[str, str],
    out: Path,
    supply: Supply,
    quant: str,
    content: str,
    progress: Report,
    stop: StopFlag,
) -> PrepareSummary:
    """Convert into the container `out`; run again after any interruption to go on.

    places: in which file each tensor lies; content: names the source's bytes, as for `prepare`.
    Raises what `prepare` and the supply raise.
    """
    refuse_unknown(checkpoint)
    plan = make_plan(checkpoint, checked_quant(quant), RECORD_ALIGN, {}, content=content)
    with claimed(out):
        if found_complete(out, plan.manifest, overwrite=False):
            return summary(checkpoint, plan.manifest, out, already=True)
        return _Conversion(checkpoint, plan, places, supply, progress, stop).run(out)


class _Conversion:
    """One conversion in stages."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        plan: Plan,
        places: Mapping[str, str],
        supply: Supply,
        progress: Report,
        stop: StopFlag,
    ) -> None:
        self._checkpoint, self._plan, self._supply = checkpoint, plan, supply
        self._progress, self._stop = progress, stop
        self._stages: Stages = stages_of(checkpoint, plan, places)

    def run(self, out: Path) -> PrepareSummary:
        side_files = self._checkpoint.side_files()  # before the long work
        folder, order = out.with_name(out.name + ".partial"), self._stages.order
        writer = ContainerWriter(folder, self._plan.manifest, order)
        resumed, begin = writer.written_bytes, 0
        try:
            for stage in self._stages.stages:
                end = begin + len(stage.items)
                if writer.position < end:
                    self._write(writer, order[writer.position : end])
                self._release(writer, order[:end], stage)
                begin = end
            self._progress(Progress(1, 1, Text("finishing")))
            manifest = writer.finish(side_files)
        finally:
            writer.close()
        publish(folder, out)
        return summary(self._checkpoint, manifest, out, resumed)

    def _write(self, writer: ContainerWriter, numbers: Sequence[int]) -> None:
        """A stage, or what is left of it."""
        self._supply.fetch(self._stages.files(numbers), writer.missing_bytes)
        write_items(self._checkpoint, self._plan, writer, len(numbers), self._progress, self._stop)

    def _release(self, writer: ContainerWriter, written: Sequence[int], stage: Stage) -> None:
        """Give up the files that are finished, once what was made of them has been read back."""
        held = {file for file in stage.finished if self._supply.holds(file)}
        needs = self._stages.needs
        writer.verify(at for at, n in enumerate(written) if held.intersection(needs[n]))
        for file in sorted(held):
            self._supply.release(file)
