"""The models on this machine and the one that is open. A folder that is gone stays listed,
flagged as missing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app import numbers
from app.door import Door
from app.engine_text import said
from app.engine_worker import EngineClient, Failed, JobDone, Loaded
from app.settings import Settings
from engine import Edge0Error, Progress

Status = Literal["none", "loading", "ready", "failed"]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ModelEntry:
    """A model folder in the picker."""

    path: Path
    name: str
    present: bool
    problem: str = ""
    about: str = ""
    damaged: bool = False  # a check of its files said so; another one may find them whole

    @property
    def usable(self) -> bool:
        """Whether it can be opened now."""
        return self.present and not self.problem


class LibraryModel(QObject):
    """Lists models and opens them."""

    changed = Signal()  # the list, the open model or its status
    progressed = Signal(object)  # engine Progress while a model opens

    def __init__(
        self,
        door: Door,
        engine: EngineClient,
        settings: Callable[[], Settings],
        keep: Callable[[Settings], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._door = door
        self._engine = engine
        self._settings = settings
        self._keep = keep
        self._job = 0
        self._wanted: Path | None = None
        self._then: Callable[[], None] | None = None
        self.status: Status = "none"
        self.current: Path | None = None
        self.error: Failed | None = None
        self.entries: list[ModelEntry] = []
        engine.arrived.connect(self._on_event)
        self.refresh()

    @property
    def shown(self) -> ModelEntry | None:
        """The model to name in the picker: the open one, or the one being opened."""
        path = self._wanted if self.status in ("loading", "failed") else self.current
        return next((entry for entry in self.entries if entry.path == path), None)

    @property
    def has_models(self) -> bool:
        """Whether anything could be opened right now."""
        return any(entry.usable for entry in self.entries)

    def refresh(self) -> None:
        """Look again at what is there."""
        installed = self._installed()
        listed = {entry.path for entry in installed}
        known = [Path(text) for text in self._settings().models]
        elsewhere = [path for path in known if path not in listed]
        self.entries = installed + [self._elsewhere(path) for path in elsewhere]
        self.changed.emit()

    def open_last(self) -> None:
        """At the start: open the last used model that is there, else the only one there is."""
        present = {entry.path for entry in self.entries if entry.usable}
        last = [Path(text) for text in self._settings().models if Path(text) in present]
        if last or len(present) == 1:
            self.open(last[0] if last else present.pop())

    def open(self, path: Path) -> None:
        """Open a model in place of the open one."""
        if self.status == "loading":
            self._engine.stop(self._job)
        self._wanted = path
        self._set("loading")
        try:
            self._job = self._engine.load(self._settings().engine_config(path))
        except Edge0Error as error:
            self._fail(Failed(error.message, error.next_step, type(error).__name__))

    def add(self, path: Path) -> None:
        """List a folder the user picked, and open it."""
        self._keep(self._settings().with_model(path))
        self.refresh()
        self.open(path)

    def reopen(self) -> None:
        """Open the same model again, after a change of the engine's settings."""
        if self.current is not None:
            self.open(self.current)

    def release(self, path: Path, then: Callable[[], None]) -> None:
        """Close the model of `path` if it is open or opening, then go on."""
        if path not in (self.current, self._wanted):
            then()
            return
        if self.status == "loading":
            self._engine.stop(self._job)
        self._wanted, self._then = None, then
        self._job = self._engine.load(None)

    def forget(self, path: Path) -> None:
        """Take a missing folder off the list."""
        settings = self._settings()
        kept = tuple(text for text in settings.models if Path(text) != path)
        self._keep(replace(settings, models=kept))
        self.refresh()

    def moved(self, old: Path, new: Path) -> None:
        """A model lies elsewhere now."""
        settings = self._settings()
        kept = tuple(str(new) if Path(text) == old else text for text in settings.models)
        listed = kept if str(new) in kept else (*kept, str(new))
        self._keep(replace(settings, models=listed))
        self.refresh()

    def retry(self) -> None:
        """Open again what could not be opened."""
        if self._wanted is not None:
            self.open(self._wanted)

    def _installed(self) -> list[ModelEntry]:
        folder = self._settings().models_override
        try:
            models = self._door.list_models(folder)
            return [_entry(model) for model in models if not model.unfinished]
        except (Edge0Error, OSError):
            log.exception("listing models failed")
            return []

    def _elsewhere(self, path: Path) -> ModelEntry:
        """A model outside the models folder; its drive may be away."""
        if not _is_model(path):
            return ModelEntry(path, path.name, present=False)
        return _entry(self._door.inspect_model(path))

    def _on_event(self, job: int, event: Any) -> None:
        if job != self._job:
            return
        if isinstance(event, Progress):
            self.progressed.emit(event)
        elif isinstance(event, Loaded):
            self._loaded(event.model)
        elif isinstance(event, Failed):
            self._fail(event)
        elif isinstance(event, JobDone):
            self._job_done()

    def _job_done(self) -> None:
        then, self._then = self._then, None
        if self.status == "loading" or then is not None:
            self._set("none")
        if then is not None:
            then()

    def _loaded(self, path: Path | None) -> None:
        self.current = path
        if path is not None:
            self._keep(self._settings().with_model(path))
            self.refresh()
            self._set("ready")

    def _fail(self, error: Failed) -> None:
        self.error = error
        self._set("failed")

    def _set(self, status: Status) -> None:
        self.status = status
        if status != "failed":
            self.error = None
        self.changed.emit()


def _entry(model: Any) -> ModelEntry:
    """What the picker shows of one of the engine's InstalledModel records."""
    about = [numbers.size(model.size_bytes), model.format]
    if model.dense:
        about.append(QCoreApplication.translate("Library", "dense"))
    elif model.experts:
        text = QCoreApplication.translate("Library", "{0} experts, top {1}")
        about.append(text.format(model.experts, model.top_k))
    path = Path(model.path)
    present = path.exists()
    line = " · ".join(filter(None, about))
    problem = f"{said(model.problem)} {said(model.next_step)}".strip()
    return ModelEntry(path, model.name, present, problem, line, model.damaged)


def _is_model(path: Path) -> bool:
    try:
        return (path / "manifest.json").is_file()
    except OSError:
        return False
