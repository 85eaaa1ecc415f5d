"""Reads a prompt with a converted model and saves it, in a process of its own (run as a program).

Arguments: model, cache folder, tokens, KV format, files. After so many files have been written, in
the middle of the next one, it kills itself without warning; 0: it ends well.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.chat import snapshots
from engine.config import Edge0Config
from engine.machine.samples import DriveInfo
from engine.runtime import Edge0Runtime
from engine.stop import StopFlag
from engine.store import snapshot_folder


def prompt(tokens: int, seed: int = 7) -> list[int]:
    """Ordinary ids."""
    return [(seed * i + i // 50) % 250 for i in range(1, tokens + 1)]


def open_model(path: Path, cache: Path, kv_format: Any = "fp16", **options: Any) -> Edge0Runtime:
    """On one thread, with room for the prompts of the tests."""
    chosen = {"context_tokens": 512, "threads": 1, "kv_format": kv_format, **options}
    return Edge0Runtime.from_config(Edge0Config(path, cache_dir=cache, **chosen))


def read_and_save(runtime: Edge0Runtime, ids: list[int]) -> tuple[int, NDArray[np.float32]]:
    """What a reply does with its prompt: tokens that were there, logits of the others."""
    cache = runtime._cache
    with cache.exclusive():
        reused = cache.keep(ids)
        logits = cache.forward(ids[reused:], StopFlag(), all_logits=True)
        cache.save(lambda: ids)
    return reused, logits


def die_after(files: int) -> None:
    """Cut the next file short, then die."""
    replace, left = os.replace, files

    def replace_or_die(source: Any, target: Any) -> None:
        nonlocal left
        if left == 0:
            os.truncate(source, os.path.getsize(source) // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        replace(source, target)

    os.replace = replace_or_die  # type: ignore[assignment]


def main(model: str, cache: str, tokens: str, kv_format: str, files: str) -> None:
    snapshot_folder.drive_info = lambda _: DriveInfo("nvme")
    snapshot_folder.FREE_BYTES = 0
    snapshots.CLOSING_S = 600.0
    if int(files):
        die_after(int(files))
    with open_model(Path(model), Path(cache), kv_format) as runtime:
        read_and_save(runtime, prompt(int(tokens)))


if __name__ == "__main__":
    main(*sys.argv[1:])
