"""Compares us with llama.cpp on the same GGUF, everything in memory; medians and ratios as JSON.

python -m tests.bench.compare_llamacpp [--gguf FILE | --starter | --layers N] [--isa avx2] …

Each round measures llama-bench, then us, then the machine itself, so that what else it does hits
all alike. Ours is measured as llama-bench does it: warm, in one process, several repetitions.
pp: prefill of so many tokens. tg: decode, sampling left out; ours after a 32-token prompt.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from engine.machine.cpu import compute_threads
from tests.bench import peers, synth_gguf, weights
from tests.bench.running import (
    converted,
    edge0_bench,
    ratio,
    run,
    say,
    say_result,
    script,
    summary,
    whole_model_gb,
)

PROMPTS = (512, 64)
BEFORE_DECODE = 32  # tokens of prompt
REPETITIONS = 3  # ours in one process; the first warms up
Values = dict[str, list[float]]


def main() -> None:
    """Command line."""
    options = _options()
    work = options.work or peers.default_cache()
    source, container = prepared(options, work)
    binary = peers.from_options(options, "avx2" if options.isa == "avx2" else "native")
    ours: Values = {}
    theirs: Values = {}
    machine: Values = {}
    for index in range(options.rounds):
        say(f"round {index + 1} of {options.rounds}: llama-bench")
        _collect(theirs, peer_speeds(binary, source, options))
        say(f"round {index + 1} of {options.rounds}: ours")
        _collect(ours, our_speeds(container, options))
        if not options.no_machine:
            _collect(machine, roofline(options.threads))
    result = {"threads": options.threads, "isa": options.isa, "rounds": options.rounds}
    result |= {"gguf": source.name, "container": container.name}
    result |= report(ours, theirs)
    if machine:
        result["machine"] = {name: summary(found) for name, found in machine.items()}
        result |= limits(ours, theirs, machine, source, container, options.tokens)
    say_result(result)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--gguf", type=Path, help="the file to compare on; default: a synthetic one"
    )
    parser.add_argument(
        "--starter", action="store_true", help="the starter's own GGUF, ours as nf4"
    )
    parser.add_argument(
        "--layers", type=int, default=synth_gguf.LAYERS, help="of the synthetic file"
    )
    parser.add_argument("--container", type=Path, metavar="DIR", help="the file, converted before")
    parser.add_argument("--quant", help="for converting; default: nf4, Q4_0 is kept exactly anyway")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where files are made; kept")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64, help="to decode")
    parser.add_argument("--prompts", default=",".join(str(p) for p in PROMPTS), help="to prefill")
    parser.add_argument("--threads", type=int, default=compute_threads())
    parser.add_argument("--isa", choices=("auto", "avx2"), default="auto")
    parser.add_argument("--no-machine", action="store_true", help="leave the machine's limits out")
    peers.add_options(parser)
    options = parser.parse_args()
    options.prompts = [int(p) for p in options.prompts.split(",")]
    return options


def prepared(options: argparse.Namespace, work: Path) -> tuple[Path, Path]:
    """The GGUF and our container of it, made where they are missing."""
    work.mkdir(parents=True, exist_ok=True)
    source: Path = options.gguf or _source(options, work)
    quant = options.quant or "nf4"
    out = options.container or work / f"{source.stem}-{quant}"
    return source, converted(source, out, quant)


def _source(options: argparse.Namespace, work: Path) -> Path:
    from tests.helpers.starter import cached_gguf

    if options.starter:
        return cached_gguf()
    path = work / f"synthetic-{options.layers}.gguf"
    if path.is_file():
        return path
    say(f"writing {path} …")
    return synth_gguf.write(path, cached_gguf(), options.layers)


def peer_speeds(binary: Path, source: Path, options: argparse.Namespace) -> dict[str, float]:
    """llama-bench's tokens a second by test, medians of its repetitions."""
    command = peers.command(
        binary, source, options.prompts, options.tokens, REPETITIONS - 1, options.threads
    )
    tests, _ = peers.measure(command)
    return {name: statistics.median(test.tok_s) for name, test in tests.items()}


def our_speeds(container: Path, options: argparse.Namespace) -> dict[str, float]:
    """Our tokens a second under llama-bench's names."""
    fixed = ["--io", "mapped", "--budget", str(whole_model_gb(container)), "--preload"]
    fixed += ["--isa", options.isa, "--threads", str(options.threads)]
    fixed += ["--repeat", str(REPETITIONS)]
    found = {}
    for prompt in options.prompts:
        result = edge0_bench(container, prompt, 2, *fixed)
        found[f"pp{prompt}"] = result["prefill_tok_s"]
    result = edge0_bench(container, BEFORE_DECODE, options.tokens + 1, *fixed)
    sampling = result["ms_per_token"]["sampling"]  # which llama-bench leaves out
    found[f"tg{options.tokens}"] = 1000 / (1000 / result["decode_tok_s"] - sampling)
    if result["expert_hit_rate"] < 1:
        say(f"not fully resident: {1 - result['expert_hit_rate']:.1%} of experts were read again")
    return found


def roofline(threads: int) -> dict[str, float]:
    """The machine's memory speed and arithmetic now."""
    command = [sys.executable, "-m", "tests.bench.roofline", "--threads", str(threads)]
    found: dict[str, float] = json.loads(run(command).output)
    return {name: found[name] for name in ("read_gb_s", "bf16_gflops")}


def _collect(into: Values, values: dict[str, float]) -> None:
    for name, value in values.items():
        into.setdefault(name, []).append(value)


def report(ours: Values, theirs: Values) -> dict[str, Any]:
    """Each test's speeds in tokens a second, and ours as a multiple of theirs."""
    tests = {}
    for name in ours:
        mine, other = summary(ours[name]), summary(theirs[name])
        tests[name] = {"ours": mine, "llama.cpp": other, "ratio": ratio(mine, other)}
    return {"tests": tests}


def limits(
    ours: Values, theirs: Values, machine: Values, source: Path, container: Path, tokens: int
) -> dict[str, Any]:
    """GB/s of weights in decode and GFLOPS in prefill, and their shares of the machine's."""
    costs = {"ours": weights.container_cost(container), "llama.cpp": weights.gguf_cost(source)}
    read, matmul = (statistics.median(machine[n]) for n in ("read_gb_s", "bf16_gflops"))
    result: dict[str, Any] = {}
    for who, speeds in (("ours", ours), ("llama.cpp", theirs)):
        cost = costs[who]
        gb_s = statistics.median(speeds[f"tg{tokens}"]) * cost.bytes / 1e9
        found = {"mb_per_token": round(cost.bytes / 1e6, 1)}
        found |= {"gb_s": round(gb_s, 2), "of_memory_read": round(gb_s / read, 3)}
        for name in (n for n in speeds if n.startswith("pp")):
            gflops = statistics.median(speeds[name]) * cost.flops / 1e9
            found[f"{name}_gflops"] = round(gflops, 1)
            found[f"{name}_of_bf16_matmul"] = round(gflops / matmul, 2)
        result[who] = found
    return {"reached": result}


if __name__ == "__main__":
    script(main)
