"""A loaded language model: token ids in, logits out, with one KV cache and a position in it.

Owned by one thread. Memory: what executor and store hold; freed by `close`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.config import KvFormat
from engine.container.reader import Container
from engine.errors import ContextError
from engine.model.executor import NativeExecutor
from engine.model.shape import ModelShape
from engine.stop import StopFlag
from engine.store.store import ExpertStore
from engine.telemetry import Counters
from engine.text import Text

TokenProgress = Callable[[int, int], None]
HALF_BYTES, SCALE_BYTES = 2, 4


def kv_bytes_per_token(shape: ModelShape, kv_format: KvFormat = "fp16") -> int:
    """Bytes of keys and values one token adds over all layers; int8 has a scale per head."""
    if kv_format == "int8":
        return 2 * shape.layers * (shape.kv_width + shape.kv_heads * SCALE_BYTES)
    return 2 * shape.layers * shape.kv_width * HALF_BYTES


class Model:
    """Runs a container's program through an executor and a store."""

    def __init__(
        self,
        container: Container,
        executor: NativeExecutor,
        store: ExpertStore,
        context_tokens: int,
        kv_format: KvFormat = "fp16",
    ) -> None:
        self.kv_token_bytes = kv_bytes_per_token(container.shape, kv_format)
        self.shape = container.shape
        self.context_tokens = context_tokens
        self.position = 0
        self.executor = executor
        self.store = store
        self._container = container
        container.hold()
        self.before_chunk: Callable[[int], None] = _nothing
        self._swap = threading.Lock()  # counters are read from any thread
        self._closed_stores = Counters()
        self._attention_s = self._expert_s = self._wait_s = self._total_s = 0.0

    @property
    def kv_bytes(self) -> int:
        """Bytes of the KV cache in use."""
        return self.position * self.kv_token_bytes

    def rewind(self, position: int) -> None:
        """Forget every token after the first `position`."""
        if not 0 <= position <= self.position:
            raise ValueError(f"cannot rewind from {self.position} to {position}")
        self.position = position

    def export_rows(self, begin: int, rows: NDArray[np.uint8]) -> None:
        """Copy the KV cache from position `begin` on to `rows`, as many whole tokens as fill it."""
        end = begin + self._tokens_in(rows)
        if not 0 <= begin <= end <= self.position:
            raise ValueError(f"[{begin}, {end}) is not in a cache of {self.position} tokens")
        self.executor.export_cache(begin, end, rows)

    def import_rows(self, begin: int, rows: NDArray[np.uint8]) -> None:
        """Put exported rows back; `position` is then behind them."""
        end = begin + self._tokens_in(rows)
        if not 0 <= begin <= self.position or end > self.context_tokens:
            raise ValueError(
                f"[{begin}, {end}) does not continue a cache of {self.position} tokens"
            )
        self.executor.import_cache(begin, end, rows)
        self.position = end

    def forward(
        self,
        ids: Sequence[int],
        stop: StopFlag,
        progress: TokenProgress | None = None,
        all_logits: bool = False,
    ) -> NDArray[np.float32]:
        """Append ids; logits (vocab,) after the last one, or (len(ids), vocab).

        Raises Stopped, StorageError, ContextError; `position` then counts the chunks that were
        done.
        """
        self._check_room(len(ids))
        start = time.perf_counter()
        rows: list[NDArray[np.float32]] = []
        try:
            for begin in range(0, len(ids), self.executor.chunk_tokens):
                chunk = ids[begin : begin + self.executor.chunk_tokens]
                self._chunk(chunk, stop)
                if progress:
                    progress(begin + len(chunk), len(ids))
                if all_logits:
                    rows += [self.executor.logits(row) for row in range(len(chunk))]
            return np.stack(rows) if all_logits else self.executor.logits(len(chunk) - 1)
        finally:
            self._count(time.perf_counter() - start)

    def counters(self) -> Counters:
        """Running totals since the model was opened."""
        with self._swap:
            experts = _expert_counters(self._closed_stores, self.store)
        return replace(
            experts,
            attention_s=self._attention_s,
            expert_compute_s=self._expert_s - self._wait_s,
            expert_wait_s=self._wait_s,
            other_s=max(0.0, self._total_s - self._attention_s - self._expert_s),
        )

    def use_store(self, store: ExpertStore) -> None:
        """Take experts from another store over the same files; the old one is closed."""
        with self._swap:
            self._closed_stores = _expert_counters(self._closed_stores, self.store)
            old, self.store = self.store, store
            self.executor.use_store(store)
            old.close()

    def close(self) -> None:
        """Free the model. It cannot be used afterwards."""
        self.before_chunk = _nothing
        self.executor.close()
        self.store.close()
        self._container.close()

    def _chunk(self, ids: Sequence[int], stop: StopFlag) -> None:
        self.before_chunk(len(ids))
        self.executor.body(self._container.embedding_rows(ids), self.position, stop)
        self.position += len(ids)

    def _count(self, seconds: float) -> None:
        times = self.executor.take_times()
        self._attention_s += times.attention_s
        self._expert_s += times.expert_s
        self._wait_s += times.wait_s
        self._total_s += seconds

    def _tokens_in(self, rows: NDArray[np.uint8]) -> int:
        tokens, odd = divmod(rows.nbytes, self.kv_token_bytes)
        if odd or rows.dtype != np.uint8 or not rows.flags.c_contiguous:
            raise ValueError(f"{rows.nbytes} bytes are no whole tokens")
        return tokens

    def _check_room(self, tokens: int) -> None:
        if not tokens:
            raise ValueError("forward needs at least one token")
        if self.position + tokens > self.context_tokens:
            raise ContextError(
                Text(
                    "{0} tokens do not fit the context of {1}.",
                    self.position + tokens,
                    self.context_tokens,
                ),
                Text("Shorten the conversation, or open the model with a longer context."),
            )


def _nothing(tokens: int) -> None:
    """Before a chunk there is nothing to do."""


def _expert_counters(before: Counters, store: ExpertStore) -> Counters:
    """What stores closed before and this one counted together."""
    totals = store.totals()
    return Counters(
        expert_hits=before.expert_hits + totals.hits,
        expert_misses=before.expert_misses + totals.misses,
        expert_bytes_read=before.expert_bytes_read + totals.bytes_read,
    )
