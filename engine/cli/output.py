"""What the command prints: results to stdout, words about them to stderr, always in UTF-8."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from engine.errors import DownloadError, Edge0Error, OutputError, Stopped
from engine.events import Progress
from engine.text import Text, with_records

_TERMINAL_S = 0.2  # redraw the line at most five times a second
_FILE_S = 2.0  # in a log: a line now and then, none for what is over at once
GO_ON = Text("Run the same command again to go on.")
_CLEAR = "\r\x1b[K"  # to the start of the line, and wipe it


Report = Callable[[Progress], None]


def use_utf8() -> None:
    """Odd locales (LANG=C, a Windows pipe in code page 1252) must not break or crash the output."""
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def say(text: str) -> None:
    """A line of the result."""
    with output_errors():
        print(text)


def say_json(value: object) -> None:
    """The result as one line of JSON; what can be translated carries its template."""
    write(json.dumps(with_records(value), ensure_ascii=False) + "\n")


def say_json_error(error: Edge0Error) -> int:
    """An error as the last line of JSON; returns the exit code."""
    stopped = isinstance(error, Stopped)
    next_step = GO_ON if stopped else error.next_step
    page = error.page if isinstance(error, DownloadError) else ""
    told = {"error": error.message, "next_step": next_step, "stopped": stopped, "page": page}
    say_json(told)
    return 130 if stopped else 1


def write(text: str) -> None:
    """A piece of the result, shown at once."""
    with output_errors():
        print(text, end="", flush=True)


def note(text: str) -> None:
    """A line about the result; nothing when empty."""
    if text:
        print(text, file=sys.stderr, flush=True)


def guarded(command: Callable[[], int]) -> int:
    """Run a command; returns its exit code, 1 when its output cannot be written.

    `edge0 models | head -1` is no fault: nobody reads on, and nothing is said.
    """
    try:
        try:
            return command()
        finally:  # also when argparse ends the program after --help
            _flush()
    except OutputError as error:
        _silence()
        note(f"{error.message} {error.next_step}".strip())
        return 1


@contextmanager
def output_errors() -> Iterator[None]:
    """Turns what writing to stdout raises into OutputError."""
    try:
        yield
    except BrokenPipeError as error:
        raise OutputError("") from error
    except OSError as error:
        raise OutputError(
            Text("The output cannot be written: {0}.", error.strerror or error),
            Text("Send it somewhere else, or free some space there."),
        ) from error


def _flush() -> None:
    """Write out what is buffered, so that a reader who is gone is noticed in time."""
    if sys.stdout is not None:  # a windowed program has none
        with output_errors():
            sys.stdout.flush()


def _silence() -> None:
    """Let the rest, and Python's own last flush, go nowhere."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


class TextProgress:
    """Shows progress on one line of a terminal; in a file or pipe, as a line every two seconds."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._terminal = self._stream.isatty()
        self._shown = False
        self._next = clock() + (0.0 if self._terminal else _FILE_S)

    def __call__(self, progress: Progress) -> None:
        now, share = self._clock(), 100 * progress.done // max(progress.total, 1)
        line = f"{share:3d} %  {progress.what}"
        if self._terminal and (now >= self._next or progress.done >= progress.total):
            self._next, self._shown = now + _TERMINAL_S, True
            line = line[: shutil.get_terminal_size().columns - 1]  # a wrapped line cannot be wiped
            print(f"{_CLEAR}{line}", end="", file=self._stream, flush=True)
        elif not self._terminal and now >= self._next:
            self._next = now + _FILE_S
            print(line, file=self._stream, flush=True)

    def end(self) -> None:
        """Leave the terminal's line empty for what follows."""
        if self._shown:
            self._shown = False
            print(_CLEAR, end="", file=self._stream, flush=True)


def result_path(as_json: bool, work: Callable[[Report], Path]) -> int:
    """Do work whose result is a folder and say where it is; returns the exit code.

    as_json, for the app: one JSON object a line, the last one `finished` or `error`.
    """
    if as_json:
        try:
            path = work(json_progress)
        except Edge0Error as error:
            return say_json_error(error)
        say_json({"finished": str(path)})
        return 0
    line = TextProgress()
    try:
        path = work(line)
    finally:
        line.end()
    say(str(path))
    return 0


def json_progress(progress: Progress) -> None:
    """Progress as a line of JSON on stdout."""
    say_json({"done": progress.done, "total": progress.total, "what": progress.what})


def gigabytes(size: float) -> str:
    """Bytes as GB (10^9), or MB when small."""
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
