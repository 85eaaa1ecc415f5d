"""The share of the memory's speed that decode reaches, everything in memory; one JSON line.

    python -m tests.bench.decode_share MODEL [--io mapped|direct] [--rounds 16]

The best of five plain reads of as many bytes as a token reads, then the best of five tokens, in
turns in one process: what else the machine does hurts both alike. Medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.cli.bench_tokens import ordinary_ids, prompt_ids, sample
from engine.config import Edge0Config
from engine.machine.cpu import compute_threads
from engine.runtime import Edge0Runtime
from engine.stop import StopFlag
from tests.bench.roofline import PASSES, PlainRead
from tests.bench.running import whole_model_gb
from tests.bench.weights import container_cost

CONTEXT, PROMPT, LONGEST = 256, 32, 160


def token_seconds(runtime: Edge0Runtime, ids: np.ndarray) -> Iterator[float]:
    """Decodes for ever, over a short text; the time of each token, sampling left out."""
    model, rng, stop = runtime.model, np.random.default_rng(0), StopFlag()
    logits = model.forward(prompt_ids(ids, PROMPT, rng), stop)
    while True:
        token = sample(logits, ids, rng)
        begin = time.perf_counter()
        logits = model.forward([token], stop)
        yield time.perf_counter() - begin
        if model.position > LONGEST:
            model.rewind(PROMPT)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--io", choices=("mapped", "direct"), default="mapped")
    parser.add_argument("--rounds", type=int, default=16)
    options = parser.parse_args()
    size, threads = container_cost(options.model).bytes, compute_threads()
    plain, reads, tokens = PlainRead(size), [], []
    config = Edge0Config(
        options.model,
        memory_budget_gb=whole_model_gb(options.model),
        use_mmap=options.io == "mapped",
        context_tokens=CONTEXT,
    )
    with Edge0Runtime.from_config(config) as runtime:
        runtime.model.store.load(np.arange(runtime.plan.experts_total, dtype=np.int32))
        times = token_seconds(runtime, ordinary_ids(options.model, runtime.model.shape.vocab))
        for _ in range(2 * PASSES):  # warm
            next(times)
        for _ in range(options.rounds):
            reads.append(plain.bytes_s(threads))
            tokens.append(size / min(next(times) for _ in range(PASSES)))
    shares = [ours / plain for ours, plain in zip(tokens, reads, strict=True)]
    result = {
        "model": options.model.name,
        "io": options.io,
        "threads": threads,
        "mb_per_token": round(size / 1e6),
        "read_gb_s": round(statistics.median(reads) / 1e9, 2),
        "decode_gb_s": round(statistics.median(tokens) / 1e9, 2),
        "share": round(statistics.median(shares), 3),
        "quartiles": [round(value, 3) for value in statistics.quantiles(shares)[::2]],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
