"""What the chat needs of a model: append ids to the KV cache, give logits, forget, count.

One thread at a time may use a model; a `StopFlag` may be set from any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.model.shape import ModelShape
from engine.stop import StopFlag
from engine.telemetry import Counters

PrefillCallback = Callable[[int, int], None]


class LanguageModel(Protocol):
    """A loaded model with one KV cache."""

    @property
    def shape(self) -> ModelShape: ...

    @property
    def context_tokens(self) -> int:
        """Tokens the KV cache can hold."""
        ...

    @property
    def position(self) -> int:
        """Tokens now in the KV cache."""
        ...

    @property
    def kv_bytes(self) -> int:
        """Bytes of the KV cache in use."""
        ...

    def rewind(self, position: int) -> None:
        """Forget every token from `position` on."""
        ...

    def forward(
        self,
        ids: Sequence[int],
        stop: StopFlag,
        progress: PrefillCallback | None = None,
        all_logits: bool = False,
    ) -> NDArray[np.float32]:
        """Appends the ids. Logits (vocab,) after the last, or (len(ids), vocab) with all_logits.

        progress is told (done, total) of these ids. Raises Stopped soon after the flag is set; the
        position is then a consistent prefix of what was asked for. Raises StorageError.
        """
        ...

    def counters(self) -> Counters:
        """Running totals since the model was opened."""
        ...


class KvRows(Protocol):
    """A KV cache whose rows can be copied out and back in, while nobody runs the model."""

    @property
    def kv_token_bytes(self) -> int:
        """Bytes one token takes."""
        ...

    def export_rows(self, begin: int, rows: NDArray[np.uint8]) -> None:
        """Copy the tokens from position `begin` on to `rows`, as many as fill it."""
        ...

    def import_rows(self, begin: int, rows: NDArray[np.uint8]) -> None:
        """Put exported rows back at the same `begin`; the position is then behind them."""
        ...
