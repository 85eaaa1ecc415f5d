"""Which pieces of a container can be written once which files of its source are there. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.checkpoint.checkpoint import Checkpoint
from engine.container.manifest import TensorEntry
from engine.container.writer import Item
from engine.prepare.layout import MATRICES, Plan, expert_weight


@dataclass(frozen=True)
class Stage:
    """items: numbers of the plan's items that can be written now; finished: files of the source
    that nothing needs afterwards."""

    items: tuple[int, ...]
    finished: tuple[str, ...]


@dataclass(frozen=True)
class Stages:
    """A conversion in stages. needs: the files of the source that each item is made of."""

    stages: tuple[Stage, ...]
    needs: tuple[tuple[str, ...], ...]

    @property
    def order(self) -> list[int]:
        """All items as they are written."""
        return [number for stage in self.stages for number in stage.items]

    def files(self, numbers: Sequence[int]) -> list[str]:
        """The files that these items are made of."""
        return sorted({file for number in numbers for file in self.needs[number]})

    def peak_bytes(self, plan: Plan, sizes: Mapping[str, int]) -> int:
        """Bytes of source and result together when they are most. sizes: of the source's files."""
        items, written, peak = items_of(plan), 0, 0
        there: set[str] = set()
        for stage in self.stages:
            there |= set(self.files(stage.items))
            written += sum(items[number].bytes for number in stage.items)
            peak = max(peak, written + sum(sizes[file] for file in there))
            there -= set(stage.finished)
        return peak


def items_of(plan: Plan) -> list[Item]:
    """The items of a plan, by their numbers."""
    return [*plan.manifest.tensors.values(), *plan.manifest.records]


def stages_of(checkpoint: Checkpoint, plan: Plan, places: Mapping[str, str]) -> Stages:
    """A stage for each file of the source, in the order of their names.

    places: in which file each tensor lies.
    """
    needs = tuple(_files(checkpoint, plan, item, places) for item in items_of(plan))
    files = sorted({file for each in needs for file in each})
    stage_of_file = {file: number for number, file in enumerate(files)}
    stage_of_item = [max(stage_of_file[file] for file in each) for each in needs]
    last_use = dict.fromkeys(files, 0)
    for each, stage in zip(needs, stage_of_item, strict=True):
        for file in each:
            last_use[file] = max(last_use[file], stage)
    stages = tuple(
        Stage(
            tuple(number for number, at in enumerate(stage_of_item) if at == stage),
            tuple(file for file in files if last_use[file] == stage),
        )
        for stage in range(len(files))
    )
    return Stages(stages, needs)


def _files(
    checkpoint: Checkpoint, plan: Plan, item: Item, places: Mapping[str, str]
) -> tuple[str, ...]:
    if isinstance(item, TensorEntry):
        names = [item.name]
    else:
        names = [expert_weight(item.layer, item.expert, part) for part in MATRICES]
    return tuple({places[checkpoint.source(plan.specs[name]).name]: None for name in names})
