"""What a busy window costs the model, and what the model costs the window, in one process.

python -m tests.bench.gui_busy MODEL [--rounds 3] [--prompt 512] [--generate 64]      JSON

The model runs on a QThread, as in the app; the main thread runs Qt's event loop. A timer keeps it
busy for 5, or 15, of every 33 ms (in Python, holding its lock, as painting text does), or not at
all; another ticks every 10 ms and notes the longest time between two ticks beyond that.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt, QThread, QTimer

from engine.cli.bench_tokens import ordinary_ids, prompt_ids, sample
from engine.config import Edge0Config
from engine.runtime import Edge0Runtime
from engine.stop import StopFlag
from tests.bench.running import ratio, say, say_result, summary, whole_model_gb

FRAME_MS, TICK_MS = 33, 10
BUSY_MS = (0, 5, 15)


@dataclass(frozen=True)
class Speeds:
    """Of one prefill and decode, in tokens a second."""

    prefill: float
    decode: float


@dataclass(frozen=True)
class Measured:
    """One round with one load. gap_ms: longest time between two ticks of the main thread."""

    speeds: Speeds
    prefill_gap_ms: float
    decode_gap_ms: float


class Heartbeat:
    """Ticks on the main thread; remembers the longest gap since it was last asked."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._longest = 0.0
        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self._longest = max(self._longest, now - self._last)
        self._last = now

    def take_ms(self) -> float:
        """The longest gap so far, an unfinished one included; starts anew."""
        self._tick()
        longest, self._longest = self._longest, 0.0
        return longest * 1000

    def stop(self) -> None:
        """No more ticks."""
        self._timer.stop()


class Load:
    """Keeps the main thread busy for a part of every frame."""

    def __init__(self, busy_ms: int) -> None:
        self._busy_s = busy_ms / 1000
        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=FRAME_MS)
        self._timer.timeout.connect(self._work)
        if busy_ms:
            self._timer.start()

    def _work(self) -> None:
        until = time.perf_counter() + self._busy_s
        while time.perf_counter() < until:
            pass

    def stop(self) -> None:
        """Idle from now on."""
        self._timer.stop()


class Worker(QThread):
    """Runs one function."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self._work = work
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:  # told on the main thread
            self.error = error


class Bench:
    """One model and one event loop."""

    def __init__(self, runtime: Edge0Runtime, folder: Path, prompt: int, generate: int) -> None:
        self._model = runtime.model
        self._ids = ordinary_ids(folder, runtime.model.shape.vocab)
        self._prompt, self._generate = prompt, generate
        self._random = np.random.default_rng(0)
        self._stop = StopFlag()
        self._token = 0

    def measured(self, busy_ms: int) -> Measured:
        """Prefill and decode while the main thread is busy for `busy_ms` of every frame."""
        beat, load = Heartbeat(), Load(busy_ms)
        prefill_s, prefill_gap = self._timed(self._prefill, beat)
        decode_s, decode_gap = self._timed(self._decode, beat)
        beat.stop()
        load.stop()
        speeds = Speeds(self._prompt / prefill_s, self._generate / decode_s)
        return Measured(speeds, prefill_gap, decode_gap)

    def _timed(self, work: Callable[[], None], beat: Heartbeat) -> tuple[float, float]:
        """Seconds of `work` on the worker thread, and the longest gap meanwhile."""
        seconds = 0.0

        def timed() -> None:
            nonlocal seconds
            begin = time.perf_counter()
            work()
            seconds = time.perf_counter() - begin

        worker = Worker(timed)
        worker.finished.connect(QCoreApplication.quit)
        QTimer.singleShot(0, worker.start)  # inside the loop, or its end might come before it
        beat.take_ms()
        QCoreApplication.exec()
        worker.wait()
        if worker.error:
            raise worker.error
        return seconds, beat.take_ms()

    def _prefill(self) -> None:
        self._model.rewind(0)
        prompt = prompt_ids(self._ids, self._prompt, self._random)
        self._token = sample(self._model.forward(prompt, self._stop), self._ids, self._random)

    def _decode(self) -> None:
        for _ in range(self._generate):
            logits = self._model.forward([self._token], self._stop)
            self._token = sample(logits, self._ids, self._random)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=64)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    application = QCoreApplication([])
    context = max(16, options.prompt + options.generate)
    budget = whole_model_gb(options.model)
    config = Edge0Config(
        options.model, budget, use_mmap=True, context_tokens=context, threads=options.threads
    )
    found: dict[int, list[Measured]] = {busy: [] for busy in BUSY_MS}
    with Edge0Runtime.from_config(config) as runtime:
        bench = Bench(runtime, options.model, options.prompt, options.generate)
        say("warming up")
        bench.measured(0)
        for index in range(options.rounds):
            for busy in BUSY_MS:
                say(f"round {index + 1} of {options.rounds}: busy {busy} of {FRAME_MS} ms")
                found[busy].append(bench.measured(busy))
        threads = runtime.snapshot().threads
    say_result({"model": options.model.name, "threads": threads} | report(found))
    del application


def report(found: dict[int, list[Measured]]) -> dict[str, object]:
    """Speeds for each load, as shares of the speed without one, and the longest gaps."""
    alone = found[0]
    base = {
        "prefill": summary([m.speeds.prefill for m in alone]),
        "decode": summary([m.speeds.decode for m in alone]),
    }
    cases = {}
    for busy, rounds in found.items():
        prefill = summary([m.speeds.prefill for m in rounds])
        decode = summary([m.speeds.decode for m in rounds])
        cases[f"busy_{busy}_of_{FRAME_MS}_ms"] = {
            "prefill_tok_s": prefill,
            "decode_tok_s": decode,
            "prefill_of_idle": ratio(prefill, base["prefill"]),
            "decode_of_idle": ratio(decode, base["decode"]),
            "decode_of_idle_by_round": _by_round(rounds, alone),
            "prefill_gap_ms": round(max(m.prefill_gap_ms for m in rounds), 1),
            "decode_gap_ms": round(max(m.decode_gap_ms for m in rounds), 1),
        }
    return {"cases": cases}


def _by_round(rounds: list[Measured], alone: list[Measured]) -> float:
    """Median of the ratios within each round: what else the machine does hits both alike."""
    pairs = zip(rounds, alone, strict=True)
    return round(statistics.median(m.speeds.decode / a.speeds.decode for m, a in pairs), 3)


if __name__ == "__main__":
    main()
