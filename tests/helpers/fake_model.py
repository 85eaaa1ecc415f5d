"""A LanguageModel without weights. What it writes depends on every id in its cache, so a wrong
cache gives a wrong reply. It counts what it computes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ContextError
from engine.model.shape import ModelShape
from engine.stop import StopFlag
from engine.telemetry import Counters

CHUNK = 4  # tokens between two looks at the stop flag


def shape(vocab: int) -> ModelShape:
    return ModelShape(
        model_type="fake",
        layers=1,
        hidden=4,
        heads=1,
        kv_heads=1,
        head_dim=4,
        vocab=vocab,
        experts=2,
        top_k=1,
        expert_width=4,
        rms_eps=1e-6,
        rope_frequencies=(1.0, 1.0),
        max_positions=1 << 16,
    )


class FakeModel:
    """next_id: cached ids → the id with the highest logit. before: called before each id."""

    def __init__(
        self,
        vocab: int,
        next_id: Callable[[list[int]], int] | None = None,
        context_tokens: int = 4096,
    ) -> None:
        self.shape = shape(vocab)
        self.context_tokens = context_tokens
        self.cache: list[int] = []
        self.computed: list[int] = []
        self.before: Callable[[int], None] = lambda token: None
        self.next_id = next_id or self._any_id

    @property
    def position(self) -> int:
        return len(self.cache)

    @property
    def kv_bytes(self) -> int:
        return 8 * len(self.cache)

    def rewind(self, position: int) -> None:
        assert 0 <= position <= len(self.cache)
        del self.cache[position:]

    kv_token_bytes = 8

    def export_rows(self, begin: int, rows: NDArray[np.uint8]) -> None:
        count = rows.nbytes // self.kv_token_bytes
        assert begin >= 0 and begin + count <= len(self.cache)
        rows.view(np.int64)[:] = self.cache[begin : begin + count]

    def import_rows(self, begin: int, rows: NDArray[np.uint8]) -> None:
        assert begin <= len(self.cache)
        self.cache[begin:] = rows.view(np.int64).tolist()

    def forward(
        self,
        ids: Sequence[int],
        stop: StopFlag,
        progress: Callable[[int, int], None] | None = None,
        all_logits: bool = False,
    ) -> NDArray[np.float32]:
        assert ids and not all_logits
        if len(self.cache) + len(ids) > self.context_tokens:
            raise ContextError("too long")
        for begin in range(0, len(ids), CHUNK):
            stop.check()
            chunk = list(ids[begin : begin + CHUNK])
            for token in chunk:
                self.before(token)
                stop.check()
                self.computed.append(token)
            self.cache += chunk
            if progress:
                progress(begin + len(chunk), len(ids))
        logits = np.zeros(self.shape.vocab, np.float32)
        logits[self.next_id(self.cache)] = 20
        return logits

    def counters(self) -> Counters:
        uses = len(self.computed)
        return Counters(
            expert_hits=3 * uses,
            expert_misses=uses,
            expert_bytes_read=4096 * uses,
            attention_s=1e-7 * uses,
            expert_compute_s=2e-7 * uses,
            expert_wait_s=1e-7 * uses,
        )

    def _any_id(self, ids: list[int]) -> int:
        return zlib.crc32(np.array(ids, np.int64).tobytes()) % self.shape.vocab
