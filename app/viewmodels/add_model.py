"""Adding a model, without widgets: the order, its outlook, the child that does it.

Lives in the core, so work goes on when the wizard is closed. The network is used only by `look`
and `start`, which the user asks for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.commands import OFFICIAL_HUB, Order
from app.orders import Orders
from app.prepare_job import PrepareJob
from app.replaced import settle, step_aside
from app.settings import Settings
from app.viewmodels.hub_login import HubLogin
from app.viewmodels.machine import Machine

log = logging.getLogger(__name__)


class AddModel(QObject):
    """`changed` after anything here changed."""

    changed = Signal()
    added = Signal(object)  # Path of the ready model

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
        self.machine = Machine(door, lambda: self.order.models, data / "defender.json", self)
        self.orders = Orders(data / "orders.json")
        self.login = HubLogin(door.TokenStore(), settings, keep, self)
        self.order = Order()
        self.at_work: Order | None = None  # what the job does, or did last
        self.anew: Path | None = None  # a model that gives way to the one being ordered
        self.release: Callable[[Path, Callable[[], None]], None] = lambda path, then: then()
        self.proxy = ""
        self.outlook: Any = None
        self.look_problem = ""
        self.look_page = ""  # where on the web the problem can be solved
        self._looking = Background(self)
        self._asking = PrepareJob(parent=self)
        self.job = PrepareJob(parent=self)
        self._connect()
        self.use_settings()

    def _connect(self) -> None:
        self.machine.changed.connect(self.changed)
        self.machine.speed_known.connect(self._speed_known)
        self._looking.done.connect(self._looked)
        self._looking.failed.connect(self._not_looked)
        self._asking.changed.connect(self._asked)
        self.login.changed.connect(self._use_login)
        self.job.changed.connect(self._job_changed)
        self.job.finished.connect(self._finished)

    def use_settings(self) -> None:
        """Take the models folder and the way to the hub from the settings."""
        chosen = self._settings()
        models = self._door.models_dir(chosen.models_override)
        endpoint = chosen.hub_endpoint or OFFICIAL_HUB
        self.proxy = chosen.hub_proxy
        self.choose(models=models, endpoint=endpoint)

    def use_folder(self, folder: Path) -> None:
        """Keep models in another folder from now on."""
        self.machine.forget_speed()
        self._keep(replace(self._settings(), models_folder=str(folder)))
        self.use_settings()
        self.machine.look_around()

    # the model

    def choose(self, **changes: Any) -> None:
        """Change the order; what was found out about another one no longer counts."""
        order = replace(self.order, **changes)
        typed = bool(self.login.token) and order.endpoint == OFFICIAL_HUB
        order = replace(order, with_token=typed)
        if order == self.order:
            return
        if replace(order, calibrate=self.order.calibrate) != self.order:
            order = replace(order, by_shard=False)
            self.cancel_looking()
            self._forget_look()
        self.order = order
        self.changed.emit()

    @property
    def looking(self) -> bool:
        """Whether it is being found out what the model takes."""
        return self._looking.running or self._asking.state == "running"

    def look(self) -> None:
        """Find out what the model takes: from its files, or from the hub."""
        self._forget_look()
        order = self.order
        if order.kind == "local":
            self._looking.start(
                lambda stop: self._door.local_forecast(Path(order.source), order.quant)
            )
        elif order.kind == "hub" and not self._asking.alive:
            self._keep_network()
            self._asking.use(order.look_up_command(), self._secret(order), self.proxy)
            self._asking.start()
        self.changed.emit()

    def cancel_looking(self) -> None:
        """Stop finding out."""
        self._looking.cancel()
        self._asking.close()
        self._asking.use([])

    # the work

    def start(self) -> None:
        """Do it; nothing happens while something runs."""
        self._begin(self.order)

    def go_on(self, order: Order | None = None) -> None:
        """Go on with what was begun: the last work, or an order of another day."""
        begun = order or self.at_work
        if begun is not None:
            typed = bool(self.login.token) and begun.endpoint == OFFICIAL_HUB
            self._begin(replace(begun, with_token=typed))

    def forget(self, order: Order) -> None:
        """What was begun is dropped."""
        self._note(self.orders.drop, order)
        self.settle(order.models)
        if self.at_work is not None and self.at_work.name == order.name and not self.job.alive:
            self.at_work = None
            self.job.use([])

    def begin_anew(self) -> None:
        """Another model is wanted: no model gives way, and it goes where models are kept."""
        self.anew = None
        self.use_settings()

    def make_again(self, order: Order) -> None:
        """Order a model that is there once more; it gives way when the work starts."""
        self.anew = order.models / order.name
        self.choose(**{**vars(order), "with_token": False})

    @property
    def replaces(self) -> bool:
        """Whether the model ordered takes the place of one that is there."""
        target = self.order.models / self.order.name
        return self.anew == target and target.exists()

    def _begin(self, order: Order) -> None:
        target = order.models / order.name
        if self.job.alive:
            return
        if self.anew == target and target.exists():
            self.job.use([])  # nothing of the last work is told meanwhile
            self.release(target, lambda: self._make_room(order))
        else:
            self._run(order)

    def _make_room(self, order: Order) -> None:
        try:
            step_aside(order.models / order.name)
        except OSError as error:
            self.look_problem = f"{order.models / order.name}: {error.strerror}"
            self.changed.emit()
            return
        self._run(order)

    def _run(self, order: Order) -> None:
        self._keep_network()
        self.at_work = order
        self._note(self.orders.begin, order)
        self.job.use(order.command(), self._secret(order), self.proxy)
        self.job.start()

    def _job_changed(self) -> None:
        ended = self.job.state in ("done", "failed", "cancelled") and not self.job.alive
        if ended and self.at_work is not None:
            self.settle(self.at_work.models)
        self.changed.emit()

    def settle(self, models: Path) -> None:
        """Nobody works there: a model that stepped aside comes back, unless work is unfinished."""
        settle(models, {found.name for found in self._door.list_unfinished(models)})

    def _finished(self, path: Path) -> None:
        if self.at_work is not None:
            self._note(self.orders.end, self.at_work)
        self.added.emit(path)

    def _note(self, write: Callable[[Order], None], order: Order) -> None:
        try:
            write(replace(order, with_token=False))
        except OSError:
            log.exception("the note of an order could not be written")

    def _keep_network(self) -> None:
        """The next model comes the same way."""
        if self.order.kind == "hub":
            hub = "" if self.order.endpoint == OFFICIAL_HUB else self.order.endpoint
            self._keep(replace(self._settings(), hub_endpoint=hub, hub_proxy=self.proxy))

    def close(self) -> None:
        """End everything; the child's journal keeps what is done."""
        self.machine.close()
        self._looking.close()
        self._asking.close()
        self.job.close()
        self.login.close()

    def _secret(self, order: Order) -> str:
        return self.login.token if order.with_token else ""

    def _use_login(self) -> None:
        self.choose()
        self.changed.emit()

    def _speed_known(self) -> None:
        if self.outlook is not None:
            self._looked(self.outlook.forecast)

    def _asked(self) -> None:
        job = self._asking
        if job.state == "done" and job.forecast is not None:
            self._looked(self._door.forecast_from_json(job.forecast))
            return
        if job.state == "failed":
            self.look_page = job.page
            self._not_looked(f"{job.error} {job.next_step}".strip())
        self.changed.emit()

    def _looked(self, forecast: Any) -> None:
        survey, measured = self.machine.known(), self.machine.measured
        speed = measured.speed if measured is not None else None
        self.outlook = self._door.outlook(forecast, survey.memory, speed)
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

    def _forget_look(self) -> None:
        self.outlook, self.look_problem, self.look_page = None, "", ""

    def _not_looked(self, problem: str) -> None:
        self.look_problem = problem
        self.changed.emit()
