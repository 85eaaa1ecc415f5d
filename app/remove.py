"""Removes large folders out of the user's way, on a thread. No Qt."""

from __future__ import annotations

import logging
import shutil
import threading
from pathlib import Path

log = logging.getLogger(__name__)


def remove_in_background(folder: Path) -> None:
    """Delete a folder; what is left when the app ends is deleted at its next start."""
    threading.Thread(target=_remove, args=(folder,), name="app-remove", daemon=True).start()


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError:
        log.exception("%s could not be removed", folder)
