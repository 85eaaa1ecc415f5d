"""What a model needs of memory, in bytes and counts: where plans and forecasts start."""

from __future__ import annotations

from dataclasses import dataclass

GB = 10**9


@dataclass(frozen=True)
class MemoryNeeds:
    """What a model needs. Bytes, except counts.

    base_bytes: working set of interpreter, torch and Qt, measured before anything is loaded.
    record_bytes: the largest expert record. experts_total: records of all layers together.
    """

    base_bytes: int
    dense_bytes: int
    kv_bytes_per_token: int
    context_tokens: int
    workspace_bytes: int
    record_bytes: int
    experts_total: int
    top_k: int
    layers: int

    @property
    def token_cycle_records(self) -> int:
        """Records one token uses: with fewer slots, plain LRU would find none of them again."""
        return min(self.layers * self.top_k, self.experts_total)

    @property
    def floor_slots(self) -> int:
        """Slots without which nothing runs: a layer's experts in use, the next one's arriving."""
        return min(2 * self.top_k, self.experts_total)

    @property
    def kv_bytes(self) -> int:
        """KV cache of the whole context."""
        return self.kv_bytes_per_token * self.context_tokens

    @property
    def fixed_bytes(self) -> int:
        """Everything but expert records."""
        return self.base_bytes + self.dense_bytes + self.kv_bytes + self.workspace_bytes

    @property
    def minimum_bytes(self) -> int:
        """The smallest budget that runs."""
        return self.fixed_bytes + self.floor_slots * self.record_bytes

    @property
    def whole_bytes(self) -> int:
        """The budget that holds the whole model; more is of no use."""
        return self.fixed_bytes + self.experts_total * self.record_bytes
