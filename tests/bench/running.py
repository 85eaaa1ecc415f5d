"""Runs what is measured in child processes, one at a time, and sums numbers up.

A child's drive reads and peak memory come from the system's own account of it (wait4), so they
are exact even when the child is not ours. Nothing is left running when a benchmark is interrupted.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_SECTOR = 512  # ru_inblock counts these
_TAIL = 2000


class BenchError(Exception):
    """A benchmark cannot go on; the text says why. signal: what ended the child, 0 none."""

    def __init__(self, message: str, signal: int = 0) -> None:
        super().__init__(message)
        self.signal = signal


@dataclass(frozen=True)
class Finished:
    """A child that ended well. peak_bytes: its highest working set; 0 where not counted."""

    output: str
    seconds: float
    read_bytes: int
    peak_bytes: int


def run(command: Sequence[str | Path]) -> Finished:
    """Run a command in the repository's root to its end. Raises BenchError with its last words."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, cwd=ROOT)
        try:
            read_bytes, peak_bytes = _wait(child)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        seconds = time.perf_counter() - begin
        out.seek(0), err.seek(0)
        if child.returncode:
            words = err.read().decode("utf-8", "replace")[-_TAIL:]
            raise BenchError(
                f"{Path(command[0]).name} ended with {child.returncode}: {words}",
                max(0, -child.returncode),
            )
        return Finished(out.read().decode("utf-8"), seconds, read_bytes, peak_bytes)


def _wait(child: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Bytes the child read from drives and its highest working set."""
    if not hasattr(os, "wait4"):
        child.wait()
        return 0, 0
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_inblock * _SECTOR, usage.ru_maxrss * unit


def edge0_command(model: Path, prompt: int, generate: int, *options: str) -> list[str]:
    """`edge0 bench` of this source tree."""
    counts = ["--prompt", str(prompt), "--generate", str(generate)]
    return [sys.executable, "-m", "engine.cli", "bench", str(model), *counts, "--json", *options]


def edge0_bench(model: Path, prompt: int, generate: int, *options: str) -> dict[str, Any]:
    """What `edge0 bench` reports."""
    result: dict[str, Any] = json.loads(
        run(edge0_command(model, prompt, generate, *options)).output
    )
    return result


def converted(source: Path, out: Path, quant: str) -> Path:
    """The container of `source` at `out`; converted unless it is there already."""
    if not (out / "manifest.json").is_file():
        say(f"converting {source.name} to {quant} …")
        command = [sys.executable, "-m", "engine.cli", "prepare", "--quant", quant]
        run([*command, "--model", source, "--out", out])
    return out


def whole_model_gb(model: Path) -> float:
    """A memory budget with room for a whole model, its context and the program."""
    files = sum(entry.stat().st_size for entry in model.iterdir() if entry.is_file())
    return round(files * 1.03 / 1e9 + 1.5, 2)


def summary(values: Sequence[float]) -> dict[str, float]:
    """Median, smallest and largest."""
    return {
        "median": round(statistics.median(values), 4),
        "min": round(min(values), 4),
        "max": round(max(values), 4),
    }


def ratio(ours: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Ours against the other, by medians; 0 when the other has none."""
    return round(ours["median"] / other["median"], 3) if other["median"] else 0.0


def say_result(result: Mapping[str, Any]) -> None:
    """The result on stdout as JSON, each summary on one line."""
    text = json.dumps(result, indent=1, ensure_ascii=False)
    inner = re.compile(r"\{[^{}]*\}")  # an object that holds no other
    print(inner.sub(lambda found: re.sub(r"\s+", " ", found[0]), text))


def script(main: Callable[[], None]) -> None:
    """Run a script's main; what cannot go on ends it with a message instead of a traceback."""
    try:
        main()
    except BenchError as error:
        sys.exit(str(error))


def say(text: str) -> None:
    """A word on what is going on; results alone go to stdout."""
    print(text, file=sys.stderr, flush=True)
