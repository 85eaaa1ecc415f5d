"""Compares the forecast of decode speed with the measured one, on converted models.

    python -m tests.bench.forecast MODEL… [--cases resident mapped direct] [--budget GB]
                                   [--generate 48] [--rounds 2]

Each case measures the machine first (kernels; the drive on the model's own files), forecasts from
the manifest as the wizard does, then decodes. resident holds everything; the others get --budget,
or what one token uses and half as much again, at most half of the experts. `others` is the share
of the processors that other programs took: a number above 0.1 spoils a case. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from engine.cli import bench
from engine.cli.bench_tokens import ordinary_ids
from engine.config import Edge0Config
from engine.container.reader import Container
from engine.events import HoldMode
from engine.hub.speed import MachineSpeed, ModelCost, expected_speed
from engine.kernels.speed import measure_kernels
from engine.machine.memory import system_memory
from engine.model.families.registry import by_model_type
from engine.model.planning import memory_needs
from engine.runtime import Edge0Runtime
from engine.store.needs import GB, MemoryNeeds
from engine.store.probe import probe_reads

CONTEXT, PROMPT, PROBE_S = 512, 48, 1.0
MODES: dict[str, HoldMode] = {"resident": "mapped", "mapped": "mapped", "direct": "direct"}


@dataclass(frozen=True)
class Case:
    """One model, held in one way."""

    path: Path
    name: str
    budget: int


def needs_of(path: Path) -> MemoryNeeds:
    """What the model needs, as the forecast counts it."""
    with closing(Container.open(path)) as container:
        program = by_model_type(container.family).program(container.shape)
        return memory_needs(container, program, CONTEXT)


def machine_of(path: Path, needs: MemoryNeeds) -> MachineSpeed:
    """This machine, with the drive measured where the model lies."""
    kernels = measure_kernels()
    with closing(Container.open(path)) as container:
        drive = probe_reads(container.files, needs.record_bytes, PROBE_S)
    return MachineSpeed(
        kernels.weights_gb_s,
        kernels.batch_gops,
        drive.best.mb_s,
        system_memory().available,
        kernels.small_weights_gb_s,
    )


def decode(case: Case, generate: int) -> dict[str, Any]:
    """A short text to warm up, then one that is measured."""
    mode = MODES[case.name]
    config = Edge0Config(
        case.path,
        memory_budget_gb=case.budget / GB,
        use_mmap=mode == "mapped",
        context_tokens=CONTEXT,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        Edge0Runtime.from_config(replace(config, cache_dir=folder)) as runtime,
    ):
        if case.name == "resident":
            runtime.model.store.load(np.arange(runtime.plan.experts_total, dtype=np.int32))
        ids = ordinary_ids(case.path, runtime.model.shape.vocab)
        bench.measure(runtime, bench.Work(ids, PROMPT, generate, 0))
        return bench.measure(runtime, bench.Work(ids, PROMPT, generate, 1))


def compare(case: Case, generate: int) -> dict[str, Any]:
    """One measurement of machine and model."""
    needs = needs_of(case.path)
    machine = machine_of(case.path, needs)
    busy, own, begin = _busy_s(), _own_s(), time.perf_counter()
    found = decode(case, generate)
    took = time.perf_counter() - begin
    others = (_busy_s() - busy) - (_own_s() - own)
    held = needs.fixed_bytes + found["expert_slots"] * needs.record_bytes  # as it really came out
    cost = ModelCost(needs, 1)  # decode only: sums of the prompt are not looked at
    told = expected_speed(machine, cost, held, PROMPT, MODES[case.name])
    return {
        "model": case.path.name,
        "case": case.name,
        "budget_gb": round(case.budget / GB, 2),
        "forecast": round(told.expected_tok_s, 2),
        "measured": round(found["decode_tok_s"], 2),
        "ratio": round(told.expected_tok_s / found["decode_tok_s"], 2),
        "hits_told": [round(told.hit_rate.low, 2), round(told.hit_rate.high, 2)],
        "hits": round(found["expert_hit_rate"], 2),
        "gb_s": [round(machine.weights_gb_s, 1), round(machine.small_weights_gb_s, 1)],
        "drive_mb_s": round(machine.drive_mb_s),
        "ms_per_token": {k: round(v, 1) for k, v in found["ms_per_token"].items()},
        "others": round(max(0.0, others) / (psutil.cpu_count() or 1) / took, 2),
    }


def cases(path: Path, names: list[str], budget: float | None) -> list[Case]:
    """The wanted ways to hold a model."""
    needs = needs_of(path)
    slots = min(3 * needs.token_cycle_records // 2, needs.experts_total // 2)
    small = round((budget or 0) * GB) or needs.fixed_bytes + slots * needs.record_bytes
    whole = needs.whole_bytes + GB
    return [Case(path, name, whole if name == "resident" else small) for name in names]


def _busy_s() -> float:
    """Seconds all processors together have worked."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0))


def _own_s() -> float:
    used = psutil.Process().cpu_times()
    return float(used.user + used.system)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--cases", nargs="+", choices=tuple(MODES), default=list(MODES))
    parser.add_argument("--budget", type=float, help="GB; default: from the model")
    parser.add_argument("--generate", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    for _ in range(options.rounds):
        for path in options.models:
            for case in cases(path, options.cases, options.budget):
                print(json.dumps(compare(case, options.generate)), flush=True)


if __name__ == "__main__":
    main()
