"""The note in a download's folder that says: everything is here, and its hashes were right.

Written last, so a folder without it is unfinished whatever it holds.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from engine.container.files import storage_errors, sync_folder, write_durably
from engine.hub.plan import DownloadPlan

MARKER_NAME = ".edge0-download.json"
_MAX_BYTES = 1 << 16


def is_complete(folder: Path, plan: DownloadPlan) -> bool:
    """Whether the folder holds all files of this plan, verified."""
    try:
        with open(folder / MARKER_NAME, "rb") as file:
            found = json.loads(file.read(_MAX_BYTES))
        right = isinstance(found, dict) and found.get("plan") == plan.identity
        return right and all((folder / f.name).stat().st_size == f.size for f in plan.files)
    except (OSError, ValueError, RecursionError):
        return False


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
