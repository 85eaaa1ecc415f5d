"""Moves a converted model into another folder, also on another drive: copy, compare, switch.

The old place is given up only when the copy has its name and every hash was right there. Killed at
any instant, one whole model is left; the same call goes on. Unfinished copies lie in
`.moving-<name>`. Any thread, for minutes.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from engine.container.files import check_space, storage_errors, sync_folder
from engine.container.reader import Container, read_manifest
from engine.container.verified import forget_verified
from engine.errors import ContainerError, Edge0Error, StorageError
from engine.events import Progress
from engine.stop import StopFlag
from engine.text import Text

PIECE = 4 << 20
_GONE = ".deleted-moved-"  # the app removes what begins so, should we be killed while removing

OnProgress = Callable[[Progress], None]


def move_model(
    source: Path, folder: Path, progress: OnProgress = lambda _: None, stop: StopFlag | None = None
) -> Path:
    """Move the model; returns its new place. Raises ContainerError, StorageError, Stopped."""
    stop = stop or StopFlag()
    source, folder = Path(os.path.abspath(source)), Path(os.path.abspath(folder))
    target = folder / source.name
    read_manifest(source)  # only models are moved
    if target == source or folder.is_relative_to(source):
        raise StorageError(
            Text("{0} is where the model is.", folder), Text("Choose another folder.")
        )
    _refuse_fixed(source)
    with storage_errors(folder):
        _refuse_file(folder)
        folder.mkdir(parents=True, exist_ok=True)
        near = os.stat(source.parent).st_dev == os.stat(folder).st_dev
    if near and not target.exists() and _renamed(source, target):
        return target
    if not target.exists():
        _copy(source, folder, target, progress, stop)
    _refuse_other(source, target)
    _remove(source, target)
    return target


def _refuse_fixed(source: Path) -> None:
    """Before the long copy: the old place must be one that can be given up."""
    if os.access(source.parent, os.W_OK) and os.access(source, os.W_OK):
        return
    if _is_read_only(source):
        message = Text("{0} is on a drive that cannot be written: it cannot be moved.", source)
    else:
        message = Text("{0} cannot be moved: permission to remove it there is missing.", source)
    raise StorageError(message, Text("Copy the folder instead."))


def _is_read_only(path: Path) -> bool:
    if sys.platform == "win32":  # tells only when something is written
        return False
    with storage_errors(path):
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _refuse_file(folder: Path) -> None:
    """A folder is wanted: neither it nor one above it may be something else."""
    nearest = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if nearest.exists() and not nearest.is_dir():
        raise StorageError(Text("{0} is not a folder.", nearest), Text("Choose another folder."))


def _renamed(source: Path, target: Path) -> bool:
    """One step where it is one drive; a drive mounted twice looks like one and is not."""
    with storage_errors(target):
        try:
            os.rename(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return False
    return True


def _copy(source: Path, folder: Path, target: Path, progress: OnProgress, stop: StopFlag) -> None:
    work = folder / f".moving-{source.name}"
    with storage_errors(source):
        files = sorted(path for path in source.iterdir() if path.is_file())
        sizes = {path.name: path.stat().st_size for path in files}
    total = sum(sizes.values())
    with storage_errors(work):
        work.mkdir(exist_ok=True)
        missing = [path for path in files if _size(work / path.name) != sizes[path.name]]
        check_space(folder, sum(sizes[path.name] for path in missing))
    done = total - sum(sizes[path.name] for path in missing)
    for path in missing:
        done = _copy_file(path, work / path.name, done, total, progress, stop)
    try:
        _compare(work, total, progress, stop)
    except ContainerError:
        forget_verified(work)
        shutil.rmtree(work, ignore_errors=True)  # the next try begins anew
        raise
    with storage_errors(target):
        sync_folder(work)
        os.rename(work, target)
        sync_folder(folder)


def _copy_file(
    path: Path, target: Path, done: int, total: int, progress: OnProgress, stop: StopFlag
) -> int:
    part, what = target.with_name(f"{target.name}.part"), Text("copying {0}", path.name)
    with storage_errors(target):
        with open(path, "rb") as read, open(part, "wb") as write:
            while piece := read.read(PIECE):
                stop.check()
                write.write(piece)
                done += len(piece)
                progress(Progress(done, 2 * total, what))
            write.flush()
            os.fsync(write.fileno())
        os.replace(part, target)
    return done


def _compare(work: Path, total: int, progress: OnProgress, stop: StopFlag) -> None:
    def checked(step: Progress) -> None:
        share = step.done / max(step.total, 1)
        progress(Progress(total + round(total * share), 2 * total, step.what))

    with closing(Container.open(work)) as container:
        container.verify(checked, stop)


def _refuse_other(source: Path, target: Path) -> None:
    """A model of this name may be there already: the same one, or not ours to replace."""
    try:
        same = read_manifest(target).id == read_manifest(source).id
    except Edge0Error:
        same = False
    if not same:
        raise StorageError(
            Text("{0} exists already.", target), Text("Choose another folder, or delete that one.")
        )


def _remove(source: Path, target: Path) -> None:
    """First out of sight in one step, then for good."""
    gone = source.with_name(f"{_GONE}{source.name}")
    try:
        os.rename(source, gone)
    except OSError as error:
        raise StorageError(
            Text("The model is in {0} now, but {1} could not be removed.", target, source),
            Text("Delete the old folder, or keep both."),
        ) from error
    shutil.rmtree(gone, ignore_errors=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
