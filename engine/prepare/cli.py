"""The command `edge0-prepare`: options in, progress out, exit code 0, 1 (failed) or 130 (stopped).

Ctrl-C and SIGTERM set the stop flag; the conversion ends between two pieces and can go on later.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from engine.errors import Edge0Error, Stopped
from engine.events import Progress
from engine.prepare.prepare import PrepareSummary, prepare
from engine.stop import StopFlag

_BLOCKS = {"4k": 4096, "16k": 16384, "64k": 65536}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _parser().parse_args(argv)
    as_json = options.progress == "json"
    try:
        with _stop_on_signals() as stop:
            summary = prepare(
                Path(options.model),
                Path(options.out),
                options.quant,
                _report_json if as_json else _TextReport(),
                stop,
                options.overwrite,
                _BLOCKS[options.expert_block],
            )
    except Stopped:
        return _fail("Stopped.", "Run the same command again to go on.", as_json, 130)
    except Edge0Error as error:
        return _fail(error.message, error.next_step, as_json, 1)
    _finish(summary, as_json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edge0-prepare", description="Convert a model into Edge0's block format."
    )
    parser.add_argument("--model", required=True, help="model folder or .gguf file")
    parser.add_argument("--out", required=True, help="folder to create")
    parser.add_argument("--quant", default="nf4", choices=("nf4", "int4", "int8", "bf16"))
    parser.add_argument("--expert-block", default="4k", choices=tuple(_BLOCKS))
    parser.add_argument("--progress", default="text", choices=("text", "json"))
    parser.add_argument("--overwrite", action="store_true", help="replace an older conversion")
    return parser


@contextmanager
def _stop_on_signals() -> Iterator[StopFlag]:
    stop = StopFlag()

    def handler(number: int, frame: FrameType | None) -> None:
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield stop
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


class _TextReport:
    """One line for each new step or further 5 %."""

    def __init__(self) -> None:
        self._last: tuple[str, int] = ("", -1)

    def __call__(self, progress: Progress) -> None:
        share = 100 * progress.done // max(progress.total, 1)
        if (progress.what, share // 5) != self._last:
            self._last = (progress.what, share // 5)
            print(f"{share:3d} %  {progress.what}", flush=True)


def _report_json(progress: Progress) -> None:
    _print_json({"done": progress.done, "total": progress.total, "what": progress.what})


def _finish(summary: PrepareSummary, as_json: bool) -> None:
    if as_json:
        told = {"notes": summary.notes, "warnings": summary.warnings}
        _print_json({"finished": str(summary.path), "bytes": summary.bytes, **told})
        return
    for note in (*summary.notes, *summary.warnings):
        print(f"  {note}")
    state = "was ready already" if summary.already else "is ready"
    print(f"{summary.path} {state}: {summary.bytes / 1e9:.2f} GB, {summary.records} experts.")


def _fail(message: str, next_step: str, as_json: bool, code: int) -> int:
    if as_json:
        _print_json({"error": message, "next_step": next_step, "stopped": code == 130})
    else:
        print(f"{message}\n{next_step}", file=sys.stderr, flush=True)
    return code


def _print_json(fields: dict[str, object]) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    sys.exit(main())
