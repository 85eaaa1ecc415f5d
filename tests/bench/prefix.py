"""What a conversation that comes back costs: its prompt computed, against its rows read from disk.

python -m tests.bench.prefix MODEL [--prompt 1500] [--rounds 3] [--kv int8]      JSON

Each round: the prompt is prefilled into an empty KV cache, saved, then read back twice: with the
files (in the system's temporary folder) in the page cache, and without. First tokens include what
is computed behind the last block.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.chat import snapshots
from engine.chat.prefix_cache import PrefixCache
from engine.chat.snapshots import Snapshots
from engine.cli.bench_tokens import ordinary_ids, prompt_ids
from engine.config import Edge0Config
from engine.kernels import native
from engine.machine.page_cache import forget
from engine.model.model import Model
from engine.runtime import Edge0Runtime
from engine.stop import StopFlag
from engine.store.snapshot_folder import SnapshotFolder
from tests.bench.running import BenchError, ratio, say, say_result, script, summary, whole_model_gb

LIMIT = 100 * 10**9
_IDENTITY = b"bench"


@dataclass(frozen=True)
class Round:
    """Seconds; cold is 0 where the page cache cannot be emptied."""

    prefill: float
    save: float
    warm: float
    cold: float
    warm_restore: float
    cold_restore: float


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class Bench:
    """One model, and a cache folder of its own."""

    def __init__(self, model: Model, folder: Path, ids: list[int]) -> None:
        self._model, self._folder, self._ids = model, folder, ids
        self.reused = 0

    def round(self) -> Round:
        """Compute, save, read back."""
        cache = self._fresh()
        prefill = timed(lambda: cache.forward(self._ids, StopFlag()))
        save = timed(lambda: (cache.save(lambda: self._ids), cache.close()))
        if not self.files():
            raise BenchError("Reading would be no gain on this drive: nothing was saved.")
        warm_restore, warm = self._come_back()
        cold_restore, cold = self._come_back() if forget(self._synced()) else (0.0, 0.0)
        for path in self.files():
            path.unlink()
        return Round(prefill, save, warm, cold, warm_restore, cold_restore)

    def files(self) -> list[Path]:
        """What was saved."""
        return sorted(self._folder.glob("**/*.kv"))

    def _come_back(self) -> tuple[float, float]:
        """Seconds to read the rows, and to the first token."""
        cache, begin = self._fresh(), time.perf_counter()
        self.reused = cache.keep(self._ids)
        restore = time.perf_counter() - begin
        cache.forward(self._ids[self.reused :], StopFlag())
        return restore, time.perf_counter() - begin

    def _fresh(self) -> PrefixCache:
        """An empty KV cache in memory not touched yet, as after a start."""
        self._model.rewind(0)
        native.library().e0_exec_discard_cache(self._model.executor._context, 0)
        folder = SnapshotFolder(self._folder, "0" * 64, LIMIT)
        return PrefixCache(self._model, Snapshots(self._model, folder, _IDENTITY))

    def _synced(self) -> list[Path]:
        """Dirty pages cannot be dropped: write them out first."""
        for path in self.files():
            handle = os.open(path, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)
        return self.files()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--prompt", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kv", choices=("fp16", "int8"), default="fp16")
    options = parser.parse_args()
    snapshots.CLOSING_S = 600.0
    config = Edge0Config(
        options.model,
        whole_model_gb(options.model),
        context_tokens=options.prompt + 64,
        kv_format=options.kv,
    )
    with (
        Edge0Runtime.from_config(config) as runtime,
        tempfile.TemporaryDirectory(prefix="edge0-bench-") as folder,
    ):
        ordinary = ordinary_ids(options.model, runtime.model.shape.vocab)
        ids = prompt_ids(ordinary, options.prompt, np.random.default_rng(0))
        bench = Bench(runtime.model, Path(folder), ids)
        say("warming up")
        bench.round()
        rounds = []
        for index in range(options.rounds):
            say(f"round {index + 1} of {options.rounds}")
            rounds.append(bench.round())
        say_result(report(options.prompt, bench.reused, runtime.model.kv_token_bytes, rounds))


def report(prompt: int, reused: int, token_bytes: int, rounds: list[Round]) -> dict[str, object]:
    """Medians, and how many times sooner the first token comes."""
    names = ("prefill", "save", "warm_restore", "warm", "cold_restore", "cold")
    found = {name: summary([getattr(r, name) for r in rounds]) for name in names}
    return {
        "prompt_tokens": prompt,
        "reused_tokens": reused,
        "snapshot_mb": round(reused * token_bytes / 1e6, 1),
        "first_token_computed_s": found["prefill"],
        "save_s": found["save"],
        "first_token_warm_s": found["warm"],
        "of_that_reading_warm_s": found["warm_restore"],
        "first_token_cold_s": found["cold"],
        "of_that_reading_cold_s": found["cold_restore"],
        "sooner_warm": ratio(found["prefill"], found["warm"]),
        "sooner_cold": ratio(found["prefill"], found["cold"]),
    }


if __name__ == "__main__":
    script(main)
