"""What lives as long as the app, whatever windows come and go: settings, chats, engine, view-
models."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.archive import Archive
from app.commands import starter_command
from app.diagnostics import write_diagnostics
from app.engine_worker import EngineClient
from app.prepare_job import PrepareJob
from app.settings import Settings, read_settings, write_settings
from app.speeds import Speeds
from app.viewmodels.add_model import AddModel
from app.viewmodels.chat import ChatModel
from app.viewmodels.conversations import ConversationsModel
from app.viewmodels.library import LibraryModel
from app.viewmodels.manage import ManageModel
from app.viewmodels.stats import StatsModel
from app.viewmodels.unfinished import UnfinishedModel
from engine import Edge0Error, Finished, StopFlag

log = logging.getLogger(__name__)


class Core(QObject):
    """Made once by `__main__` (or a test, with another door and folder)."""

    settings_changed = Signal(object, object)  # old, new
    write_failed = Signal(str)

    def __init__(self, door: Any, folder: Path, command: list[str] | None = None) -> None:
        super().__init__()
        self._door, self._folder = door, folder
        self._settings_file = folder / "settings.json"
        self.settings, self.settings_problems = read_settings(self._settings_file)
        self.archive = Archive(folder / "chats.sqlite3", self.write_failed.emit)
        if self.archive.forgot:
            self._forget_prefixes()
        self.engine = EngineClient(door, self)
        self.chat = ChatModel(self.archive, self.engine, self._get, self)
        self.conversations = ConversationsModel(self.archive, self)
        self.library = LibraryModel(door, self.engine, self._get, self.keep, self)
        self.stats = StatsModel(door.Snapshot, door.Rates.between, self.engine.arrived, self)
        self._starter_command = command
        self.starter = PrepareJob(parent=self)
        self.starter.finished.connect(self.library.add)
        self.adding = AddModel(door, self._get, self.keep, folder, self)
        self.adding.added.connect(self.library.add)
        self.adding.release = self.library.release
        self.unfinished = UnfinishedModel(door, self.adding, self)
        self.speeds = Speeds(folder / "speeds.json")
        orders = self.adding.orders
        self.manage = ManageModel(self.library, self.speeds, orders, door.receipt, self)
        self.adding.settle(self.adding.order.models)
        self.manage.sweep({self.adding.order.models, *_folders(self.settings)})
        self.engine.arrived.connect(self._note_speed)
        self.chat.conversations_changed.connect(self.conversations.refresh)

    def _forget_prefixes(self) -> None:
        """What the engine keeps of conversations is not kept by conversation: all of it goes."""
        try:
            self._door.forget_all()
        except Edge0Error:
            log.exception("prefixes of deleted conversations are left")

    def keep(self, settings: Settings) -> None:
        """Use and store changed settings."""
        old, self.settings = self.settings, settings
        if old == settings:
            return
        try:
            write_settings(self._settings_file, settings)
        except OSError as error:
            log.exception("settings could not be written")
            self.write_failed.emit(f"{self._settings_file}: {error.strerror}")
        if _places(old) != _places(settings):
            self.adding.use_settings()
            self.library.refresh()
        self.settings_changed.emit(old, settings)

    @property
    def usual_models_folder(self) -> Path:
        """Where models are kept when nothing else is chosen."""
        return Path(self._door.models_dir(None))

    def get_starter(self) -> None:
        """Fetch the starter model into the models folder, or go on."""
        if not self.starter.alive:
            command = self._starter_command or starter_command(self.adding.order.models)
            self.starter.use(command, proxy=self.settings.hub_proxy)
            self.starter.start()

    def exclusions(self) -> Sequence[tuple[Any, Any]]:
        """What we excluded from Windows Defender and did not take back."""
        return list(self._door.our_exclusions(self.adding.machine.ledger))

    def examine(self, stop: StopFlag) -> Sequence[Any]:
        """The doctor's findings about this machine and the open model. Any thread."""
        now = self.settings
        options = self._door.DoctorOptions(
            model=self.library.current,
            models_dir=now.models_override,
            budget_gb=now.memory_budget_gb,
            stop=stop,
        )
        return list(self._door.run_doctor(options))

    def export(self, target: Path, findings: Sequence[Any]) -> None:
        """Write the diagnostics file. Raises OSError."""
        write_diagnostics(target, findings, self.settings, self._folder)

    def close(self) -> bool:
        """Save and end everything; False when the engine's thread did not end in time."""
        self.chat.flush()
        self.starter.close()
        self.adding.close()
        self.unfinished.close()
        self.manage.close()
        ended = self.engine.close()  # ends a reply, which saves it
        self.chat.flush()
        self.archive.close()
        return ended

    def _note_speed(self, job: int, event: Any) -> None:
        model = self.library.current
        if isinstance(event, Finished) and model is not None and event.stats.generated_tokens:
            self.speeds.note(model, event.stats)

    def _get(self) -> Settings:
        return self.settings


def _folders(settings: Settings) -> set[Path]:
    """Where models lay that were used."""
    return {Path(model).parent for model in settings.models}


def _places(settings: Settings) -> tuple[str, str, str]:
    """Where models come from and go to."""
    return settings.models_folder, settings.hub_endpoint, settings.hub_proxy
