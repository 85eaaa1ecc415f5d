"""Checks the machine, and a model when one is named, and says in plain words what to do.

Runs on the calling thread and changes nothing. A check that cannot be made is a finding, too: the
others still run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.container.reader import Container
from engine.doctor import drive_checks, machine_checks, model_checks
from engine.doctor.findings import Finding as Finding
from engine.doctor.findings import Status as Status
from engine.errors import Edge0Error, Stopped
from engine.events import Progress
from engine.library import models_dir
from engine.stop import StopFlag
from engine.store.probe import ProbeResult
from engine.text import Text


@dataclass(frozen=True)
class DoctorOptions:
    """What to check. probe: measure the drive for 3 s; deep: read the model and compare hashes."""

    model: Path | None = None
    models_dir: Path | None = None
    probe: bool = False
    deep: bool = False
    budget_gb: float | None = None
    progress: Callable[[Progress], None] = lambda _: None
    stop: StopFlag = field(default_factory=StopFlag)


def run_doctor(options: DoctorOptions) -> list[Finding]:
    """Run every check; raises only Stopped."""
    folder = models_dir(options.models_dir)
    findings = list(_guarded("machine", lambda: machine_checks.check_all()))
    findings += _guarded("models-folder", lambda: drive_checks.check_folder(folder))
    if options.model is not None:
        path = options.model
        findings += _guarded("model", lambda: _check_model(path, folder, options))
    return findings


def _check_model(path: Path, folder: Path, options: DoctorOptions) -> Iterator[Finding]:
    options.progress(Progress(0, 1, Text("opening the model")))
    try:
        container = Container.open(path)
    except Edge0Error as error:
        yield Finding(
            "model", "fail", Text("{0} cannot be opened", path.name), error.message, error.next_step
        )
        return
    try:
        yield model_checks.opened(container)
        yield from model_checks.leftovers(container)
        if not path.resolve().is_relative_to(folder.resolve()):
            yield from drive_checks.check_place(path)
        measured = None
        if options.probe:
            measured = _measure(container, options)
            yield drive_checks.measured_drive(measured)
        yield from model_checks.check_plan(container, options.budget_gb, measured)
        if options.deep:
            yield model_checks.hashes(container, options.progress, options.stop)
        else:
            yield model_checks.last_verified(container)
    finally:
        container.close()


def _measure(container: Container, options: DoctorOptions) -> ProbeResult:
    options.progress(Progress(0, 1, Text("measuring the drive for 3 seconds")))
    return model_checks.probe(container, options.stop)


def _guarded(id_: str, checks: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings; what goes wrong while checking becomes the last of them."""
    try:
        yield from checks()
    except Stopped:
        raise
    except Edge0Error as error:
        yield Finding(
            id_, "warn", Text("A check could not be made"), error.message, error.next_step
        )
    except OSError as error:
        yield Finding(id_, "warn", Text("A check could not be made"), str(error))
