"""What a model will take before a byte of it is downloaded or converted: exact, from its headers.

Makes the same plan as the conversion, so the sizes are the ones it will write. Reads no weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.checkpoint import Checkpoint
from engine.container.reader import Container
from engine.hub.plan import DownloadPlan
from engine.hub.remote_model import RemoteSafetensors
from engine.hub.speed import ModelCost
from engine.model.planning import DEFAULT_CONTEXT, memory_needs
from engine.model.weights import Role, WeightSpec
from engine.prepare.layout import Plan, make_plan
from engine.prepare.prepare import checked_quant, refuse_unknown
from engine.prepare.stages import stages_of
from engine.store.needs import MemoryNeeds

SIDE_BYTES = 64 << 20  # manifest, tokenizer and what the file system needs itself


@dataclass(frozen=True)
class Forecast:
    """Sizes in bytes.

    output: weights of the converted model, exactly. resident: weights always in memory.
    smallest_budget: runs at all; token_budget: holds what one token uses; whole_budget: everything.
    disk_peak: source and result together; disk_peak_by_shard: if each source file is deleted once
    it is converted (no less for GGUF). notes: what becomes of which stored type.
    """

    model: str
    model_type: str
    quant: str
    dense: bool
    parameters: int
    active_parameters: int
    download: int
    output: int
    needs: MemoryNeeds
    disk_peak: int
    disk_peak_by_shard: int
    notes: tuple[str, ...]

    @property
    def resident(self) -> int:
        """Weights always in memory."""
        return self.needs.dense_bytes

    @property
    def smallest_budget(self) -> int:
        """The smallest memory budget that runs."""
        return self.needs.minimum_bytes

    @property
    def token_budget(self) -> int:
        """The budget from which on experts are found again: it holds what one token uses."""
        needs = self.needs
        return needs.fixed_bytes + needs.token_cycle_records * needs.record_bytes

    @property
    def whole_budget(self) -> int:
        """The budget that holds the whole model."""
        return self.needs.whole_bytes

    @property
    def cost(self) -> ModelCost:
        """For `expected_speed`."""
        return ModelCost(self.needs, self.active_parameters)


def forecast(
    checkpoint: Checkpoint,
    quant: str = "nf4",
    plan: DownloadPlan | None = None,
    context_tokens: int = DEFAULT_CONTEXT,
) -> Forecast:
    """The forecast for a checkpoint, here or on a hub (`plan`: what must be downloaded).

    Raises CheckpointError, UnsupportedModelError, ConfigError: what converting would raise.
    """
    chosen = checked_quant(quant)
    refuse_unknown(checkpoint)
    layout = make_plan(checkpoint, chosen, 4096, {})
    container = Container(Path(checkpoint.path.name), layout.manifest)  # opens no file
    shape = container.shape
    context = min(context_tokens, shape.max_positions)
    program = checkpoint.family.program(shape)
    sizes = [file.size for file in plan.files] if plan else []
    output = layout.manifest.weight_bytes
    disk_peak = sum(sizes) + output + SIDE_BYTES
    total, active = _parameters(list(layout.specs.values()), shape.top_k / shape.experts)
    return Forecast(
        model=plan.repository.id if plan else checkpoint.path.name,
        model_type=shape.model_type,
        quant=quant,
        dense=shape.dense,
        parameters=total,
        active_parameters=active,
        download=sum(sizes),
        output=output,
        needs=memory_needs(container, program, context),
        disk_peak=disk_peak,
        disk_peak_by_shard=min(disk_peak, _peak_by_shard(checkpoint, layout, plan) or disk_peak),
        notes=layout.manifest.source.notes,
    )


def _peak_by_shard(checkpoint: Checkpoint, layout: Plan, plan: DownloadPlan | None) -> int | None:
    """Source and result at their most, shard by shard; None where that cannot be done."""
    if plan is None or not isinstance(checkpoint, RemoteSafetensors):
        return None
    places = {tensor.name: tensor.file.name for tensor in checkpoint.tensors.values()}
    sizes = {file.name: file.size for file in plan.files}
    return stages_of(checkpoint, layout, places).peak_bytes(layout, sizes) + SIDE_BYTES


def _parameters(specs: list[WeightSpec], used: float) -> tuple[int, int]:
    """(all, those one token is multiplied with); the embedding is only looked up."""
    experts = others = 0
    for spec in specs:
        count = math.prod(spec.shape)
        if spec.role is Role.EXPERT:
            experts += count
        elif spec.role is not Role.EMBEDDING:
            others += count
    embeddings = sum(math.prod(s.shape) for s in specs if s.role is Role.EMBEDDING)
    tied = any(s.name == "head" and s.hf.name.endswith("embed_tokens.weight") for s in specs)
    return experts + others + (0 if tied else embeddings), round(experts * used) + others
