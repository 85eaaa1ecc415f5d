"""Managing models, without widgets: check, lay out by use, delete with an undo window.

A deleted folder is renamed to `.deleted-<time>-<name>` beside its place, which no list shows, and
removed on a thread when the undo window ends, or at the next start if the app ended before.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from app.commands import STARTER_NAME, Order, compact_command, move_command, verify_command
from app.engine_text import read_text
from app.orders import Orders
from app.prepare_job import PrepareJob
from app.remove import remove_in_background
from app.speeds import Speeds
from app.viewmodels.library import LibraryModel, ModelEntry

UNDO_MS = 5 * 60_000
PREFIX = ".deleted-"
State = Literal[
    "",
    "verifying",
    "compacting",
    "moving",
    "sound",
    "compacted",
    "moved",
    "deleted",
    "restored",
    "stopped",
]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Deleted:
    """A folder on its way out."""

    path: Path
    aside: Path


class ManageModel(QObject):
    """One job at a time; lives in the core, so it goes on when its window is closed."""

    changed = Signal()
    listed = Signal()

    def __init__(
        self,
        library: LibraryModel,
        speeds: Speeds,
        orders: Orders,
        receipt: Callable[[Path, str], Any],
        parent: QObject | None = None,
        undo_ms: int = UNDO_MS,
    ) -> None:
        super().__init__(parent)
        self._library, self.speeds, self._orders = library, speeds, orders
        self._receipt = receipt
        self.job = PrepareJob(parent=self)
        self.subject: Path | None = None
        self.state: State = ""
        self.problem = ""
        self.deleted: Deleted | None = None
        self._expiry = QTimer(self, singleShot=True, interval=undo_ms)
        self._expiry.timeout.connect(self._expire)
        self.job.changed.connect(self._job_changed)
        self.job.finished.connect(self._moved)
        library.changed.connect(self.listed)

    @property
    def entries(self) -> list[ModelEntry]:
        """Every known model, also those whose drive is away."""
        return self._library.entries

    @property
    def busy(self) -> bool:
        """Whether a job runs."""
        return self.job.alive

    def open(self, path: Path) -> None:
        """Chat with it."""
        self._library.open(path)

    def verify(self, path: Path) -> None:
        """Read all of it and compare hashes."""
        self._begin(path, "verifying", list(verify_command(path)))

    def compact(self, path: Path) -> None:
        """Lay experts out by use; the model must not be open meanwhile."""
        work = list(compact_command(path))
        self._library.release(path, lambda: self._begin(path, "compacting", work))

    def move(self, path: Path, folder: Path) -> None:
        """Put the model into another folder, also on another drive."""
        work = list(move_command(path, folder))
        self._library.release(path, lambda: self._begin(path, "moving", work))

    def made_from(self, path: Path) -> Order | None:
        """How to make this model anew; None when nobody knows where it came from."""
        known = self._orders.receipt(path)
        if known is not None or path.name == STARTER_NAME:
            return known or Order("starter", models=path.parent)
        asked = self._receipt(path.parent, path.name)
        if asked is None or asked.revision != "main":
            return None
        order = Order("hub", asked.model, path.parent, asked.gguf, asked.quant)
        return order if order.name == path.name else None

    def forget(self, path: Path) -> None:
        """Take a model whose drive is away off the list."""
        self._library.forget(path)

    def refresh(self) -> None:
        """Look again: a drive may have come or gone."""
        self._library.refresh()

    def stop(self) -> None:
        """Stop the job; the model stays whole."""
        self.job.cancel()

    def delete(self, path: Path) -> None:
        """Take a model away, with a way back."""
        self._expire()
        self._library.release(path, lambda: self._put_aside(path))

    def _put_aside(self, path: Path) -> None:
        self.subject, self.problem = path, ""
        aside = path.with_name(f"{PREFIX}{int(time.time())}-{path.name}")
        try:
            path.rename(aside)
        except OSError as error:
            self.problem = f"{path}: {error.strerror}"
            self.changed.emit()
            return
        self.deleted, self.state = Deleted(path, aside), "deleted"
        self._expiry.start()
        self._library.forget(path)
        self.changed.emit()

    def undo(self) -> None:
        """Bring the deleted model back."""
        deleted, self.deleted = self.deleted, None
        self._expiry.stop()
        if deleted is None:
            return
        try:
            deleted.aside.rename(deleted.path)
            self.state = "restored"
        except OSError as error:
            self.problem = f"{deleted.path}: {error.strerror}"
        self._library.refresh()
        self.changed.emit()

    def sweep(self, folders: Iterable[Path]) -> None:
        """At the start: remove what was deleted before the app ended."""
        for folder in folders:
            if folder.is_dir():
                for left in folder.glob(f"{PREFIX}*"):
                    remove_in_background(left)

    def close(self) -> None:
        """End the job; a deletion that can still be undone is finished at the next start."""
        self.job.close()

    def _begin(self, path: Path, state: State, command: list[str]) -> None:
        if self.job.alive:
            return
        self.subject, self.state, self.problem = path, state, ""
        self.job.use(command)
        self.job.start()

    def _job_changed(self) -> None:
        if not self.job.alive:
            self._job_ended()
        self.changed.emit()

    def _job_ended(self) -> None:
        ends: dict[State, State] = {
            "verifying": "sound",
            "compacting": "compacted",
            "moving": "moved",
        }
        if self.job.state == "cancelled":
            self.state = "stopped"
        elif self.job.state == "failed":
            self.problem = f"{self.job.error} {self.job.next_step}".strip()
        elif self.job.state == "done":
            self.problem = _damage(self.job.findings or [])
            self.state = ends.get(self.state, self.state)
        self._library.refresh()

    def _moved(self, new: Path) -> None:
        """Only moving tells another place than the model had."""
        old = self.subject
        if old is None or new == old:
            return
        self.speeds.moved(old, new)
        try:
            self._orders.moved(old, new)
        except OSError:
            log.exception("the note of an order could not be written")
        self.subject = new
        self._library.moved(old, new)
        self.changed.emit()

    def _expire(self) -> None:
        deleted, self.deleted = self.deleted, None
        self._expiry.stop()
        if deleted is not None:
            remove_in_background(deleted.aside)
            self.changed.emit()


def _damage(findings: Iterable[dict[str, Any]]) -> str:
    """What a check of the files found wrong, or nothing."""
    for finding in findings:
        if finding.get("id") in ("model", "model-hashes") and finding.get("status") == "fail":
            return f"{read_text(finding, 'evidence')} {read_text(finding, 'advice')}".strip()
    return ""
