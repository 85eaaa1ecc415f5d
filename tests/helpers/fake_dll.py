"""Stands in for a DLL loaded with ctypes: answers by name, and records every call exactly."""

from __future__ import annotations

import ctypes
from typing import Any


class FakeDll:
    """Answers calls by name from `answers` and keeps (name, plain arguments) of each."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        answer = self._answers[name]

        class Function:
            restype: Any = None

            def __call__(_, *args: Any) -> Any:
                self.calls.append((name, tuple(_plain(a) for a in args)))
                return answer(*args) if callable(answer) else answer

        return Function()


def _plain(argument: Any) -> Any:
    """ctypes integers as ints; pointers and buffers as "&"."""
    if isinstance(argument, ctypes._SimpleCData):
        return argument.value
    return argument if isinstance(argument, int | str | bytes | None) else "&"


def fill(**values: int) -> Any:
    """An answer that succeeds and sets fields of the first structure passed by reference."""

    def answer(*args: Any) -> int:
        target = next(a._obj for a in args if hasattr(a, "_obj"))
        for name, value in values.items():
            setattr(target, name, value)
        return 1

    return answer
