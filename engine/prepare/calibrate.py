"""Counts which experts a model uses on a varied text: the first guess at which of them are hot.

The text is our own (calibration.txt: English, Chinese, code, mathematics) or the user's. Runs on
the calling thread, a window at a time; memory is the open model's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.container.files import storage_errors
from engine.errors import ConfigError
from engine.events import Progress
from engine.stop import StopFlag
from engine.text import Text

WINDOW_TOKENS = 512
MAX_TEXT_BYTES = 16 << 20

Counts = NDArray[np.int64]  # (layers, experts)


class RoutedModel(Protocol):
    """An open model that can say what its router picked (Edge0Runtime)."""

    @property
    def context_tokens(self) -> int: ...

    def encode(self, text: str) -> list[int]:
        """Token ids of a text."""
        ...

    def routing(self, ids: Sequence[int], stop: StopFlag) -> Counts:
        """How many of these tokens, read from an empty cache, were routed to each expert."""
        ...


def calibrate(
    model: RoutedModel,
    text: str | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    stop: StopFlag | None = None,
) -> Counts:
    """Uses of each (layer, expert) over a text; None takes the built-in one.

    Raises ConfigError for a text without a token, StorageError, Stopped.
    """
    stop = stop or StopFlag()
    ids = model.encode(built_in_text() if text is None else text)
    if not ids:
        raise ConfigError(
            Text("The calibration text is empty."), Text("Give a text of some hundred words.")
        )
    window = min(WINDOW_TOKENS, model.context_tokens)
    total: Counts | int = 0
    for start in range(0, len(ids), window):
        stop.check()
        progress(Progress(start, len(ids), Text("counting which experts are used")))
        total = total + model.routing(ids[start : start + window], stop)
    progress(Progress(len(ids), len(ids), Text("counting which experts are used")))
    return np.asarray(total, np.int64)


def built_in_text() -> str:
    """About 1,500 words of several kinds."""
    return (resources.files("engine.prepare") / "calibration.txt").read_text(encoding="utf-8")


def read_text(path: Path) -> str:
    """A user's text file. Raises ConfigError when it is none, StorageError."""
    with storage_errors(path):
        if not path.exists() or path.is_dir():
            raise ConfigError(
                Text("There is no text file {0}.", path), Text("Give the path of a text file.")
            )
    with storage_errors(path), open(path, "rb") as file:
        data = file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise ConfigError(
            Text("{0} is larger than {1} MB.", path, 16), Text("A few thousand words are plenty.")
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(Text("{0} is not UTF-8 text.", path), Text("Save it as UTF-8.")) from None
