"""Which token ids stand for ordinary text, read from the head of tokenizer.json.

Only the list of added tokens is parsed: the whole file would cost more memory than we want to
measure beside the model.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_HEAD_BYTES = 4 << 20
_KEY = '"added_tokens"'


def ordinary_ids(folder: Path, vocab: int) -> NDArray[np.int64]:
    """Ids of ordinary tokens, ascending: no special ones, none behind the tokenizer's last."""
    added = [i for i in _added_ids(folder / "tokenizer.json") if 0 <= i < vocab]
    tail = [i for i in added if i >= vocab // 2]
    end = min(tail, default=vocab)
    return np.setdiff1d(np.arange(end), np.array(added, np.int64))


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
