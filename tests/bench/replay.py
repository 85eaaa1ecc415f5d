"""Replays a routing trace through a cache policy, without a model.

python -m tests.bench.replay TRACE --policy decayed --capacity 0.125 [--capacity 0.25 …] [--cold]

Works as the store does: the order of victims is asked for once a token, and nothing the token has
used is taken. The prompt's experts fill the cache first (as one chunk) unless --cold. Prints one
JSON line per run: the hit rate of decode, beside plain LRU's and Belady's (the best any policy
could do).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.store.policy import POLICIES, Keys, Policy


@dataclass(frozen=True)
class Chunk:
    """One token, or the whole prompt: each layer's distinct keys and how many tokens used each."""

    layers: tuple[Keys, ...]
    uses: tuple[NDArray[np.int32], ...]
    tokens: int
    counted: bool


@dataclass(frozen=True)
class Trace:
    """A routing trace: keys = layer · experts + expert."""

    keys: int
    chunks: tuple[Chunk, ...]


def read_trace(path: Path, cold: bool = False) -> Trace:
    """Reads `turn,phase,step,layer,slot,expert,…` rows; phase 0 is the prompt, 1 decode."""
    lines = path.read_text(encoding="utf-8").splitlines()
    experts = int(
        next(x for x in lines if x.startswith("# model")).split("n_expert=")[1].split()[0]
    )
    rows = np.array([[int(x) for x in line.split(",")[:6]] for line in lines if line[0].isdigit()])
    layers = int(rows[:, 3].max()) + 1
    prompt, decode = rows[rows[:, 1] == 0], rows[rows[:, 1] == 1]
    chunks = [] if cold else [_chunk(prompt, layers, experts, len(np.unique(prompt[:, 2])), False)]
    for step in np.unique(decode[:, 2]):
        chunks.append(_chunk(decode[decode[:, 2] == step], layers, experts, 1, True))
    return Trace(layers * experts, tuple(chunks))


def _chunk(rows: NDArray[np.int64], layers: int, experts: int, tokens: int, counted: bool) -> Chunk:
    found = [np.unique(rows[rows[:, 3] == i, 5], return_counts=True) for i in range(layers)]
    keys = tuple((i * experts + ids).astype(np.int32) for i, (ids, _) in enumerate(found))
    return Chunk(keys, tuple(n.astype(np.int32) for _, n in found), tokens, counted)


def replay(trace: Trace, policy: Policy, slots: int) -> float:
    """Decode's hit rate with `slots` slots."""
    resident = np.zeros(trace.keys, bool)
    free, hits, uses = slots, 0, 0
    for chunk in trace.chunks:
        order = list(policy.victims(np.flatnonzero(resident).astype(np.int32), slots))[::-1]
        used: set[int] = set()
        for keys in chunk.layers:
            used.update(keys.tolist())
            missing = keys[~resident[keys]]
            if chunk.counted:
                hits, uses = hits + len(keys) - len(missing), uses + len(keys)
            taken = min(free, len(missing))
            free -= taken
            gone = _take(order, used, keys, resident, len(missing) - taken)
            resident[gone] = False
            policy.evicted(np.array(gone, np.int32))
            resident[missing] = True
        policy.touch(np.concatenate(chunk.layers), np.concatenate(chunk.uses), chunk.tokens)
    return hits / uses


def _take(
    order: list[int], used: set[int], keys: Keys, resident: NDArray[np.bool_], wanted: int
) -> list[int]:
    """The next victims: never of this layer, of this chunk only when nothing else is left."""
    gone: list[int] = []
    while order and len(gone) < wanted:
        key = order.pop()
        if key not in used:
            gone.append(key)
    if len(gone) < wanted:
        left = np.setdiff1d(np.flatnonzero(resident), np.concatenate([keys, gone]).astype(int))
        gone += left[: wanted - len(gone)].tolist()
    return gone


def belady(trace: Trace, slots: int) -> float:
    """The hit rate of a cache that knows the future."""
    accesses = [(chunk.counted, keys) for chunk in trace.chunks for keys in chunk.layers]
    never = len(accesses) + 1
    coming = np.full(trace.keys, never)
    after = []
    for index in range(len(accesses) - 1, -1, -1):
        keys = accesses[index][1]
        after.append(coming[keys].copy())
        coming[keys] = index
    resident, next_use = np.zeros(trace.keys, bool), np.full(trace.keys, never)
    hits = uses = 0
    for (counted, keys), future in zip(accesses, reversed(after), strict=True):
        if counted:
            hits, uses = hits + int(resident[keys].sum()), uses + len(keys)
        next_use[keys] = future
        resident[keys] = True
        others = np.setdiff1d(np.flatnonzero(resident), keys)
        too_many = int(resident.sum()) - slots
        if too_many > 0:
            resident[others[np.argsort(-next_use[others], kind="stable")][:too_many]] = False
    return hits / uses


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--policy", choices=sorted(POLICIES), default="decayed")
    parser.add_argument("--capacity", type=float, action="append", help="share of all experts")
    parser.add_argument("--cold", action="store_true", help="start decode with an empty cache")
    options = parser.parse_args()
    trace = read_trace(options.trace, options.cold)
    for capacity in options.capacity or [0.06, 0.125, 0.19, 0.25, 0.375, 0.5]:
        slots = int(trace.keys * capacity)
        rates = {
            name: round(replay(trace, POLICIES[name](trace.keys), slots), 4)
            for name in (options.policy, "lru")
        }
        best = round(belady(trace, slots), 4)
        print(json.dumps({"capacity": capacity, "slots": slots, **rates, "belady": best}))


if __name__ == "__main__":
    main()
