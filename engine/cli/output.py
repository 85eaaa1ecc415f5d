"""What the command prints: results to stdout, words about them to stderr, always in UTF-8."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from engine.events import Progress

_PROGRESS_S = 0.2  # at most five lines a second


def use_utf8() -> None:
    """Odd locales (LANG=C, a Windows pipe in code page 1252) must not break or crash the output."""
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def say(text: str) -> None:
    """A line of the result."""
    print(text)


def say_json(value: object) -> None:
    """The result as one line of JSON."""
    print(json.dumps(value, ensure_ascii=False))


def write(text: str) -> None:
    """A piece of the result, shown at once."""
    print(text, end="", flush=True)


def note(text: str) -> None:
    """A line about the result; nothing when empty."""
    if text:
        print(text, file=sys.stderr, flush=True)


def flush() -> None:
    """Write out what is buffered, so that a reader who is gone is noticed in time."""
    sys.stdout.flush()


def silence() -> None:
    """Nobody reads stdout any more: let the rest, and Python's own last flush, go nowhere."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


class TextProgress:
    """Shows progress on one line of a terminal; on anything else, a line for each new step."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._terminal = self._stream.isatty()
        self._what = ""
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        if not self._terminal:
            if progress.what != self._what:
                print(progress.what, file=self._stream, flush=True)
        elif self._clock() >= self._next or progress.done >= progress.total:
            self._next = self._clock() + _PROGRESS_S
            share = 100 * progress.done // max(progress.total, 1)
            print(f"\r\x1b[K{share:3d} %  {progress.what}", end="", file=self._stream, flush=True)
        self._what = progress.what

    def end(self) -> None:
        """Leave the terminal's line empty for what follows."""
        if self._terminal and self._what:
            print("\r\x1b[K", end="", file=self._stream, flush=True)


def json_progress(progress: Progress) -> None:
    """Progress as a line of JSON on stdout."""
    say_json({"done": progress.done, "total": progress.total, "what": progress.what})
    flush()


def gigabytes(size: float) -> str:
    """Bytes as GB (10^9), or MB when small."""
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
