"""Speed under memory limits: ours and llama.cpp's mmap on the same file; medians as JSON.

python -m tests.bench.limits --gguf FILE --container DIR [--limits 8,4,none] [--io mapped,direct]

Every case starts with the files out of the page cache, in a control group of its own: the first
repetition is cold, the later ones, with other texts, are warm. Beside each time stands what it
cannot fall below: computing with everything in memory (ours, same run), and reading the bytes that
were missed at the drive's unbuffered speed for records of this size, 4 at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.cli.bench import median
from engine.container.reader import Container
from engine.machine import page_cache
from engine.machine.cpu import compute_threads
from engine.store.probe import probe_reads
from tests.bench import peers
from tests.bench.cgroup import MemoryGroup, NoCgroup
from tests.bench.limits_report import Row, report
from tests.bench.running import (
    BenchError,
    converted,
    edge0_command,
    run,
    say,
    say_result,
    script,
    whole_model_gb,
)

DEPTH = 4  # reads in flight, as the store's lanes
PROBE_S = 3.0
BUDGET_SHARE = 0.9  # of the limit
GIB = 1 << 30


def main() -> None:
    """Command line."""
    options = _options()
    work = options.work or peers.default_cache()
    out = options.container or work / f"{options.gguf.stem}-nf4"
    options.container = converted(options.gguf, out, "nf4")
    binary = None if options.no_peer else peers.from_options(options)
    drive = drive_speed(options.container)
    say(f"drive: {drive['mb_s']} MB/s")
    rows: list[Row] = []
    for index in range(options.rounds):
        say(f"round {index + 1} of {options.rounds}")
        rows += _resident(binary, options)
        for limit in options.limits:
            rows += _limited(binary, limit, options)
    head = {"prompt": options.prompt, "generate": options.generate, "threads": options.threads}
    say_result(head | {"drive": drive} | report(rows, drive["mb_s"] * 1e6))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--container", type=Path, metavar="DIR", help="the file, converted before")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where files are made; kept")
    parser.add_argument("--limits", default="none,8,4", help="GiB, or none")
    parser.add_argument("--io", default="auto,mapped,direct")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=3, help="one cold, the others warm")
    parser.add_argument("--prompt", type=int, default=250)
    parser.add_argument("--generate", type=int, default=64)
    parser.add_argument("--peer-tokens", type=int, default=4, help="for the slow peer to decode")
    parser.add_argument("--budget", type=float, default=3.2, help="GB where there is no limit")
    parser.add_argument("--threads", type=int, default=compute_threads())
    parser.add_argument("--ours", default="", help="more options of edge0 bench, in one string")
    parser.add_argument("--no-peer", action="store_true", help="leave llama.cpp out")
    peers.add_options(parser)
    options = parser.parse_args()
    options.limits = [None if x == "none" else float(x) for x in options.limits.split(",")]
    if options.repeat < 2:
        parser.error("--repeat: one cold and one warm at least")
    return options


def drive_speed(container: Path) -> dict[str, float]:
    """Random unbuffered reads of this container's records, 4 at a time."""
    opened = Container.open(container)
    record = max(layout.bytes for layout in opened.manifest.layouts)
    point = probe_reads(opened.files, record, PROBE_S, (DEPTH,)).points[0]
    return {"record_bytes": record, "depth": DEPTH, "mb_s": round(point.mb_s, 1)}


def _resident(binary: Path | None, options: argparse.Namespace) -> list[Row]:
    """Both with everything in memory, warm: what the limited cases are compared with."""
    say("  resident")
    fixed = ["--io", "mapped", "--budget", str(whole_model_gb(options.container)), "--preload"]
    rows = our_rows(Row("resident", "edge0"), fixed, None, options)[1:]
    if binary:
        work = ([options.prompt], options.generate, 2, options.threads)
        tests, _ = peers.measure(peers.command(binary, options.gguf, *work))
        rows += peer_rows(Row("resident", "llama.cpp"), tests, options, 0, 0)[1:]
    return rows


def _limited(binary: Path | None, limit: float | None, options: argparse.Namespace) -> list[Row]:
    """Every engine under one limit."""
    name = "none" if limit is None else f"{limit:g} GiB"
    budget = options.budget if limit is None else round(limit * GIB * BUDGET_SHARE / 1e9, 3)
    rows: list[Row] = []
    try:
        for mode in options.io.split(","):
            say(f"  limit {name}: edge0 {mode}")
            with _fresh(limit, options) as group:
                fixed = ["--io", mode, "--budget", str(budget)]
                rows += our_rows(Row(name, f"edge0 {mode}"), fixed, group, options)
        if binary:
            say(f"  limit {name}: llama.cpp mmap")
            with _fresh(limit, options) as group:
                rows += _limited_peer(binary, Row(name, "llama.cpp mmap"), group, options)
    except NoCgroup as error:
        say(f"  limit {name}: skipped, {error}")
    return rows


@contextlib.contextmanager
def _fresh(limit: float | None, options: argparse.Namespace) -> Iterator[MemoryGroup | None]:
    """The files out of the page cache, and a new group where there is a limit."""
    files = [options.gguf, *(p for p in options.container.iterdir() if p.is_file())]
    if not page_cache.forget(files):
        say("  this system keeps files in its cache: the cold numbers may be warm ones")
    if limit is None:
        yield None
        return
    with MemoryGroup(round(limit * GIB)) as group:
        yield group


def our_rows(
    row: Row, fixed: list[str], group: MemoryGroup | None, options: argparse.Namespace
) -> list[Row]:
    """One process of ours: the cold row, and the warm one (medians of the later repetitions)."""
    more = ["--threads", str(options.threads), "--repeat", str(options.repeat)]
    more += options.ours.split()
    command = edge0_command(options.container, options.prompt, options.generate, *fixed, *more)
    try:
        output = run(group.command(command) if group else command).output
    except BenchError as error:
        return [row.failed(phase, str(error), _kills(group)) for phase in ("cold", "warm")]
    repetitions = json.loads(output)["repetitions"]
    found = {"cold": repetitions[0], "warm": median(repetitions[1:])}
    return [row.measured(phase, _ours(result, group)) for phase, result in found.items()]


def _ours(result: dict[str, Any], group: MemoryGroup | None) -> dict[str, float | str]:
    decode, prefill = result["decode_bytes_per_token"], result["prefill_expert_bytes"]
    if result["ssd_bytes_counted"] == "block":  # a record found in the page cache was not missed
        decode = min(decode, result["decode_ssd_bytes_per_token"])
        prefill = min(prefill, result["prefill_ssd_bytes"])
    return {
        "io_mode": result["io_mode"],
        "decode_tok_s": result["decode_tok_s"],
        "first_token_s": result["first_token_s"],
        "hit_rate": result["expert_hit_rate"],
        "decode_missed_mib": decode / 2**20,
        "prefill_missed_mib": prefill / 2**20,
        "read_mib": result["ssd_bytes_read"] / 2**20,
        "peak_mb": result["working_set_peak_mb"],
        "budget_mb": result["budget_bytes"] / 1e6,
        "oom_kills": _kills(group),
    }


def _limited_peer(
    binary: Path, row: Row, group: MemoryGroup | None, options: argparse.Namespace
) -> list[Row]:
    work = ([options.prompt], options.peer_tokens, options.repeat, options.threads)
    command = peers.command(binary, options.gguf, *work, peers.LIMITED)
    try:
        tests, finished = peers.measure(group.command(command) if group else command)
    except BenchError as error:
        return [row.failed(phase, str(error), _kills(group)) for phase in ("cold", "warm")]
    return peer_rows(row, tests, options, finished.read_bytes, _kills(group))


def peer_rows(
    row: Row,
    tests: dict[str, peers.PeerTest],
    options: argparse.Namespace,
    read_bytes: int,
    kills: int,
) -> list[Row]:
    """llama-bench's first repetitions as the cold row, the later ones' medians as the warm one."""
    prefill = next(t for name, t in tests.items() if name.startswith("pp")).seconds
    decode = next(t for name, t in tests.items() if name.startswith("tg")).tok_s
    rows = []
    for phase, part in (("cold", slice(0, 1)), ("warm", slice(1, None))):
        both = zip(prefill[part], decode[part], strict=True)
        found = median([{"first_token_s": first, "decode_tok_s": speed} for first, speed in both])
        whole = {"whole_run_read_mib": read_bytes / 2**20, "oom_kills": kills}
        rows.append(row.measured(phase, found | whole))
    return rows


def _kills(group: MemoryGroup | None) -> int:
    return group.oom_kills if group else 0


if __name__ == "__main__":
    script(main)
