"""Checks of one converted model: what it is, whether it fits, whether its bytes are whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.config import Edge0Config
from engine.container.reader import Container
from engine.doctor.findings import Finding, Status, gb
from engine.errors import BudgetError, Edge0Error, Stopped
from engine.events import IoChoice, Progress
from engine.prepare.compact import WORK_NAME, strays
from engine.stop import StopFlag
from engine.store.budget import MemoryPlan
from engine.store.probe import ProbeResult, probe_reads


def opened(container: Container) -> Finding:
    """What the model is; dense ones get an honest word."""
    shape, name = container.shape, container.path.name
    size = sum(entry.bytes for entry in container.manifest.files)
    facts = f"{shape.model_type}, {shape.layers} layers, {container.manifest.quant}, {gb(size)}"
    if shape.dense:
        advice = (
            "Every token uses all of it, so nothing can stay on the drive: it runs well only when"
            " it fits into memory whole. Streaming helps Mixture-of-Experts models."
        )
        return Finding("model", "info", f"{name} is a dense model", f"{facts}.", advice)
    evidence = f"{facts} of experts: {shape.experts} a layer, {shape.top_k} used a token."
    return Finding("model", "ok", f"{name} opens", evidence)


def leftovers(container: Container) -> Iterator[Finding]:
    """What an interrupted `edge0-prepare compact` left in the model's folder."""
    path = container.path
    files = strays(path, container.manifest)
    if (path / WORK_NAME).is_dir():
        files += [file for file in (path / WORK_NAME).iterdir() if file.is_file()]
    if files:
        size = sum(file.stat().st_size for file in files)
        title = "Laying the experts out anew was interrupted"
        evidence = f"The model is whole; {gb(size)} of unfinished files lie beside it."
        advice = f'Run edge0-prepare compact "{path}": it goes on, or tidies up.'
        yield Finding("model-leftovers", "warn", title, evidence, advice)


def probe(container: Container, stop: StopFlag) -> ProbeResult:
    """Measure the drive with reads of this model's record size."""
    record = max(layout.bytes for layout in container.manifest.layouts)
    return probe_reads(container.files, record, stop=stop)


def check_plan(
    container: Container, budget_gb: float | None, measured: ProbeResult | None
) -> Iterator[Finding]:
    """Whether the model fits the budget, and how often it will have to read."""
    from engine.runtime import plan_io, plan_model  # they load what a chat needs: only with a model

    config = Edge0Config(container.path, budget_gb)
    try:
        plan = plan_model(container, config)
    except BudgetError as error:
        title = "The model does not fit the memory budget"
        yield Finding("memory-plan", "fail", title, error.message, error.next_step)
        return
    yield planned(plan)
    yield hit_rate(plan)
    yield io_mode(plan_io(container, config))
    if measured is not None and not plan.whole_model:
        yield cold_speed(plan, measured)


def planned(plan: MemoryPlan) -> Finding:
    """How memory will be split."""
    status: Status = "warn" if plan.warnings else "ok"
    evidence = f"{'; '.join(plan.lines)}."
    return Finding("memory-plan", status, "Memory plan", evidence, " ".join(plan.warnings))


def hit_rate(plan: MemoryPlan) -> Finding:
    """Where the plan stands against the cliff below which nothing is found again."""
    evidence = (
        f"{plan.expert_slots} of {plan.experts_total} experts fit into memory; one token uses"
        f" {plan.token_cycle_records}."
    )
    if plan.whole_model:
        return Finding("hit-rate", "ok", "The whole model fits into memory", evidence)
    if plan.below_token_cycle:
        advice = "The SSD will be busy all the time. Raise the budget or choose a smaller model."
        return Finding("hit-rate", "warn", "Not even one token's experts fit", evidence, advice)
    return Finding("hit-rate", "ok", "Experts in memory", evidence)


def io_mode(choice: IoChoice) -> Finding:
    """How experts would be read if the model were opened now, and why."""
    return Finding("io-mode", "info", "How experts are read", choice.reason)


def cold_speed(plan: MemoryPlan, measured: ProbeResult) -> Finding:
    """The floor of speed: what the drive alone allows when no expert is found in memory."""
    record = plan.expert_bytes / max(plan.expert_slots, 1)
    token = plan.token_cycle_records * record
    slowest = measured.best.mb_s * 1e6 / token
    evidence = (
        f"One token uses {token / 1e6:.0f} MB of experts; the drive alone gives"
        f" {slowest:.1f} tokens a second, each expert found in memory makes it faster."
    )
    return Finding("cold-speed", "info", "Speed when nothing is in memory", evidence)


def hashes(container: Container, progress: Callable[[Progress], None], stop: StopFlag) -> Finding:
    """Whether every byte is what was written."""
    try:
        container.verify(progress, stop)
    except Stopped:
        raise
    except Edge0Error as error:
        return Finding(
            "model-hashes", "fail", "The model is damaged", error.message, error.next_step
        )
    count = len(container.manifest.records)
    return Finding("model-hashes", "ok", "Every byte is intact", f"{count} records compared.")
