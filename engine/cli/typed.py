"""What is typed at a command, or piped into it. What cannot be read is told as such."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from engine.cli import output
from engine.errors import StorageError
from engine.text import Text


def at_terminal() -> bool:
    """Whether a person types."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(prompt: str) -> str:
    """The next line; a person sees the prompt. Raises EOFError, OutputError, StorageError."""
    if sys.stdin is None:  # it was closed before we began
        raise EOFError
    if at_terminal() and sys.stdout.isatty():
        with _input_errors():
            return input(prompt)  # shows the prompt by itself: line editing must know its width
    output.write(prompt if at_terminal() else "")
    with _input_errors():
        return input()


def read() -> str:
    """All of stdin. Raises StorageError."""
    with _input_errors():
        return "" if sys.stdin is None else sys.stdin.read()


def read_line(limit: int) -> str:
    """A line of at most so many characters, "" at the end. Raises StorageError."""
    with _input_errors():
        return "" if sys.stdin is None else sys.stdin.readline(limit)


@contextmanager
def _input_errors() -> Iterator[None]:
    """A terminal that is gone, a drive that fails, a file that is open for writing alone."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            Text("The input cannot be read: {0}.", error.strerror or error),
            Text("Type it, or give it in a file that can be read."),
        ) from error
