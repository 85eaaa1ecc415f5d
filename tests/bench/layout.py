"""What laying hot experts first does to reads, on a routing trace and without a model.

python -m tests.bench.layout TRACE [--chunk 8 --chunk 32 …]

The order comes from the first half of the tokens and is judged on the second. For each chunk length
one JSON line: the experts a layer needs for a chunk, the runs of neighbouring records they form
(each could be one read) in the experts' own order and hot first, the records of a run, and how much
of the layer's part of the file lies between the first and the last record.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.prepare.compact import hot_order
from tests.bench.replay import Keys, Trace, read_trace

Routing = NDArray[np.bool_]  # (tokens, layers, experts)


def routing_of(trace: Trace, experts: int) -> Routing:
    """Which experts each decoded token used."""
    chunks = [chunk for chunk in trace.chunks if chunk.counted]
    used = np.zeros((len(chunks), trace.keys), bool)
    for row, chunk in zip(used, chunks, strict=True):
        row[np.concatenate(chunk.layers)] = True
    return used.reshape(len(chunks), -1, experts)


def places(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each expert's place (layers, experts) in the file when the hot ones come first."""
    return np.argsort(np.array(hot_order(counts)), axis=1)


def runs(positions: Keys | NDArray[np.int64]) -> int:
    """How many runs of neighbours the distinct positions form."""
    ordered = np.sort(positions)
    return int(len(ordered) > 0) + int((np.diff(ordered) > 1).sum())


def judge(routing: Routing, place: NDArray[np.int64], chunk: int) -> dict[str, float]:
    """Means over layers and chunks of `chunk` tokens."""
    found = []
    for start in range(0, len(routing) - chunk + 1, chunk):
        needed = routing[start : start + chunk].any(axis=0)
        for layer, row in enumerate(needed):
            at = place[layer, np.flatnonzero(row)]
            found.append((len(at), runs(at), (at.max() - at.min() + 1) / row.size))
    count, run, span = np.mean(found, axis=0)
    return {"experts": count, "runs": run, "records_a_run": count / run, "span": span}


def compare(routing: Routing, chunk: int) -> dict[str, dict[str, float]]:
    """Own order against hot first; the order is learned from the first half."""
    half = len(routing) // 2
    counts = routing[:half].sum(axis=0, dtype=np.int64)
    own = np.tile(np.arange(routing.shape[2]), (routing.shape[1], 1))
    return {
        "own_order": judge(routing[half:], own, chunk),
        "hot_first": judge(routing[half:], places(counts), chunk),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--chunk", type=int, action="append", metavar="TOKENS")
    options = parser.parse_args()
    header = options.trace.read_text(encoding="utf-8").split("\n", 2)[1]
    experts = int(header.split("n_expert=")[1].split()[0])
    routing = routing_of(read_trace(options.trace, cold=True), experts)
    for chunk in options.chunk or [1, 4, 16, 32]:
        result = compare(routing, chunk)
        rounded = {k: {n: round(x, 3) for n, x in v.items()} for k, v in result.items()}
        print(json.dumps({"chunk": chunk, **rounded}))


if __name__ == "__main__":
    main()
