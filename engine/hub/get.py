"""From a model's name on a hub to a converted model in the models folder, resumable at any point.

Owns `.downloads` there: a folder for each source, deleted once its model is converted, and the
tickets. Runs in a process of its own beside the app.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.container.files import storage_errors
from engine.container.reader import Container, read_manifest
from engine.errors import ConfigError, Edge0Error, StorageError
from engine.events import Progress
from engine.hub import names
from engine.hub.access import OFFICIAL, Access, checked_endpoint
from engine.hub.by_shard import begun_bytes, get_by_shard
from engine.hub.client import HubClient
from engine.hub.download import claimed as downloading
from engine.hub.download import download
from engine.hub.forecast import Forecast, forecast
from engine.hub.plan import DownloadPlan
from engine.hub.policy import DownloadPolicy
from engine.hub.progress import OnDownload
from engine.hub.remote_model import RemoteModel, examine
from engine.hub.ticket import (
    DOWNLOADS,
    Order,
    Ticket,
    at,
    read_ticket,
    remove_ticket,
    tickets,
    write_ticket,
)
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from engine.text import Text

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class GetOptions:
    """What to get. gguf: part of a file name when there are several; name: of the result.

    by_shard: delete each source file once it is converted; it stays so for an order that began so.
    """

    model: str
    revision: str = "main"
    endpoint: str = OFFICIAL
    gguf: str = ""
    quant: str = "nf4"
    name: str = ""
    keep_source: bool = False
    by_shard: bool = False
    connections: int = 4
    access: Access = field(default_factory=Access)
    policy: DownloadPolicy = field(default_factory=DownloadPolicy)

    def __post_init__(self) -> None:
        checked_endpoint(self.endpoint)
        if self.name and not names.is_safe_name(self.name):
            raise ConfigError(
                Text("{0} cannot be a folder's name.", f"{self.name[:80]!r}"),
                Text("Use letters, digits and dashes."),
            )
        if self.by_shard and self.keep_source:
            raise ConfigError(
                Text("The source cannot be kept and be deleted shard by shard."),
                Text("Choose one of the two."),
            )

    @property
    def target_name(self) -> str:
        """The result's folder."""
        return self.name or f"{self.model.rsplit('/', 1)[-1]}-{self.quant}"

    @property
    def order(self) -> Order:
        """What must be the same for work to go on."""
        return Order(self.model, self.revision, self.gguf, self.quant)


@dataclass(frozen=True)
class GetSummary:
    """What came out. already: it was there before, and nothing was done that could be noted;
    by_shard: there may be little disk left."""

    path: Path
    bytes: int
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    already: bool = False
    by_shard: bool = False


def look_up(
    options: GetOptions, progress: OnProgress = lambda _: None, stop: StopFlag | None = None
) -> tuple[RemoteModel, Forecast]:
    """What would be downloaded, and what it will take. Raises what `get_model` would."""
    progress(Progress(0, 1, Text("asking for {0}", options.model)))
    client = HubClient(options.endpoint, options.access)
    repository = client.repository(options.model, options.revision, stop)
    model = examine(repository, options.gguf, options.access, progress, stop, options.policy)
    return model, forecast(model.checkpoint, options.quant, model.plan)


def get_model(
    options: GetOptions,
    models: Path,
    progress: OnProgress = lambda _: None,
    stop: StopFlag | None = None,
) -> GetSummary:
    """Download and convert. Run again after any interruption to go on.

    Raises DownloadError, UnsupportedModelError, CheckpointError, StorageError, ConfigError and
    Stopped.
    """
    stop = stop or StopFlag()
    target = models / options.target_name
    ticket = read_ticket(models, options.target_name)
    same = ticket is not None and ticket.order == options.order
    if ticket is not None and same and ticket.done and (found := _installed(target)) is not None:
        remove_source(models, ticket, options.keep_source)
        return replace(found, by_shard=ticket.by_shard)
    if ticket is None or not same or ticket.done:
        _refuse_taken(target, ours=same)
        ticket = _new_ticket(options, progress, stop)
    ticket = replace(ticket, by_shard=ticket.by_shard or options.by_shard)
    write_ticket(models, ticket)
    ticket = at(ticket, checked_endpoint(options.endpoint))
    try:
        made = _fetch_and_convert(options, models, ticket, progress, stop)
    except StorageError:
        _forget_if_nothing_came(models, ticket)
        raise
    write_ticket(models, replace(ticket, done=True))
    remove_source(models, ticket, options.keep_source)
    return made


def _forget_if_nothing_came(models: Path, ticket: Ticket) -> None:
    """A disk that is too small from the start leaves no work to go on with."""
    folder = models / DOWNLOADS / ticket.plan.folder_name
    if not begun_bytes(ticket.plan, folder):
        with suppress(StorageError):  # another process is at work there
            drop_order(models, ticket)


def _new_ticket(options: GetOptions, progress: OnProgress, stop: StopFlag) -> Ticket:
    model, told = look_up(options, progress, stop)
    return Ticket(options.target_name, options.order, model.plan, told.output)


def _fetch_and_convert(
    options: GetOptions, models: Path, ticket: Ticket, progress: OnProgress, stop: StopFlag
) -> GetSummary:
    plan, target = ticket.plan, models / ticket.name
    folder = models / DOWNLOADS / plan.folder_name

    def fetch(files: DownloadPlan, report: OnDownload, reserve_bytes: int) -> None:
        few, access, policy = options.connections, options.access, options.policy
        download(files, folder, report, stop, few, access, policy, reserve_bytes)

    if ticket.by_shard:
        here = replace(plan.repository, files=plan.files)  # as the order has pinned them
        model = examine(here, ticket.order.gguf, options.access, progress, stop, options.policy)
        made = get_by_shard(model, folder, target, options.quant, fetch, progress, stop)
    else:
        fetch(plan, progress, ticket.output)
        source = _opened(folder, plan)
        made = prepare(source, target, options.quant, progress, stop, content=plan.identity)
    return GetSummary(made.path, made.bytes, made.notes, made.warnings, by_shard=ticket.by_shard)


def _installed(target: Path) -> GetSummary | None:
    try:
        container = Container.open(target)
        container.refuse_damage()
    except Edge0Error:
        return None
    return GetSummary(target, container.manifest.weight_bytes, already=True)


def _refuse_taken(target: Path, ours: bool) -> None:
    """Before the long download: a name that another model has. Ours was damaged: made again."""
    if target.exists() and not (ours and _is_model(target)):
        raise StorageError(
            Text("{0} exists and was made from another source or with other options.", target),
            Text("Choose another name for this one, or remove the old one first."),
        )


def _is_model(target: Path) -> bool:
    try:
        read_manifest(target)
    except Edge0Error:
        return False
    return True


def _opened(source: Path, plan: DownloadPlan) -> Path:
    """What the conversion opens: the folder, or the first GGUF file in it."""
    parts = [file.name for file in plan.files if names.is_gguf(file.name)]
    return source / parts[0] if parts else source


def drop_order(models: Path, ticket: Ticket) -> None:
    """Delete an order and what was fetched for it. Raises StorageError while somebody does."""
    with downloading(models / DOWNLOADS / ticket.plan.folder_name):
        pass  # nobody does
    remove_source(models, ticket, keep=False)
    remove_ticket(models, ticket.name)


def remove_source(models: Path, ticket: Ticket, keep: bool) -> None:
    """Delete what was downloaded, unless another order still needs it."""
    folder = models / DOWNLOADS / ticket.plan.folder_name
    needed = any(
        other.plan.folder_name == folder.name and not other.done and other.name != ticket.name
        for other in tickets(models)
    )
    if keep or needed:
        return
    with storage_errors(folder):
        if folder.is_dir():
            shutil.rmtree(folder)
    with suppress(OSError):
        folder.with_name(f".{folder.name}.edge0-lock").unlink(missing_ok=True)
