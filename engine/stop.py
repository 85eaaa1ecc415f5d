"""A flag that asks running work to stop. Set from any thread; native code polls the same four
bytes.
"""

from __future__ import annotations

import ctypes

from engine.errors import Stopped


class StopFlag:
    """Cooperative stop, checked per layer in native code and per step in Python."""

    def __init__(self) -> None:
        self._value = ctypes.c_int32(0)

    def set(self) -> None:
        """Ask the running work to stop."""
        self._value.value = 1

    def clear(self) -> None:
        """Make the flag ready for the next piece of work."""
        self._value.value = 0

    def is_set(self) -> bool:
        """Whether a stop was asked for."""
        return self._value.value != 0

    def check(self) -> None:
        """Raise Stopped when a stop was asked for."""
        if self.is_set():
            raise Stopped()

    @property
    def address(self) -> int:
        """Address of the flag for native code; valid while this object lives."""
        return ctypes.addressof(self._value)
