"""Checks of one converted model: what it is, whether it fits, whether its bytes are whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from engine.config import Edge0Config
from engine.container.reader import Container
from engine.container.strict import DAMAGED
from engine.doctor.findings import Finding, Status
from engine.errors import BudgetError, Edge0Error, Stopped
from engine.events import IoChoice, Progress
from engine.prepare.compact import WORK_NAME, strays
from engine.stop import StopFlag
from engine.store.budget import MemoryPlan
from engine.store.probe import ProbeResult, probe_reads
from engine.text import Text, gb, joined


def opened(container: Container) -> Finding:
    """What the model is; dense ones get an honest word."""
    shape, name = container.shape, container.path.name
    size = sum(entry.bytes for entry in container.manifest.files)
    facts = Text(
        "{0}, {1} layers, {2}, {3}",
        shape.model_type,
        shape.layers,
        container.manifest.quant,
        gb(size),
    )
    if shape.dense:
        advice = Text(
            "Every token uses all of it, so nothing can stay on the drive: it runs well"
            " only when it fits into memory whole. Streaming helps Mixture-of-Experts"
            " models."
        )
        return Finding(
            "model", "info", Text("{0} is a dense model", name), Text("{0}.", facts), advice
        )
    evidence = Text(
        "{0} of experts: {1} a layer, {2} used a token.", facts, shape.experts, shape.top_k
    )
    return Finding("model", "ok", Text("{0} opens", name), evidence)


def leftovers(container: Container) -> Iterator[Finding]:
    """What an interrupted `edge0-prepare compact` left in the model's folder."""
    path = container.path
    files = strays(path, container.manifest)
    if (path / WORK_NAME).is_dir():
        files += [file for file in (path / WORK_NAME).iterdir() if file.is_file()]
    if files:
        size = sum(file.stat().st_size for file in files)
        title = Text("Laying the experts out anew was interrupted")
        evidence = Text("The model is whole; {0} of unfinished files lie beside it.", gb(size))
        advice = Text('Run edge0-prepare compact "{0}": it goes on, or tidies up.', path)
        yield Finding("model-leftovers", "warn", title, evidence, advice)


def probe(container: Container, stop: StopFlag) -> ProbeResult:
    """Measure the drive with reads of this model's record size."""
    record = max(layout.bytes for layout in container.manifest.layouts)
    return probe_reads(container.files, record, stop=stop)


def check_plan(
    container: Container, budget_gb: float | None, measured: ProbeResult | None
) -> Iterator[Finding]:
    """Whether the model fits the budget, and how often it will have to read."""
    from engine.model.planning import (  # they load what a chat needs: only with a model
        plan_io,
        plan_model,
    )

    config = Edge0Config(container.path, budget_gb)
    try:
        plan = plan_model(container, config)
    except BudgetError as error:
        title = Text("The model does not fit the memory budget")
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
    evidence, advice = Text("{0}.", joined("; ", plan.lines)), joined(" ", plan.warnings)
    return Finding("memory-plan", status, Text("Memory plan"), evidence, advice)


def hit_rate(plan: MemoryPlan) -> Finding:
    """Where the plan stands against the cliff below which nothing is found again."""
    evidence = Text(
        "{0} of {1} experts fit into memory; one token uses {2}.",
        plan.expert_slots,
        plan.experts_total,
        plan.token_cycle_records,
    )
    if plan.whole_model:
        return Finding("hit-rate", "ok", Text("The whole model fits into memory"), evidence)
    if plan.below_token_cycle:
        advice = Text(
            "The SSD will be busy all the time. Raise the budget or choose a smaller model."
        )
        return Finding(
            "hit-rate", "warn", Text("Not even one token's experts fit"), evidence, advice
        )
    return Finding("hit-rate", "ok", Text("Experts in memory"), evidence)


def io_mode(choice: IoChoice) -> Finding:
    """How experts would be read if the model were opened now, and why."""
    return Finding("io-mode", "info", Text("How experts are read"), choice.reason)


def cold_speed(plan: MemoryPlan, measured: ProbeResult) -> Finding:
    """The floor of speed: what the drive alone allows when no expert is found in memory."""
    record = plan.expert_bytes / max(plan.expert_slots, 1)
    token = plan.token_cycle_records * record
    slowest = measured.best.mb_s * 1e6 / token
    evidence = Text(
        "One token uses {0} MB of experts; the drive alone gives {1} tokens a second,"
        " each expert found in memory makes it faster.",
        f"{token / 1e6:.0f}",
        f"{slowest:.1f}",
    )
    return Finding("cold-speed", "info", Text("Speed when nothing is in memory"), evidence)


def last_verified(container: Container) -> Finding:
    """Whether damage inside a file would have been noticed."""
    state, when = container.verified
    advice = Text(
        "To find damaged bytes, choose Check the files in the list of models, or run edge0 doctor"
        ' "{0}" --deep.',
        container.path,
    )
    if state == "intact":
        evidence = Text(
            "Every byte was compared on {0}.", time.strftime("%Y-%m-%d", time.localtime(when))
        )
        return Finding("model-verified", "ok", Text("The files were checked"), evidence)
    if state == "damaged":
        evidence = Text("The last check of its files found wrong bytes.")
        return Finding("model-verified", "fail", Text("The files are damaged"), evidence, DAMAGED)
    if state == "changed":
        evidence = Text("Sizes or times of files differ from those that were compared.")
        title = Text("Files changed since they were checked")
        return Finding("model-verified", "warn", title, evidence, advice)
    evidence = Text("Sizes and headers fit; the bytes have not been read back and compared yet.")
    return Finding("model-verified", "info", Text("Not checked since made"), evidence, advice)


def hashes(container: Container, progress: Callable[[Progress], None], stop: StopFlag) -> Finding:
    """Whether every byte is what was written."""
    try:
        container.verify(progress, stop)
    except Stopped:
        raise
    except Edge0Error as error:
        return Finding(
            "model-hashes", "fail", Text("The model is damaged"), error.message, error.next_step
        )
    count = len(container.manifest.records)
    return Finding(
        "model-hashes", "ok", Text("Every byte is intact"), Text("{0} records compared.", count)
    )
