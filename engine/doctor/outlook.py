"""How a model will do on a machine: joins the forecast of its sizes with measured speeds. Pure but
for reading the headers of a local model. Any thread."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from engine.checkpoint.checkpoint import open_checkpoint
from engine.errors import BudgetError
from engine.hub.forecast import Forecast, forecast
from engine.hub.speed import ExpectedSpeed, MachineSpeed, expected_speed
from engine.machine.samples import SystemMemory
from engine.store.budget import plan_memory
from engine.store.needs import MemoryNeeds


@dataclass(frozen=True)
class Outlook:
    """budget: what would be chosen, 0 when the model does not fit. speed: None: not measured."""

    forecast: Forecast
    budget: int
    speed: ExpectedSpeed | None

    @property
    def fits(self) -> bool:
        """Whether it runs at all in the memory that is available now."""
        return self.budget > 0


def local_forecast(path: Path, quant: str = "nf4") -> Forecast:
    """The forecast of a local model. Raises CheckpointError, UnsupportedModelError."""
    with closing(open_checkpoint(path)) as checkpoint:
        return forecast(checkpoint, quant)


def forecast_from_json(record: Mapping[str, Any]) -> Forecast:
    """What `edge0 get --dry-run --progress json` printed under "forecast"."""
    values = {item.name: record[item.name] for item in fields(Forecast)}
    needs = {item.name: record["needs"][item.name] for item in fields(MemoryNeeds)}
    return Forecast(**{**values, "needs": MemoryNeeds(**needs), "notes": tuple(values["notes"])})


def outlook(told: Forecast, memory: SystemMemory, machine: MachineSpeed | None) -> Outlook:
    """What to expect with the budget that would be chosen, else with the smallest that runs."""
    try:
        limited = memory.cgroup_limit is not None
        budget = plan_memory(told.needs, None, memory.available, memory.total, limited).budget
    except BudgetError:
        budget = 0
    size = budget or told.smallest_budget
    speed = None if machine is None else expected_speed(machine, told.cost, size)
    return Outlook(told, budget, speed)
