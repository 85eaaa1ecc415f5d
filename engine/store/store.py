"""The expert store: opens the native table and lanes over a container's record files and feeds it
victims.

Python decides between chunks (policy, order of victims), native code acts within one. Owned by the
thread that runs the model; `counters` may be read from any. Memory: the slots the plan gave, and
the policy's arrays.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.container.reader import Container
from engine.errors import StorageError
from engine.kernels import native
from engine.machine.memory import mapping_unit
from engine.store.policy import Keys, Policy
from engine.store.predictor import PredictionTotals
from engine.text import Text

Mode = Literal["mapped", "direct"]
LANES = 4
_ERROR_BYTES = 512
_USE = np.dtype([("key", np.int32), ("tokens", np.int32), ("miss", np.int32)])


@dataclass(frozen=True)
class StoreTotals:
    """Running totals since the store was opened. bytes_read: records brought into slots."""

    hits: int
    misses: int
    bytes_read: int
    prediction: PredictionTotals


class ExpertStore:
    """Records of one container behind `slots` slots."""

    def __init__(
        self,
        container: Container,
        mode: Mode,
        slots: int,
        policy: Policy,
        lanes: int = LANES,
        unit_bytes: int | None = None,
    ) -> None:
        """unit_bytes: what the system maps at once, in mapped mode; None asks the machine."""
        self._library = native.library()
        self.mode = mode
        self.slots = slots
        self._policy = policy
        shape = container.shape
        self._keys = shape.layers * shape.experts
        self._cycle = min(shape.layers * shape.top_k, self._keys)
        self._log = np.empty(2 * self._keys, _USE)
        self._resident = np.empty(self._keys, np.int32)
        self._was_resident = np.empty(0, np.int32)
        largest = max(layout.bytes for layout in container.manifest.layouts)
        options = native.StoreOptions(
            shape.layers,
            shape.experts,
            slots,
            lanes,
            int(mode == "mapped"),
            largest,
            unit_bytes or mapping_unit(),
        )
        self.handle = self._open(options, [os.fsencode(path) for path in container.files])
        for record in container.manifest.records:
            key = record.layer * shape.experts + record.expert
            self._library.e0_store_set_record(
                self.handle, key, record.file, record.offset, record.bytes
            )

    def _open(self, options: native.StoreOptions, paths: list[bytes]) -> int:
        names = (ctypes.c_char_p * len(paths))(*paths)
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        handle: int | None = self._library.e0_store_new(
            options, names, len(paths), error, _ERROR_BYTES
        )
        if not handle:
            reason = error.value.decode("utf-8", "replace")
            raise StorageError(
                Text("The model's experts cannot be opened: {0}.", reason),
                Text("Check that the drive is connected and that you may read the folder."),
            )
        return handle

    def load(self, keys: Keys) -> int:
        """Read experts into free slots, in order, until none is free; how many were read."""
        ordered = np.ascontiguousarray(keys, np.int32)
        return int(self._library.e0_store_load(self.handle, ordered.ctypes.data, len(ordered)))

    def after_chunk(self, tokens: int) -> None:
        """Tell the policy what the last chunk, of `tokens`, used and lay out the next victims."""
        data, capacity = self._log.ctypes.data, len(self._log)
        count = self._library.e0_store_take_log(self.handle, data, capacity)
        log = self._log[:count]
        self._policy.touch(log["key"].copy(), log["tokens"].copy(), tokens)
        if self.whole:
            return
        resident = self.resident()
        self._policy.evicted(np.setdiff1d(self._was_resident, resident, assume_unique=True))
        self._was_resident = resident
        wanted = len(resident) if tokens > 1 else min(len(resident), 2 * self._cycle)
        victims = self._policy.victims(resident, wanted)
        self._library.e0_store_set_victims(self.handle, victims.ctypes.data, len(victims))

    @property
    def whole(self) -> bool:
        """Whether every expert has a slot."""
        return self.slots >= self._keys

    def resident(self) -> Keys:
        """Keys (layer · experts + expert) of the experts in memory."""
        count = self._library.e0_store_resident(self.handle, self._resident.ctypes.data, self._keys)
        return self._resident[:count].copy()

    def shrink(self, slots: int) -> None:
        """Give memory back for good: fewer slots from now on."""
        if slots < self.slots:
            self._library.e0_store_shrink(self.handle, slots)
            self.slots = slots

    def totals(self) -> StoreTotals:
        """Counters so far."""
        count = native.StoreCounters()
        self._library.e0_store_read_counters(self.handle, count)
        return StoreTotals(
            count.hits,
            count.misses,
            count.bytes_read,
            PredictionTotals(count.ahead_used, count.ahead_wasted),
        )

    def read_error(self) -> StorageError:
        """The error of the read that just failed."""
        text = ctypes.create_string_buffer(_ERROR_BYTES)
        self._library.e0_store_take_error(self.handle, text, _ERROR_BYTES)
        reason = text.value.decode("utf-8", "replace") or Text("unknown reason")
        return StorageError(
            Text("Reading the model's experts failed: {0}.", reason),
            Text(
                "Check the drive, then try again; if it stays, check the model's files or convert"
                " the model again."
            ),
        )

    def close(self) -> None:
        """Stop the lanes and free the slots. The store cannot be used afterwards."""
        if self.handle:
            self._library.e0_store_free(self.handle)
            self.handle = 0
