"""`edge0 bench`: one prefill and one generation of fixed lengths, every number from a counter.

The prompt and the sampling depend on the seed alone: two runs, and two budgets, do the same work.
Token ids stand for a text, and nothing ends the generation early.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.cli import output, shared
from engine.cli.bench_tokens import ordinary_ids
from engine.errors import ConfigError, Edge0Error
from engine.stop import StopFlag
from engine.telemetry import Counters, PeakMemory, Snapshot

MS = 1000.0


class BenchModel(Protocol):
    """What we need of a model."""

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
class Timed:
    """When things ended, on one clock, and the counters then."""

    prefill_s: float
    first_token_s: float
    decode_s: float
    prefill: Counters
    decode: Counters


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    shared.add_model(parser)
    parser.add_argument("--prompt", type=int, default=512, metavar="N", help="tokens to prefill")
    parser.add_argument("--generate", type=int, default=64, metavar="N", help="tokens to generate")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Open, prefill, generate, report."""
    from engine.runtime import Edge0Runtime

    if options.prompt < 1 or options.generate < 1:
        raise ConfigError("--prompt and --generate count tokens.", "Give 1 or more.")
    config = shared.config(options, context=max(16, options.prompt + options.generate))
    begin = time.perf_counter()
    with PeakMemory() as peak, Edge0Runtime.from_config(config) as runtime:
        open_s = time.perf_counter() - begin
        ids = ordinary_ids(Path(config.model_path), runtime.model.shape.vocab)
        work = Work(ids, options.prompt, options.generate, options.seed)
        result = {"model": Path(config.model_path).name, "open_s": open_s, **measure(runtime, work)}
    result |= {
        "working_set_peak_mb": peak.working_set / 1e6,
        "committed_peak_mb": peak.committed / 1e6,
        "budget_gb": options.budget,
    }
    _print(_rounded(result), options.json)
    return 0


def measure(
    runtime: BenchRuntime, work: Work, clock: Callable[[], float] = time.perf_counter
) -> dict[str, object]:
    """Everything about one prefill and generation, as plain numbers."""
    before = runtime.snapshot()
    timed = _run(runtime.model, work, clock)
    after = runtime.snapshot()
    steps = work.generate - 1
    hits = timed.decode if steps else timed.prefill
    return {
        "prompt": work.prompt,
        "generate": work.generate,
        "seed": work.seed,
        "prefill_tok_s": _per(work.prompt, timed.prefill_s),
        "first_token_s": timed.first_token_s,
        "decode_tok_s": _per(steps, timed.decode_s),
        "expert_hit_rate": hits.hit_rate,
        "expert_bytes_read": timed.prefill.expert_bytes_read + timed.decode.expert_bytes_read,
        "decode_bytes_per_token": _per(timed.decode.expert_bytes_read, steps),
        "ssd_bytes_read": after.process_io.read_bytes - before.process_io.read_bytes,
        "ssd_bytes_counted": after.process_io.source,
        "minor_faults": after.memory.minor_faults - before.memory.minor_faults,
        "major_faults": after.memory.major_faults - before.memory.major_faults,
        "kv_bytes": after.kv_bytes,
        "expert_slots": after.expert_slots,
        "budget_bytes": after.budget_bytes,
        "io_mode": after.io_mode,
        "isa": after.isa,
        "threads": after.threads,
        "ms_per_token": _split(timed, steps),
    }


def _run(model: BenchModel, work: Work, clock: Callable[[], float]) -> Timed:
    rng, stop = np.random.default_rng(work.seed), StopFlag()
    prompt = prompt_ids(work.ids, work.prompt, rng)
    start, begin = model.counters(), clock()
    logits = model.forward(prompt, stop)
    prefilled = clock()
    token = sample(logits, work.ids, rng)
    first, prefill = clock(), model.counters()
    for _ in range(work.generate - 1):
        token = sample(model.forward([token], stop), work.ids, rng)
    end, counters = clock(), model.counters()
    return Timed(
        prefilled - begin, first - begin, end - first, prefill.since(start), counters.since(prefill)
    )


def prompt_ids(ids: NDArray[np.int64], count: int, rng: np.random.Generator) -> list[int]:
    """Ids spread as words are in a text: the n-th most usual one about 1/n as often (Zipf)."""
    weights = 1.0 / (np.arange(len(ids)) + 10.0)
    return [int(i) for i in rng.choice(ids, count, p=weights / weights.sum())]


def sample(logits: NDArray[np.float32], ids: NDArray[np.int64], rng: np.random.Generator) -> int:
    """One of `ids` at temperature 1: greedy would soon repeat itself, and so would its routing."""
    wanted = logits[ids]
    sums = np.cumsum(np.exp(wanted - wanted.max()))
    if not np.isfinite(sums[-1]):
        raise Edge0Error("The model computed numbers that are not finite.", "Run edge0 doctor.")
    return int(ids[min(int(np.searchsorted(sums, rng.random() * sums[-1])), len(ids) - 1)])


def _split(timed: Timed, steps: int) -> dict[str, float]:
    """Milliseconds of a decoded token by what they went to; they add up to the whole."""
    used, total = timed.decode, timed.decode_s
    parts = {
        "attention": used.attention_s,
        "expert_compute": used.expert_compute_s,
        "expert_wait": used.expert_wait_s,
    }
    parts["other"] = max(0.0, total - sum(parts.values()))
    return {name: _per(seconds * MS, steps) for name, seconds in parts.items()}


def _per(amount: float, count: float) -> float:
    return amount / count if count > 0 else 0.0


def _rounded(value: object) -> object:
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
