"""What a download's folder knows of itself: which files were verified, and, written last, that all
are there. A folder without the marker is unfinished whatever it holds.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from engine.container.files import storage_errors, sync_folder, write_durably
from engine.hub.plan import DownloadPlan, RemoteFile

MARKER_NAME = ".edge0-download.json"
VERIFIED_NAME = ".edge0-verified"
_MAX_BYTES = 1 << 20


def is_complete(folder: Path, plan: DownloadPlan) -> bool:
    """Whether the folder holds all files of this plan, verified."""
    try:
        with open(folder / MARKER_NAME, "rb") as file:
            found = json.loads(file.read(_MAX_BYTES))
        right = isinstance(found, dict) and found.get("plan") == plan.identity
        return right and all((folder / f.name).stat().st_size == f.size for f in plan.files)
    except (OSError, ValueError, RecursionError):
        return False


def verified_files(folder: Path) -> set[str]:
    """Hash and name of every file whose bytes were found right; a torn last line does not count."""
    try:
        with open(folder / VERIFIED_NAME, "rb") as file:
            lines = file.read(_MAX_BYTES).decode("utf-8", "replace").splitlines(keepends=True)
    except OSError:
        return set()
    return {line.rstrip("\n") for line in lines if line.endswith("\n")}


def verified_line(file: RemoteFile) -> str:
    """How a verified file is noted."""
    return f"{file.sha256 or file.git_sha1} {file.name}"


def note_verified(folder: Path, file: RemoteFile) -> None:
    """A file got its name because its hash was right."""
    path = folder / VERIFIED_NAME
    with storage_errors(path), open(path, "ab") as notes:
        notes.write(f"\n{verified_line(file)}\n".encode())  # begins anew behind a torn line


def write_marker(folder: Path, plan: DownloadPlan) -> None:
    """Say that the folder is complete, and clear away what downloading left."""
    fields = {
        "plan": plan.identity,
        "model": plan.repository.id,
        "commit": plan.repository.commit,
        "bytes": plan.total,
    }
    write_durably(folder / MARKER_NAME, json.dumps(fields).encode("ascii"))
    with storage_errors(folder):
        sync_folder(folder)
    for file in plan.files:
        for left in (f"{file.name}.part", f"{file.name}.part.journal"):
            with suppress(OSError):
                (folder / left).unlink(missing_ok=True)
