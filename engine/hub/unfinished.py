"""Downloads and conversions that were begun and are not there yet: listing them, dropping them.

Looks into the models folder only; whoever works there at the same time keeps its lock. Any thread.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.container.files import storage_errors
from engine.hub.by_shard import begun_bytes
from engine.hub.get import drop_order
from engine.hub.ticket import DOWNLOADS, Order, read_ticket, tickets
from engine.machine.disk import folder_bytes
from engine.prepare.target import claimed
from engine.starter import STARTER_NAME, WHEEL

PARTIAL = ".partial"
STARTER_WORK = ".starter"


@dataclass(frozen=True)
class Unfinished:
    """Work to go on with. done, total: bytes on the disk, roughly; total 0: nobody knows.

    order: what was asked of a hub; a conversion of local files knows only its own `name`.
    by_shard: source files go once they are converted.
    """

    kind: Literal["hub", "local", "starter"]
    name: str
    done: int
    total: int
    order: Order | None = None
    by_shard: bool = False


def list_unfinished(models: Path) -> list[Unfinished]:
    """Everything in the models folder that was begun and is not there yet."""
    found = _from_hubs(models)
    names = {one.name for one in found}
    if done := folder_bytes(models / STARTER_WORK):
        found.append(Unfinished("starter", STARTER_NAME, min(done, WHEEL.nbytes), WHEEL.nbytes))
        names.add(STARTER_NAME)
    for folder in _partials(models):
        name = folder.name.removesuffix(PARTIAL)
        if name not in names:
            found.append(Unfinished("local", name, folder_bytes(folder), 0))
    return found


def receipt(models: Path, name: str) -> Order | None:
    """What a model of this name was ordered as from a hub, if it was."""
    ticket = read_ticket(models, name)
    return ticket.order if ticket is not None and ticket.done else None


def drop_unfinished(models: Path, name: str) -> None:
    """Delete unfinished work and all that was fetched for it; a finished model stays.

    Raises StorageError, also while somebody works on it.
    """
    if not name or Path(name).name != name:
        return
    with claimed(models / name):
        ticket = read_ticket(models, name)
        if ticket is not None and not ticket.done:
            drop_order(models, ticket)
        _remove(models / f"{name}{PARTIAL}")
    if name == STARTER_NAME:
        _remove(models / STARTER_WORK)


def _from_hubs(models: Path) -> list[Unfinished]:
    found = []
    for ticket in tickets(models):
        if not ticket.done:
            plan, folder = ticket.plan, models / DOWNLOADS / ticket.plan.folder_name
            done = begun_bytes(plan, folder)
            order, by_shard = ticket.order, ticket.by_shard
            found.append(Unfinished("hub", ticket.name, done, plan.total, order, by_shard))
    return found


def _partials(models: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in models.glob(f"*{PARTIAL}") if path.is_dir())
    return []


def _remove(folder: Path) -> None:
    with storage_errors(folder):
        if folder.is_dir():
            shutil.rmtree(folder)
