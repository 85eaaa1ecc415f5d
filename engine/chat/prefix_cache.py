"""Knows which token ids are in the model's KV cache, so that only what is new is prefilled.

One per model, shared by its sessions: everything that runs the model goes through it, one caller at
a time. It is a LanguageModel itself. Snapshots of older prefixes would live here too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from engine.errors import ChatError, Stopped
from engine.model.language_model import LanguageModel, PrefillCallback
from engine.model.shape import ModelShape
from engine.stop import StopFlag
from engine.telemetry import Counters


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix: a binary search whose slices are compared at C speed."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class PrefixCache:
    """A model together with the ids in its KV cache."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._ids: list[int] = []
        self._lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether somebody is using the model."""
        return self._lock.locked()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Nobody else may use the model meanwhile. Raises ChatError when somebody does."""
        if not self._lock.acquire(blocking=False):
            raise ChatError("The model is writing a reply already.", "Wait for it, or stop it.")
        try:
            yield
        finally:
            self._lock.release()

    def keep(self, ids: Sequence[int]) -> int:
        """Rewinds to what the cache and the prompt share; how many tokens that is.

        At least the prompt's last token is left to compute: its logits are wanted.
        """
        if self._model.position != len(self._ids):  # somebody ran the model without telling us
            self.rewind(0)
        shared = min(common_prefix(self._ids, list(ids)), len(ids) - 1)
        self.rewind(shared)
        return shared

    @property
    def shape(self) -> ModelShape:
        return self._model.shape

    @property
    def context_tokens(self) -> int:
        return self._model.context_tokens

    @property
    def position(self) -> int:
        return self._model.position

    @property
    def kv_bytes(self) -> int:
        return self._model.kv_bytes

    def rewind(self, position: int) -> None:
        """Forget every token from `position` on."""
        del self._ids[position:]
        self._model.rewind(position)

    def forward(
        self,
        ids: Sequence[int],
        stop: StopFlag,
        progress: PrefillCallback | None = None,
        all_logits: bool = False,
    ) -> NDArray[np.float32]:
        """As LanguageModel.forward. After an error, none of these ids counts as cached."""
        start = len(self._ids)
        self._ids.extend(ids)
        try:
            return self._model.forward(ids, stop, progress, all_logits)
        except Stopped:
            del self._ids[self._model.position :]  # a consistent prefix of them was computed
            raise
        except BaseException:
            self.rewind(start)
            raise

    def counters(self) -> Counters:
        return self._model.counters()
