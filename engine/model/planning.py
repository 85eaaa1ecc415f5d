"""Planned before a model is opened: how memory is split, the prefill chunk, how experts are held.

Reads the machine's free memory and the manifest; holds nothing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from engine.config import Edge0Config, KvFormat
from engine.container.reader import Container
from engine.errors import BudgetError
from engine.events import IoChoice
from engine.machine.disk import drive_info
from engine.machine.memory import memory_now, system_memory
from engine.model.dense_arena import dense_bytes
from engine.model.executor import workspace_bytes
from engine.model.families.registry import by_model_type
from engine.model.model import kv_bytes_per_token
from engine.model.placement import ExpertFiles, choose_io
from engine.model.program import Program
from engine.store import chunk
from engine.store.budget import MemoryPlan, budget_bytes, plan_memory
from engine.store.knee import DRIVE_BYTES_S, TYPICAL
from engine.store.needs import MemoryNeeds
from engine.store.policy import DecayedFrequency

DEFAULT_CONTEXT = 4096
_GROWTH = 48 << 20  # what Python itself adds while it works: tokenizer tables, logits, SQLite


@dataclass(frozen=True)
class Opening:
    """`available` bytes were free before. chunk: prefill tokens."""

    needs: MemoryNeeds
    plan: MemoryPlan
    chunk: int
    available: int


def plan_model(container: Container, config: Edge0Config) -> MemoryPlan:
    """How memory would be split, without opening the model. Raises BudgetError."""
    program = by_model_type(container.family).program(container.shape)
    return plan_opening(container, program, config).plan


def memory_needs(
    container: Container, program: Program, context: int, kv_format: KvFormat = "fp16"
) -> MemoryNeeds:
    """What the model needs with the shortest prefill chunk; the process itself as it is now."""
    shape = container.shape
    return MemoryNeeds(
        base_bytes=memory_now().working_set + _GROWTH,
        dense_bytes=dense_bytes(container),
        kv_bytes_per_token=kv_bytes_per_token(shape, kv_format),
        context_tokens=context,
        workspace_bytes=workspace_bytes(program, container, chunk.LENGTHS[0]),
        record_bytes=max(layout.bytes for layout in container.manifest.layouts),
        experts_total=shape.layers * shape.experts,
        top_k=shape.top_k,
        layers=shape.layers,
    )


def plan_io(container: Container, config: Edge0Config) -> IoChoice:
    """How experts would be held, without opening the model. Raises BudgetError, StorageError."""
    program = by_model_type(container.family).program(container.shape)
    opening = plan_opening(container, program, config)
    keys = container.shape.layers * container.shape.experts
    files = ExpertFiles(container, DecayedFrequency(keys))
    return choose_io(files, config.io_mode, opening.needs, opening.plan, opening.available)


def plan_opening(container: Container, program: Program, config: Edge0Config) -> Opening:
    """The memory plan, and the prefill chunk that makes a turn shortest. Raises BudgetError."""
    shape = container.shape
    context = min(config.context_tokens or DEFAULT_CONTEXT, shape.max_positions)
    memory = system_memory()
    limited = memory.cgroup_limit is not None
    budget = None if config.memory_budget_gb is None else budget_bytes(config.memory_budget_gb)
    needs = memory_needs(container, program, context, config.kv_format)
    speeds = replace(TYPICAL, drive_bytes_s=DRIVE_BYTES_S[drive_info(container.path).kind])

    def opening(length: int) -> tuple[float, Opening]:
        sized = replace(needs, workspace_bytes=workspace_bytes(program, container, length))
        plan = plan_memory(sized, budget, memory.available, memory.total, limited, speeds)
        found = Opening(sized, plan, length, memory.available)
        return chunk.turn_seconds(sized, plan.expert_slots, length, speeds), found

    options = [opening(chunk.LENGTHS[0])]  # raises where nothing fits
    with suppress(BudgetError):
        options += [opening(length) for length in chunk.LENGTHS[1:] if length <= context]
    return chunk.best(options)
