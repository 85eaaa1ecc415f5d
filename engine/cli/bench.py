"""`edge0 bench`: a prefill and a generation of fixed lengths, every number from a counter.

The prompt and the sampling depend on the seed alone: two runs, and two budgets, do the same work.
Token ids stand for a text, and nothing ends the generation early. --repeat does it again in the
same process, each time with the next seed: a later text on a warm model.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from engine.cli import output, shared
from engine.cli.bench_tokens import ordinary_ids, prompt_ids, sample
from engine.config import Edge0Config, GenerateOptions, Isa
from engine.stop import StopFlag
from engine.telemetry import Counters, PeakMemory, Snapshot

MS = 1000.0
Result = dict[str, Any]


class BenchModel(Protocol):
    """What we need of a model."""

    def rewind(self, position: int) -> None: ...

    def forward(self, ids: Sequence[int], stop: StopFlag) -> NDArray[np.float32]: ...

    def counters(self) -> Counters: ...


class BenchRuntime(Protocol):
    """What we need of a runtime."""

    @property
    def model(self) -> BenchModel: ...

    def snapshot(self) -> Snapshot: ...


@dataclass(frozen=True)
class Work:
    """What to run: ids that stand for ordinary text, and how many of them."""

    ids: NDArray[np.int64]
    prompt: int
    generate: int
    seed: int


@dataclass(frozen=True)
class BenchPlan:
    """What to measure. preload: bring in all experts that fit before the clock starts."""

    prompt: int
    generate: int
    seed: int = 0
    repeat: int = 1
    preload: bool = False


@dataclass(frozen=True)
class Moment:
    """What clock and counters said at one moment."""

    time_s: float
    counters: Counters
    snapshot: Snapshot


@dataclass(frozen=True)
class Timed:
    """Before the prefill, with the first token in hand, and with the last one."""

    start: Moment
    prefill_s: float
    first_s: float
    sampling_s: float
    decode_start: Moment
    end: Moment


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    shared.add_model(parser)
    count = shared.number(int, shared.at_least_one)
    seed = shared.number(int, lambda value: GenerateOptions(seed=value))
    prefetch = shared.number(int, lambda experts: Edge0Config("", prefetch_experts=experts))
    parser.add_argument("--prompt", type=count, default=512, metavar="N", help="tokens to prefill")
    parser.add_argument(
        "--generate", type=count, metavar="N", help="tokens to generate; default: 64, table: 256"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N")
    parser.add_argument(
        "--repeat",
        type=count,
        default=1,
        metavar="N",
        help="run N times in one process and give the median of all but the first, which warms up",
    )
    parser.add_argument(
        "--preload", action="store_true", help="bring in all experts that fit before measuring"
    )
    parser.add_argument(
        "--prefetch", type=prefetch, default=2, metavar="N", help="experts to read ahead; 0: none"
    )
    parser.add_argument("--isa", choices=get_args(Isa), default="auto", help="instruction set")
    parser.add_argument(
        "--table", action="store_true", help="compare fully resident with SSD offload"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Open, prefill, generate, report."""
    generate = options.generate
    if generate is None:
        generate = 256 if options.table else 64
    config = shared.config(options, context=max(16, options.prompt + generate))
    config = replace(config, isa=options.isa, prefetch_experts=options.prefetch)
    plan = BenchPlan(options.prompt, generate, options.seed, options.repeat, options.preload)
    if options.table:
        from engine.cli import bench_table

        return bench_table.run(config, plan, options.json)
    results = measured(config, plan)
    result = median(results[1:] or results) | {"seed": options.seed}
    if options.json and len(results) > 1:
        result["repetitions"] = results
    _print(result, options.json)
    return 0


def measured(config: Edge0Config, plan: BenchPlan) -> list[Result]:
    """Open the model and run the plan: the numbers of each repetition. Peaks are of them all.

    What chats have taught about this model is left out: two runs start alike.
    """
    from engine.runtime import Edge0Runtime

    results: list[Result] = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="edge0-bench-"))
        peak = stack.enter_context(PeakMemory())
        begin = time.perf_counter()
        opened = Edge0Runtime.from_config(replace(config, cache_dir=folder))
        runtime = stack.enter_context(opened)
        if plan.preload:
            runtime.model.store.load(np.arange(runtime.plan.experts_total, dtype=np.int32))
        open_s = time.perf_counter() - begin
        ids = ordinary_ids(Path(config.model_path), runtime.model.shape.vocab)
        for index in range(plan.repeat):
            work = Work(ids, plan.prompt, plan.generate, plan.seed + index)
            results.append(measure(runtime, work))
    common = {
        "working_set_peak_mb": peak.working_set / 1e6,
        "committed_peak_mb": peak.committed / 1e6,
        "budget_gb": config.memory_budget_gb,
    }
    head = {"model": Path(config.model_path).name, "open_s": open_s}
    return [_rounded(head | result | common) for result in results]


def median(results: Sequence[Result]) -> Result:
    """Each number's median over the results; what is no number is taken from the first."""
    return {name: _median([result[name] for result in results]) for name in results[0]}


def _median(values: Sequence[Any]) -> Any:
    if isinstance(values[0], dict):
        return median(values)
    if isinstance(values[0], int | float):
        return statistics.median(values)
    return values[0]


def measure(
    runtime: BenchRuntime, work: Work, clock: Callable[[], float] = time.perf_counter
) -> Result:
    """Everything about one prefill and generation, as plain numbers."""
    timed = _run(runtime, work, clock)
    before, after = timed.start.snapshot, timed.end.snapshot
    prefill = timed.decode_start.counters.since(timed.start.counters)
    decode = timed.end.counters.since(timed.decode_start.counters)
    decode_s = timed.end.time_s - timed.decode_start.time_s
    steps = work.generate - 1
    return {
        "prompt": work.prompt,
        "generate": work.generate,
        "seed": work.seed,
        "prefill_tok_s": _per(work.prompt, timed.prefill_s),
        "first_token_s": timed.first_s,
        "decode_tok_s": _per(steps, decode_s),
        "expert_hit_rate": (decode if steps else prefill).hit_rate,
        "expert_bytes_read": prefill.expert_bytes_read + decode.expert_bytes_read,
        "prefill_expert_bytes": prefill.expert_bytes_read,
        "decode_bytes_per_token": _per(decode.expert_bytes_read, steps),
        **_drive_bytes(timed, steps),
        "minor_faults": after.memory.minor_faults - before.memory.minor_faults,
        "major_faults": after.memory.major_faults - before.memory.major_faults,
        "kv_bytes": after.kv_bytes,
        "expert_slots": after.expert_slots,
        "budget_bytes": after.budget_bytes,
        "io_mode": after.io_mode,
        "io_reason": str(after.io.reason) if after.io else "",
        "memory_change": str(after.memory_change.reason) if after.memory_change else "",
        "isa": after.isa,
        "threads": after.threads,
        "ms_per_token": _split(decode, timed.sampling_s, decode_s, steps),
    }


def _drive_bytes(timed: Timed, steps: int) -> Result:
    """What the process read, cache hits left out where the system can tell them apart."""
    start, middle, end = (
        moment.snapshot.process_io for moment in (timed.start, timed.decode_start, timed.end)
    )
    return {
        "ssd_bytes_read": end.read_bytes - start.read_bytes,
        "prefill_ssd_bytes": middle.read_bytes - start.read_bytes,
        "decode_ssd_bytes_per_token": _per(end.read_bytes - middle.read_bytes, steps),
        "ssd_bytes_counted": end.source,
    }


def _run(runtime: BenchRuntime, work: Work, clock: Callable[[], float]) -> Timed:
    model, rng, stop = runtime.model, np.random.default_rng(work.seed), StopFlag()

    def now() -> Moment:
        counters, snapshot = model.counters(), runtime.snapshot()
        return Moment(clock(), counters, snapshot)

    model.rewind(0)
    prompt = prompt_ids(work.ids, work.prompt, rng)
    start = now()
    logits = model.forward(prompt, stop)
    prefilled = clock()
    token = sample(logits, work.ids, rng)
    first = clock()
    middle = now()
    sampling_s = 0.0
    for _ in range(work.generate - 1):
        logits = model.forward([token], stop)
        begin = clock()
        token = sample(logits, work.ids, rng)
        sampling_s += clock() - begin
    done = clock()
    end = replace(now(), time_s=done)
    begin = start.time_s
    return Timed(start, prefilled - begin, first - begin, sampling_s, middle, end)


def _split(used: Counters, sampling_s: float, total_s: float, steps: int) -> dict[str, float]:
    """Milliseconds of a decoded token by what they went to; they add up to the whole."""
    parts = {
        "attention": used.attention_s,
        "expert_compute": used.expert_compute_s,
        "expert_wait": used.expert_wait_s,
        "sampling": sampling_s,
    }
    parts["other"] = max(0.0, total_s - sum(parts.values()))
    return {name: _per(seconds * MS, steps) for name, seconds in parts.items()}


def _per(amount: float, count: float) -> float:
    return amount / count if count > 0 else 0.0


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def _print(result: object, as_json: bool) -> None:
    if as_json or not isinstance(result, dict):
        output.say_json(result)
        return
    width = max(len(name) for name in result)
    for name, value in result.items():
        if isinstance(value, dict):
            value = ", ".join(f"{part} {number}" for part, number in value.items())
        output.say(f"{name:<{width}}  {'' if value is None else value}")
