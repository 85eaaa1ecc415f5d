"""Downloads and conversions that were begun and are not there yet, also by an earlier run of the
app or in the terminal. Without widgets."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.commands import Order
from app.viewmodels.add_model import AddModel

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Work:
    """done, total: bytes; total 0: nobody knows. order: how to go on, if we know."""

    name: str
    models: Path
    done: int
    total: int
    order: Order | None
    running: bool


class UnfinishedModel(QObject):
    """`works` is as of the last `refresh`."""

    changed = Signal()

    def __init__(self, door: Any, adding: AddModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._door, self._adding = door, adding
        self.works: list[Work] = []
        self.problem = ""
        self._state = ""
        self._dropping = Background(self)
        self._dropping.done.connect(self._dropped)
        self._dropping.failed.connect(self._not_dropped)
        adding.changed.connect(self._look)

    @property
    def busy(self) -> bool:
        """Whether something is being deleted."""
        return self._dropping.running

    def refresh(self) -> None:
        """Look again at what lies in the models folders."""
        folders = {self._adding.order.models, *(o.models for o in self._adding.orders.begun)}
        self.works = [work for folder in sorted(folders) for work in self._in(folder)]
        self.changed.emit()

    def go_on(self, work: Work) -> None:
        """Go on with it; nothing happens while something else runs."""
        if work.order is not None:
            self._adding.go_on(work.order)

    def drop(self, work: Work) -> None:
        """Delete it and all that was fetched for it."""
        self.problem = ""
        self._dropping.start(lambda stop: self._drop(work))
        self.changed.emit()

    def close(self) -> None:
        """Wait for a deletion."""
        self._dropping.close()

    def _drop(self, work: Work) -> Work:
        self._door.drop_unfinished(work.models, work.name)
        return work

    def _in(self, folder: Path) -> list[Work]:
        try:
            return [self._work(folder, found) for found in self._door.list_unfinished(folder)]
        except OSError:
            log.exception("%s could not be looked through", folder)
            return []

    def _work(self, folder: Path, found: Any) -> Work:
        order = self._order(folder, found)
        at_work = self._adding.at_work
        running = self._adding.job.alive and order is not None and _same(order, at_work)
        return Work(found.name, folder, found.done, found.total, order, running)

    def _order(self, folder: Path, found: Any) -> Order | None:
        if found.kind == "starter":
            return Order("starter", models=folder)
        for order in self._adding.orders.begun:
            if (order.models, order.name) == (folder, found.name):
                return order
        if found.order is None or found.order.revision != "main":
            return None
        asked, endpoint = found.order, self._adding.order.endpoint
        order = Order("hub", asked.model, folder, asked.gguf, asked.quant, endpoint=endpoint)
        return order if order.name == found.name else None

    def _look(self) -> None:
        """The work began or ended."""
        job = self._adding.job
        state = f"{job.state} {job.alive} {self._adding.order.models}"
        if state != self._state:
            self._state = state
            self.refresh()

    def _dropped(self, work: Work) -> None:
        if work.order is not None:
            self._adding.forget(work.order)
        self.refresh()

    def _not_dropped(self, problem: str) -> None:
        self.problem = problem
        self.refresh()


def _same(one: Order, other: Order | None) -> bool:
    return other is not None and (one.kind, one.name) == (other.kind, other.name)
