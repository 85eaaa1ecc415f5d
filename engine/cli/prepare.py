"""The command `edge0-prepare`: options in, progress out, exit code 0, 1 (failed) or 130 (stopped).

Converts a model, counts which experts it uses and lays those first; `edge0-prepare compact DIR`
lays them out anew by what the model's use has taught. Ctrl-C and SIGTERM set the stop flag; the
work ends between two pieces and can go on later.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from engine.cli import hot_first, output, shared
from engine.errors import Edge0Error, OutputError, Stopped
from engine.events import Progress
from engine.library import find_model
from engine.machine import background
from engine.prepare.calibrate import read_text
from engine.prepare.prepare import prepare
from engine.stop import StopFlag

_BLOCKS = {"4k": 4096, "16k": 16384, "64k": 65536}
_BUILT_IN, _NONE = "built-in", "none"  # what --calibrate may say besides a file

Report = Callable[[Progress], None]


@dataclass(frozen=True)
class _Done:
    """The end of a command: `line` is for people, the rest for them and for programs."""

    path: Path
    bytes: int
    line: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    output.use_utf8()
    arguments = list(sys.argv[1:] if argv is None else argv)
    return output.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    compacting = arguments[:1] == ["compact"]
    parser, work = (_compact_parser(), _compact) if compacting else (_parser(), _convert)
    options = parser.parse_args(arguments[1:] if compacting else arguments)
    as_json = options.progress == "json"
    background.yield_to_others()
    try:
        with stop_on_signals() as stop:
            done = work(options, output.json_progress if as_json else _TextReport(), stop)
    except OutputError:
        raise
    except Edge0Error as error:
        return output.say_json_error(error) if as_json else _fail(error)
    _finish(done, as_json)
    return 0


def _convert(options: argparse.Namespace, report: Report, stop: StopFlag) -> _Done:
    text = _text(options.calibrate)
    out, block = Path(options.out), _BLOCKS[options.expert_block]
    summary = prepare(
        Path(options.model), out, options.quant, report, stop, options.overwrite, block
    )
    notes: list[str] = list(summary.notes)
    if options.calibrate != _NONE:
        notes += hot_first.after_conversion(summary.path, text, report, stop)
    state = "was ready already" if summary.already else "is ready"
    line = f"{summary.path} {state}: {output.gigabytes(summary.bytes)}, {summary.records} experts."
    return _Done(summary.path, summary.bytes, line, tuple(notes), summary.warnings)


def _compact(options: argparse.Namespace, report: Report, stop: StopFlag) -> _Done:
    path, recount = find_model(options.dir), options.calibrate is not None
    text = _text(options.calibrate or _BUILT_IN)
    summary = hot_first.by_known_use(path, recount, text, report, stop)
    state = "was laid out so already" if summary.already else "is laid out anew"
    size = output.gigabytes(summary.bytes)
    line = f"{summary.path} {state}: {size}, {summary.records} experts, hot first."
    return _Done(summary.path, summary.bytes, line)


def _text(calibrate: str) -> str | None:
    """The text to count with; None is the built-in one. Read before any long work."""
    return None if calibrate in (_BUILT_IN, _NONE) else read_text(Path(calibrate))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edge0-prepare",
        description="Convert a model into Edge0's block format.",
        epilog="edge0-prepare compact DIR lays a converted model's experts out by their use.",
    )
    parser.add_argument(
        "--model", required=True, type=shared.words, help="model folder or .gguf file"
    )
    parser.add_argument("--out", required=True, type=shared.words, help="folder to create")
    parser.add_argument("--quant", default="nf4", choices=("nf4", "int4", "int8", "bf16"))
    parser.add_argument("--expert-block", default="4k", choices=tuple(_BLOCKS))
    parser.add_argument("--overwrite", action="store_true", help="replace an older conversion")
    parser.add_argument(
        "--calibrate",
        nargs="?",
        type=shared.words,
        default=_BUILT_IN,
        const=_BUILT_IN,
        metavar="TEXT_FILE",
        help="count on this text which experts are used, and lay those first; without a file a"
        " small built-in text is taken, which is the default; none: leave them in their own order",
    )
    _add_progress(parser)
    return parser


def _compact_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edge0-prepare compact",
        description="Lay out a converted model's experts anew, those used most first. The bytes of"
        " the model stay the same, and it stays whole if this is interrupted.",
    )
    parser.add_argument(
        "dir", type=shared.words, metavar="DIR", help="a converted model's folder, or its name"
    )
    parser.add_argument(
        "--calibrate",
        nargs="?",
        type=shared.words,
        const=_BUILT_IN,
        metavar="TEXT_FILE",
        help="count anew with this text, or a built-in one, instead of going by what was learned",
    )
    _add_progress(parser)
    return parser


def _add_progress(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--progress", default="text", choices=("text", "json"))


@contextmanager
def stop_on_signals() -> Iterator[StopFlag]:
    """A flag that Ctrl-C and SIGTERM set while the block runs."""
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
            output.write(f"{share:3d} %  {progress.what}\n")


def _finish(done: _Done, as_json: bool) -> None:
    if as_json:
        told = {"notes": done.notes, "warnings": done.warnings}
        output.say_json({"finished": str(done.path), "bytes": done.bytes, **told})
        return
    for note in (*done.notes, *done.warnings):
        output.say(f"  {note}")
    output.say(done.line)


def _fail(error: Edge0Error) -> int:
    stopped = isinstance(error, Stopped)
    next_step = output.GO_ON if stopped else error.next_step
    print(f"{error.message}\n{next_step}", file=sys.stderr, flush=True)
    return 130 if stopped else 1


if __name__ == "__main__":
    sys.exit(main())
