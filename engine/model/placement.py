"""Keeps an open model within the memory there is: gives slots back, changes how experts are held.

Called before each chunk by the thread that runs the model; looks at the machine at most once a
second. What it does changes speed only, never a token. `choice`, `plan` and `change` may be read
from any thread. Memory: at most that of the plan, at any moment.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from engine.config import IoMode
from engine.container.files import storage_errors
from engine.container.reader import Container
from engine.errors import StorageError
from engine.events import ChangeKind, HoldMode, IoChoice, MemoryChange
from engine.machine.disk import drive_info
from engine.machine.memory import COUNTS_MAPPED, memory_now, occupied
from engine.machine.pressure import Pressure, PressureGauge
from engine.model.model import Model
from engine.stop import StopFlag
from engine.store.auto import asked, by_speed, io_facts, obvious
from engine.store.budget import MemoryPlan
from engine.store.needs import GB, MemoryNeeds
from engine.store.policy import Keys, Policy
from engine.store.relief import Held, reserve_bytes, slots_to_keep
from engine.store.store import ExpertStore
from engine.store.trial import CacheSample, time_both
from engine.store.warm import warm_start
from engine.text import Text

LOOK_S = 1.0
RECONSIDER_S = 10.0
SETTLE_S = 15.0  # another way must be right for so long before it is taken
WARM_S = 1.0  # how long a change may be spent on reading what was in memory before
log = logging.getLogger(__name__)


class ExpertFiles:
    """Opens stores over a container's files as long as they are the ones it was opened with."""

    def __init__(self, container: Container, policy: Policy) -> None:
        self.container = container
        self.policy = policy
        self._identity = self._identify()
        drive = drive_info(container.path)
        self.fleeting = drive.removable or drive.kind in ("usb", "network")

    def open(self, mode: HoldMode, slots: int) -> ExpertStore:
        """Raises StorageError, also when other files have taken the place of ours."""
        if self._identify() != self._identity:
            raise StorageError(
                Text("The files in {0} were replaced.", self.container.path),
                Text("Open the model again."),
            )
        return ExpertStore(self.container, mode, slots, self.policy)

    def _identify(self) -> list[tuple[int, int, int, int]]:
        with storage_errors(self.container.path):
            found = [path.stat() for path in self.container.files]
        return [(f.st_dev, f.st_ino, f.st_size, f.st_mtime_ns) for f in found]


def choose_io(
    files: ExpertFiles, mode: IoMode, needs: MemoryNeeds, plan: MemoryPlan, available: int
) -> IoChoice:
    """How to hold experts, before anything of the model is in memory; measures where it must."""
    told = asked(mode)
    if told:
        return told
    sample = CacheSample(files.container)
    facts = io_facts(needs, plan, available, occupied(memory_now()), sample.share, files.fleeting)
    choice = obvious(needs, facts)
    return choice or by_speed(needs, facts, time_both(files.container, sample.cold))


class Placement:
    """Where an open model's experts are held, and how many."""

    def __init__(
        self,
        model: Model,
        files: ExpertFiles,
        needs: MemoryNeeds,
        plan: MemoryPlan,
        choice: IoChoice,
        gauge: PressureGauge | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.plan = plan
        self.choice = choice
        self.change: MemoryChange | None = None
        self._model, self._files, self._needs = model, files, needs
        self._gauge = gauge or PressureGauge()
        self._clock = clock
        self._total = self._gauge.read().total
        self._next_look = clock() + LOOK_S
        self._next_thought = clock()
        self._unlike_since: float | None = None

    def before_chunk(self, tokens: int) -> None:
        """Look at the machine if it is time, and do what memory asks for."""
        now = self._clock()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_S
        pressure = self._gauge.read()
        self._relieve(pressure)
        due = now >= self._next_thought or pressure.total < self._total
        if due and tokens > 1 and self.choice.rule != "asked":
            self._next_thought = now + RECONSIDER_S
            self._reconsider(pressure, now)

    def close(self) -> None:
        """Stop looking."""
        self._gauge.close()

    def _relieve(self, pressure: Pressure) -> None:
        store = self._model.store
        counted = COUNTS_MAPPED and store.mode == "mapped"
        held = Held(store.slots, len(store.resident()), counted)
        keep = slots_to_keep(self._needs, held, pressure, self._total)
        if keep == held.slots:
            return
        store.shrink(keep)
        before, self.plan = self.plan, shrunk(self.plan, keep, self._needs.record_bytes)
        if pressure.total < self._total:
            why = f"The memory limit was lowered to {pressure.total / GB:.1f} GB."
        else:
            why = f"Only {pressure.available / GB:.1f} GB of memory was left."
        self._tell("shrunk", before.budget, why)

    def _reconsider(self, pressure: Pressure, now: float) -> None:
        """Another way that stays right is taken; at once when our limit is another."""
        other = self._better(pressure)
        if other is None:
            self._unlike_since = None
            return
        since = self._unlike_since = self._unlike_since or now
        if now - since >= SETTLE_S or pressure.total < self._total:
            self._switch(other, pressure)

    def _better(self, pressure: Pressure) -> IoChoice | None:
        """Another choice, where the facts leave no doubt."""
        cached = CacheSample(self._files.container).share
        ours, fleeting = occupied(memory_now()), self._files.fleeting
        facts = io_facts(self._needs, self.plan, pressure.available, ours, cached, fleeting)
        found = obvious(self._needs, facts)
        return None if found is None or found.mode == self.choice.mode else found

    def _switch(self, choice: IoChoice, pressure: Pressure) -> None:
        old = self._model.store
        slots = min(old.slots, self._affordable(pressure))
        try:
            new = self._files.open(choice.mode, slots)
        except StorageError as error:
            log.warning("experts stay %s: %s", old.mode, error.message)
            return
        keys = _hottest_first(self._files.policy, old.resident())
        self._model.use_store(new)
        warm_start(new, keys, StopFlag(), WARM_S)
        before, self.plan = self.plan, shrunk(self.plan, slots, self._needs.record_bytes)
        self.choice, self._unlike_since = choice, None
        self._tell(choice.mode, before.budget, choice.reason)

    def _affordable(self, pressure: Pressure) -> int:
        """Slots that may be filled with private memory now."""
        mine = pressure.available + occupied(memory_now()) - reserve_bytes(pressure.total)
        slots = (mine - self._needs.fixed_bytes) // self._needs.record_bytes
        return max(self._needs.floor_slots, slots)

    def _tell(self, kind: ChangeKind, before: int, reason: str) -> None:
        self.change = MemoryChange(kind, before, self.plan.budget, reason)
        log.info("memory: %s, budget %d → %d: %s", kind, before, self.plan.budget, reason)


def shrunk(plan: MemoryPlan, slots: int, record_bytes: int) -> MemoryPlan:
    """The plan with fewer slots, and a budget of what they and the rest take."""
    if slots >= plan.expert_slots:
        return plan
    held = slots * record_bytes
    return replace(
        plan,
        budget=plan.budget - plan.spare - plan.expert_bytes + held,
        expert_slots=slots,
        expert_bytes=held,
        spare=0,
        budget_reason=Text("lowered: memory got short"),
    )


def _hottest_first(policy: Policy, resident: Keys) -> Keys:
    return policy.victims(resident, len(resident))[::-1]
