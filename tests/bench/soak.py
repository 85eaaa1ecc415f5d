"""Does a model that chats for long grow or slow down? Thousands of tokens in one process, as JSON.

python -m tests.bench.soak MODEL [--tokens 10000] [--context 1024] [--io auto] [--budget GB]

Real conversations through a session: a turn builds on the ones before, and when the context is full
the next conversation begins (the context is rewound). Working set, open files, threads and Python
objects are taken after the first tenth, when everything has been touched once, and at the end;
speeds are of decode alone, from the replies' own counters. On a machine that does other things as
well, compare processor time instead, with --threads 1: nobody then waits for another thread.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from engine import Edge0Config, Edge0Runtime, GenerateOptions, Message, memory_now
from engine.errors import ContextError
from engine.events import Finished, TextDelta
from tests.bench.running import say, say_result, script

TURN = 200  # tokens of a reply
IO = {"auto": None, "mapped": True, "direct": False}


@dataclass(frozen=True)
class Reply:
    """tokens written, seconds of those after the first, and processor time of the whole reply."""

    tokens: int
    decode_s: float
    cpu_s: float


@dataclass(frozen=True)
class Held:
    """What the process holds at one moment."""

    working_set_mb: float
    committed_mb: float
    open_files: int
    threads: int
    objects: int


def held_now() -> Held:
    """After a collection, so that garbage does not count."""
    gc.collect()
    memory, process = memory_now(), psutil.Process()
    files = process.num_handles() if hasattr(process, "num_handles") else process.num_fds()
    sizes = round(memory.working_set / 1e6, 1), round(memory.committed / 1e6, 1)
    return Held(*sizes, files, process.num_threads(), len(gc.get_objects()))


def replies(runtime: Edge0Runtime) -> Iterator[Reply]:
    """Conversation after conversation, for ever; another seed for each reply."""
    session, number = runtime.session(), 0
    while True:
        messages: list[Message] = []
        while True:
            number += 1
            messages.append(
                Message("user", f"Question {number}: tell me more about number {number}.")
            )
            options = GenerateOptions(max_tokens=TURN, temperature=0.8, seed=number)
            begin = time.process_time()
            try:
                events = list(session.reply(messages, options))
            except ContextError:
                break
            end = events[-1]
            assert isinstance(end, Finished)
            cpu_s = time.process_time() - begin
            yield Reply(end.stats.generated_tokens, end.stats.decode_s, cpu_s)
            if end.reason == "context":
                break
            text = "".join(event.text for event in events if isinstance(event, TextDelta))
            messages.append(Message("assistant", text))


def soak(runtime: Edge0Runtime, tokens: int) -> dict[str, Any]:
    """Write `tokens` tokens and compare the ends."""
    done, told, all_replies = 0, 0, []
    early: Held | None = None
    for reply in replies(runtime):
        done += reply.tokens
        all_replies.append((done, reply))
        if early is None and done >= tokens / 10:
            early = held_now()
        if done - told >= tokens / 10:
            told = done
            say(f"{done} tokens, working set {memory_now().working_set / 1e6:.0f} MB")
        if done >= tokens:
            break
    assert early is not None
    late = held_now()
    first = [r for at, r in all_replies if at <= tokens * 0.1]
    last = [r for at, r in all_replies if at > tokens * 0.9]
    return {
        "tokens": done,
        "replies": len(all_replies),
        "decode_tok_s": {"first_tenth": _speed(first), "last_tenth": _speed(last)},
        "last_to_first": round(_speed(last) / _speed(first), 3),
        "cpu_ms_per_token": {"first_tenth": _cpu_ms(first), "last_tenth": _cpu_ms(last)},
        "after_a_tenth": vars(early),
        "at_the_end": vars(late),
        "working_set_growth_mb": round(late.working_set_mb - early.working_set_mb, 1),
        "memory_change": str(runtime.snapshot().memory_change or ""),
    }


def _speed(of: list[Reply]) -> float:
    """The median of the replies' speeds: a pause of the machine costs one reply, not the result."""
    return round(statistics.median((r.tokens - 1) / r.decode_s for r in of if r.decode_s > 0), 2)


def _cpu_ms(of: list[Reply]) -> float:
    return round(statistics.median(1e3 * r.cpu_s / r.tokens for r in of if r.tokens), 3)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--tokens", type=int, default=10_000)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--io", choices=tuple(IO), default="auto")
    parser.add_argument("--budget", type=float, metavar="GB")
    parser.add_argument("--threads", type=int, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="edge0-soak-") as cache:
        config = Edge0Config(
            options.model,
            memory_budget_gb=options.budget,
            use_mmap=IO[options.io],
            context_tokens=options.context,
            threads=options.threads,
            cache_dir=cache,
        )
        with Edge0Runtime.from_config(config) as runtime:
            now = runtime.snapshot()
            head = {"model": options.model.name, "io": now.io_mode, "slots": now.expert_slots}
            say_result(head | soak(runtime, options.tokens))


if __name__ == "__main__":
    script(main)
