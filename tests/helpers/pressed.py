"""An open model on a machine whose memory and clock the test sets: fakes at the OS edge only."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engine import Edge0Runtime
from engine.machine.pressure import PressureGauge
from engine.machine.samples import SystemMemory
from engine.store import trial
from engine.store.needs import GB


@dataclass
class Machine:
    """What the open model is told when it looks."""

    total: int = 16 * GB
    available: int = 8 * GB
    stall: float = 0.0
    time_s: float = 0.0
    looks: int = 0

    def memory(self) -> SystemMemory:
        """As `system_memory`."""
        self.looks += 1
        return SystemMemory(self.total, self.available, self.total)


def press(runtime: Edge0Runtime, machine: Machine) -> None:
    """Let `runtime` see this machine from now on."""
    placement = runtime._placement
    placement._gauge = PressureGauge(machine.memory, lambda: machine.stall, lambda: False)
    placement._clock = lambda: machine.time_s
    placement._total = machine.total
    placement._next_look = placement._next_thought = 0.0


def uncache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of any model is in the page cache, says the system."""
    monkeypatch.setattr(trial, "cached_shares", lambda files, ranges: [0.0] * len(ranges))
