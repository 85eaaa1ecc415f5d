"""A model that is made anew steps aside until the new one is ready, and comes back when it is not.
No Qt."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection
from pathlib import Path

from app.remove import remove_in_background

PREFIX = ".before-"
log = logging.getLogger(__name__)


def step_aside(model: Path) -> None:
    """Make room for the new one. Raises OSError."""
    aside = _aside(model)
    if aside.exists():  # an older one: the newest whole model counts
        shutil.rmtree(aside)
    model.rename(aside)


def settle(models: Path, unfinished: Collection[str]) -> None:
    """After each work and at the start: the old one goes when the new one is there, and comes back
    when nobody works on that any more."""
    try:
        left = [path for path in models.glob(f"{PREFIX}*") if path.is_dir()]
    except OSError:
        return
    for aside in left:
        name = aside.name.removeprefix(PREFIX)
        try:
            if (models / name).exists():
                gone = aside.with_name(f".deleted-{aside.name}")
                aside.rename(gone)
                remove_in_background(gone)
            elif name not in unfinished:
                aside.rename(models / name)
        except OSError:
            log.exception("%s stays aside", aside)


def _aside(model: Path) -> Path:
    return model.with_name(f"{PREFIX}{model.name}")
