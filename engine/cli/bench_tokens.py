"""Token ids that stand for ordinary text, found in the head of tokenizer.json, and picks of them.

Only the list of added tokens is parsed: the whole file would cost more memory than we want to
measure beside the model.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import Edge0Error
from engine.text import Text

_HEAD_BYTES = 4 << 20
_KEY = '"added_tokens"'


def ordinary_ids(folder: Path, vocab: int) -> NDArray[np.int64]:
    """Ids of ordinary tokens, ascending: no special ones, none behind the tokenizer's last."""
    added = [i for i in _added_ids(folder / "tokenizer.json") if 0 <= i < vocab]
    tail = [i for i in added if i >= vocab // 2]
    end = min(tail, default=vocab)
    return np.setdiff1d(np.arange(end), np.array(added, np.int64))


def prompt_ids(ids: NDArray[np.int64], count: int, rng: np.random.Generator) -> list[int]:
    """Ids spread as words are in a text: the n-th most usual one about 1/n as often (Zipf)."""
    weights = 1.0 / (np.arange(len(ids)) + 10.0)
    return [int(i) for i in rng.choice(ids, count, p=weights / weights.sum())]


def sample(logits: NDArray[np.float32], ids: NDArray[np.int64], rng: np.random.Generator) -> int:
    """One of `ids` at temperature 1: greedy would soon repeat itself, and so would its routing."""
    wanted = logits[ids]
    sums = np.cumsum(np.exp(wanted - wanted.max()))
    if not np.isfinite(sums[-1]):
        raise Edge0Error(
            Text("The model computed numbers that are not finite."), Text("Run edge0 doctor.")
        )
    return int(ids[min(int(np.searchsorted(sums, rng.random() * sums[-1])), len(ids) - 1)])


def _added_ids(file: Path) -> list[int]:
    try:
        with file.open(encoding="utf-8", errors="replace") as source:
            head = source.read(_HEAD_BYTES)
    except OSError:
        return []
    start = head.find("[", head.find(_KEY))
    if _KEY not in head or start < 0:
        return []
    try:
        tokens, _ = json.JSONDecoder().raw_decode(head, start)
    except ValueError:
        return []
    return [t["id"] for t in tokens if isinstance(t, dict) and isinstance(t.get("id"), int)]
