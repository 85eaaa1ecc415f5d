"""Knows which token ids are in the model's KV cache, so that only what is new is prefilled.

One per model, shared by its sessions: everything that runs the model goes through it, one caller at
a time. It is a LanguageModel itself. Where it has snapshots, older prefixes come back from disk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from engine.chat.snapshots import Snapshots
from engine.errors import ChatError, Stopped
from engine.model.language_model import LanguageModel, PrefillCallback
from engine.model.shape import ModelShape
from engine.stop import StopFlag
from engine.telemetry import Counters
from engine.text import Text

_TIMED_TOKENS = 32  # from so many on, a forward call tells how fast prefill is


def busy() -> ChatError:
    """The error while somebody else uses the model."""
    return ChatError(
        Text("The model is writing a reply already."), Text("Wait for it, or stop it.")
    )


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

    def __init__(self, model: LanguageModel, snapshots: Snapshots | None = None) -> None:
        self._model = model
        self._snapshots = snapshots
        self._prefill_tok_s: float | None = None
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
            raise busy()
        try:
            yield
        finally:
            self._lock.release()

    def keep(self, ids: Sequence[int], stop: StopFlag | None = None) -> int:
        """Rewinds to what the cache and the prompt share, and goes on from disk where a snapshot
        reaches further; how many tokens that is.

        At least the prompt's last token is left to compute: its logits are wanted.
        """
        if self._model.position != len(self._ids):  # somebody ran the model without telling us
            self.rewind(0)
        wanted = list(ids[:-1])
        self.rewind(common_prefix(self._ids, wanted))
        if self._snapshots:
            position = self._snapshots.restore(wanted, len(self._ids), stop or StopFlag())
            self._ids = wanted[:position]
        return len(self._ids)

    def save(self, following: Callable[[], Sequence[int]]) -> None:
        """Keeps what is cached for later, as far as the next prompt, `following`, begins with it.

        A template may leave a reply's thoughts out of the next prompt: no use to keep those.
        """
        if self._snapshots:
            shared = common_prefix(self._ids, list(following()))
            self._snapshots.save(self._ids[:shared], self._prefill_tok_s)

    def close(self) -> None:
        """Before the model is closed: nothing reads its cache any more."""
        if self._snapshots:
            self._snapshots.close()

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
        self._pause(position)
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
        start, began = len(self._ids), time.perf_counter()
        self._pause(start)
        self._ids.extend(ids)
        try:
            logits = self._model.forward(ids, stop, progress, all_logits)
        except Stopped:
            del self._ids[self._model.position :]  # a consistent prefix of them was computed
            raise
        except BaseException:
            self.rewind(start)
            raise
        if len(ids) >= _TIMED_TOKENS:
            self._prefill_tok_s = len(ids) / (time.perf_counter() - began)
        return logits

    def counters(self) -> Counters:
        return self._model.counters()

    def _pause(self, position: int) -> None:
        """Rows from `position` on are about to change."""
        if self._snapshots:
            self._snapshots.pause(position)
