"""The folder a conversion will become: one conversion at a time, what may be overwritten, room.

Owns a lock file beside the target while a conversion runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from engine.container.files import storage_error, storage_errors
from engine.container.manifest import MANIFEST_NAME, Manifest, identity
from engine.container.reader import Container, read_manifest
from engine.container.record import place_records
from engine.errors import ContainerError, Edge0Error, StorageError
from engine.text import Text


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Holds the target's lock; StorageError when another conversion has it."""
    path = out.with_name(f".{out.name}.edge0-lock")
    with storage_errors(out.parent):
        out.parent.mkdir(parents=True, exist_ok=True)
        path.touch()  # a folder that cannot be written to is not a lock that another holds
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StorageError(
            Text("Another conversion is writing {0} right now.", out),
            Text("Wait for it, or stop it first."),
        ) from None
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps an open file
            path.unlink()
        lock.release()


def found_complete(out: Path, plan: Manifest, overwrite: bool) -> bool:
    """Whether `out` is the planned container already; refuses to touch what is not a container.

    One that was laid out anew since (compact) is still the planned one; damaged, it is made again.
    """
    if not out.exists():
        return False
    if out.is_dir() and not any(out.iterdir()):
        return False
    if not (out / MANIFEST_NAME).is_file() and not any(out.glob("*.moex")):
        raise StorageError(
            Text("{0} exists and is not a converted model.", out),
            Text("Choose a new folder as the target."),
        )
    try:
        planned = _is_planned(read_manifest(out), plan)
        fault = Text("{0} exists and was converted from another model or with other options.", out)
    except Edge0Error as error:
        planned = False
        fault = Text("{0} holds a damaged model: {1}", out, error.message)
    if not planned and not overwrite:
        raise StorageError(fault, Text("Choose a new folder, or add --overwrite to replace it."))
    return planned and _is_sound(out)


def _is_planned(found: Manifest, plan: Manifest) -> bool:
    return plan.id in (found.id, identity(_in_expert_order(found)))


def _is_sound(out: Path) -> bool:
    try:
        Container.open(out).refuse_damage()
    except ContainerError:
        return False
    return True


def _in_expert_order(manifest: Manifest) -> Manifest:
    """The manifest as planned before anything was known about hot experts."""
    shape = manifest.shape
    order = [range(shape.experts)] * shape.layers
    files, records = place_records(
        manifest.layouts, manifest.layer_layout, order, manifest.record_align
    )
    return replace(manifest, files=files, records=records, counts=None)
