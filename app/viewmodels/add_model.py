"""Adding a model, without widgets: the machine, the order, its outlook, the child that does it.

Lives in the core, so work goes on when the wizard is closed. The network is used only by `look`
and `start`, which the user asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.commands import OFFICIAL_HUB, Order
from app.prepare_job import PrepareJob
from app.settings import Settings
from engine import Progress, StopFlag


class AddModel(QObject):
    """`changed` after anything here changed."""

    changed = Signal()
    added = Signal(object)  # Path of the ready model
    _step = Signal(object)

    def __init__(
        self,
        door: Any,
        settings: Callable[[], Settings],
        keep: Callable[[Settings], None],
        data: Path,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._door, self._settings, self._keep = door, settings, keep
        self._ledger = data / "defender.json"
        self.order = Order()
        self.token = ""
        self.survey: Any = None
        self.measured: Any = None
        self.measure_step: Progress | None = None
        self.measure_problem = ""
        self.outlook: Any = None
        self.look_problem = ""
        self._surveying, self._measuring, self._looking = (Background(self) for _ in range(3))
        self._asking = PrepareJob(parent=self)
        self.job = PrepareJob(parent=self)
        self._connect()
        self.use_settings()

    def _connect(self) -> None:
        self._surveying.done.connect(self._surveyed)
        self._measuring.done.connect(self._was_measured)
        self._measuring.failed.connect(self._not_measured)
        self._looking.done.connect(self._looked)
        self._looking.failed.connect(self._not_looked)
        self._asking.changed.connect(self._asked)
        self._step.connect(self._show_step)
        self.job.changed.connect(self.changed)
        self.job.finished.connect(self.added)

    def use_settings(self) -> None:
        """Take the models folder and the hub from the settings."""
        chosen = self._settings()
        models = self._door.models_dir(chosen.models_override)
        endpoint = chosen.hub_endpoint or OFFICIAL_HUB
        self.order = replace(self.order, models=models, endpoint=endpoint)

    # the machine

    def look_around(self) -> None:
        """Read what the machine says about itself."""
        folder = self.order.models
        self._surveying.start(lambda stop: self._door.survey(folder))

    def use_folder(self, folder: Path) -> None:
        """Keep models in another folder from now on."""
        self.cancel_measuring()
        self.measured = None
        self._keep(replace(self._settings(), models_folder=str(folder)))
        self.use_settings()
        self.look_around()
        self.changed.emit()

    @property
    def measuring(self) -> bool:
        """Whether the machine is being measured."""
        return self._measuring.running

    def measure(self) -> None:
        """Measure processor and drive, for about five seconds."""
        folder, tell = self.order.models, self._step.emit

        def work(stop: StopFlag) -> Any:
            return self._door.measure_machine(folder, stop, tell)

        self.measure_problem = ""
        self._measuring.start(work)
        self.changed.emit()

    def cancel_measuring(self) -> None:
        """Stop measuring."""
        self._measuring.cancel()
        self.measure_step = None
        self.changed.emit()

    # the model

    def choose(self, **changes: Any) -> None:
        """Change the order; what was found out about another one no longer counts."""
        order = replace(self.order, **changes)
        if order == self.order:
            return
        if replace(order, calibrate=self.order.calibrate) != self.order:
            order = replace(order, by_shard=False)
            self.cancel_looking()
            self.outlook, self.look_problem = None, ""
        self.order = order
        self.changed.emit()

    @property
    def looking(self) -> bool:
        """Whether it is being found out what the model takes."""
        return self._looking.running or self._asking.state == "running"

    @property
    def looking_step(self) -> str:
        """What is being looked at."""
        return self._asking.what

    def look(self) -> None:
        """Find out what the model takes: from its files, or from the hub."""
        self.outlook, self.look_problem = None, ""
        order = self.order
        if order.kind == "local":
            self._looking.start(
                lambda stop: self._door.local_forecast(Path(order.source), order.quant)
            )
        elif order.kind == "hub" and not self._asking.alive:
            self._asking.use(order.look_up_command(), self._secret())
            self._asking.start()
        self.changed.emit()

    def cancel_looking(self) -> None:
        """Stop finding out."""
        self._looking.cancel()
        self._asking.close()
        self._asking.use([])

    @property
    def exclusion(self) -> Any:
        """The step that excludes expert files from Windows Defender."""
        return self._door.DefenderExclusion(self.order.models, self._ledger)

    # the work

    def start(self) -> None:
        """Do it, or go on; nothing happens while it runs."""
        if self.job.alive:
            return
        if self.order.kind == "hub":
            hub = "" if self.order.endpoint == OFFICIAL_HUB else self.order.endpoint
            self._keep(replace(self._settings(), hub_endpoint=hub))
        self.job.use(self.order.command(), self._secret())
        self.job.start()

    def close(self) -> None:
        """End everything; the child's journal keeps what is done."""
        for task in (self._surveying, self._measuring, self._looking):
            task.close()
        self._asking.close()
        self.job.close()

    def _secret(self) -> str:
        return self.token if self.order.with_token else ""

    def _surveyed(self, survey: Any) -> None:
        self.survey = survey
        self.changed.emit()

    def _show_step(self, step: Progress) -> None:
        self.measure_step = step if self.measuring else None
        self.changed.emit()

    def _was_measured(self, measured: Any) -> None:
        self.measured, self.measure_step = measured, None
        if self.outlook is not None:
            self._looked(self.outlook.forecast)
        self.changed.emit()

    def _not_measured(self, problem: str) -> None:
        self.measure_problem, self.measure_step = problem, None
        self.changed.emit()

    def _asked(self) -> None:
        job = self._asking
        if job.state == "done" and job.forecast is not None:
            self._looked(self._door.forecast_from_json(job.forecast))
            return
        if job.state == "failed":
            self._not_looked(f"{job.error} {job.next_step}".strip())
        self.changed.emit()

    def _looked(self, forecast: Any) -> None:
        survey = self.survey or self._door.survey(self.order.models)
        machine = self.measured.speed if self.measured is not None else None
        self.survey = survey
        self.outlook = self._door.outlook(forecast, survey.memory, machine)
        if self.order.kind == "hub":
            tight = forecast.disk_peak > survey.drive.free_bytes
            by_shard = tight and forecast.disk_peak_by_shard < forecast.disk_peak
            self.order = replace(self.order, by_shard=by_shard)
        self.changed.emit()

    @property
    def disk_peak(self) -> int:
        """Bytes on the disk while the model that was looked at is made."""
        told = self.outlook.forecast
        return int(told.disk_peak_by_shard if self.order.by_shard else told.disk_peak)

    def _not_looked(self, problem: str) -> None:
        self.look_problem = problem
        self.changed.emit()
