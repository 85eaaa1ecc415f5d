"""What a model's replies use most: learned over sessions and kept in usage.json, a cache file.

Decides an order only (what to read first, what to replace last), never what is computed. A file
that is damaged, of another model or cannot be written is logged and does without. Owned by the
thread that runs the model. Memory: three numbers an expert.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.container.files import checked_size, open_checked, storage_errors, write_durably
from engine.container.manifest import weights_id
from engine.container.reader import Container
from engine.container.strict import decode, parse_json
from engine.errors import ContainerError, Edge0Error
from engine.store.cache_dir import model_cache, trim
from engine.store.policy import Keys, Policy, Scores
from engine.text import Text

USAGE_NAME = "usage.json"
MAX_BYTES = 16 << 20  # the largest model we accept (2^18 experts) needs 3 MB
HALF_LIFE_TOKENS = 20_000  # after so many tokens, some dozens of replies, old habits weigh half
CHUNK_TOKENS = 32  # a long prefill chunk weighs as much as so many decoded tokens
PRIOR_TOKENS = 200  # calibration weighs as much as so many tokens of real use
SAVE_S = 60.0

Counts = NDArray[np.int64]  # (layers, experts)
Rates = NDArray[np.float64]  # (layers, experts), uses a token

_FORMAT, _VERSION = "edge0-usage", 1
_AGAIN = Text("It is written anew after the next replies.")
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Usage:
    """counts: decayed uses (layers, experts). tokens: the decayed number of tokens behind them."""

    counts: Rates
    tokens: float

    def merged(self, newer: Usage) -> Usage:
        """Both together, this one faded by the tokens that came since."""
        kept = 0.5 ** (newer.tokens / HALF_LIFE_TOKENS)
        return Usage(self.counts * kept + newer.counts, self.tokens * kept + newer.tokens)


@dataclass(frozen=True)
class _File:
    format: str
    version: int
    model: str
    tokens: float
    counts: tuple[tuple[float, ...], ...]


def no_usage(layers: int, experts: int) -> Usage:
    """Nothing used yet."""
    return Usage(np.zeros((layers, experts)), 0.0)


def read_usage(path: Path, model_id: str, layers: int, experts: int) -> Usage | None:
    """What was learned of this model; None when nothing, or nothing that can be trusted."""
    if not os.path.lexists(path):
        return None
    try:
        file = decode(_File, parse_json(_read_capped(path), path.name), path.name)
        return _checked(file, model_id, (layers, experts))
    except Edge0Error as error:
        log.warning("%s is ignored: %s", path, error.message)
        return None


def write_usage(path: Path, model_id: str, usage: Usage) -> bool:
    """Replace the file, whole or not at all; False, with a line in the log, when it cannot be."""
    rows = tuple(tuple(row) for row in np.round(usage.counts, 3).tolist())
    file = _File(_FORMAT, _VERSION, model_id, round(usage.tokens, 3), rows)
    try:
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, json.dumps(asdict(file), separators=(",", ":")).encode("utf-8"))
    except Edge0Error as error:
        log.warning("what was learned about the model is not saved: %s", error.message)
        with suppress(OSError):
            path.with_name(path.name + ".tmp").unlink()
        return False
    return True


def _read_capped(path: Path) -> bytes:
    if checked_size(path) > MAX_BYTES:
        raise ContainerError(Text("{0} is far too large.", path.name), _AGAIN)
    with open_checked(path) as file, storage_errors(path):
        return file.read(MAX_BYTES)


def _checked(file: _File, model_id: str, shape: tuple[int, int]) -> Usage:
    if (file.format, file.version, file.model) != (_FORMAT, _VERSION, model_id):
        raise ContainerError(Text("it belongs to another model or version."), _AGAIN)
    if len(file.counts) != shape[0] or any(len(row) != shape[1] for row in file.counts):
        raise ContainerError(Text("it has the wrong number of layers or experts."), _AGAIN)
    counts = np.array(file.counts, np.float64)
    if file.tokens < 0 or counts.min() < 0 or counts.max() > file.tokens * 1.01 + 1:
        raise ContainerError(Text("its numbers cannot be."), _AGAIN)
    return Usage(counts, file.tokens)


def expected_rates(
    usage: Usage | None, counts: Sequence[Sequence[int]] | Counts | None, top_k: int
) -> Rates | None:
    """Expected uses a token of every expert, from learned usage and calibration counts.

    None when neither knows anything.
    """
    prior = None if counts is None else _rates(np.asarray(counts, np.float64), top_k)
    if usage is None or usage.tokens <= 0:
        return prior
    if prior is None:
        return usage.counts / usage.tokens
    return (usage.counts + PRIOR_TOKENS * prior) / (usage.tokens + PRIOR_TOKENS)


def _rates(counts: Rates, top_k: int) -> Rates | None:
    """Counts whose layers add up to top_k uses a token."""
    totals = counts.sum(axis=1, keepdims=True)
    return counts * top_k / totals if totals.all() else None


def warm_order(rates: Rates | None) -> Keys:
    """Keys (layer · experts + expert) worth having in memory, the hottest first; ties by key."""
    if rates is None:
        return np.empty(0, np.int32)
    flat = rates.reshape(-1)
    order = np.argsort(-flat, kind="stable")
    return order[flat[order] > 0].astype(np.int32)


class UsageRecorder:
    """A policy that notes what passes through it to another one.

    uses: tokens routed to each expert, as counted, since the last `take`.
    """

    def __init__(self, policy: Policy, layers: int, experts: int) -> None:
        self._policy = policy
        self._shape = (layers, experts)
        self.uses: Counts = np.zeros(self._shape, np.int64)
        self._counts: Rates = np.zeros(self._shape)
        self._tokens = 0.0

    def take(self) -> Usage:
        """What was used since the last call."""
        taken = Usage(self._counts, self._tokens)
        self.uses = np.zeros(self._shape, np.int64)
        self._counts, self._tokens = np.zeros(self._shape), 0.0
        return taken

    def seed(self, rates: Scores) -> None:
        """As the policy does."""
        self._policy.seed(rates)

    def touch(self, keys: Keys, uses: NDArray[np.int32], tokens: int) -> None:
        """Note the uses, if there are any, and tell the policy."""
        weight = min(tokens, CHUNK_TOKENS) if len(keys) else 0
        np.add.at(self.uses.reshape(-1), keys, uses)
        np.add.at(self._counts.reshape(-1), keys, uses * (weight / max(tokens, 1)))
        self._tokens += weight
        self._policy.touch(keys, uses, tokens)

    def evicted(self, keys: Keys) -> None:
        """As the policy does."""
        self._policy.evicted(keys)

    def victims(self, resident: Keys, wanted: int) -> Keys:
        """As the policy does."""
        return self._policy.victims(resident, wanted)


class LearnedUsage:
    """The usage file of an open model: grows by every reply, saved at most once a minute.

    rates: what to expect, known when the model was opened; None when nothing is.
    """

    def __init__(
        self,
        path: Path,
        model_id: str,
        recorder: UsageRecorder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.recorder = recorder
        self.rates: Rates | None = None
        self._path = path
        self._model_id = model_id
        self._clock = clock
        self._shape = recorder.uses.shape
        self._unsaved = no_usage(*self._shape)
        self._next_save = clock() + SAVE_S

    def read(self) -> Usage | None:
        """What the file knows."""
        return read_usage(self._path, self._model_id, *self._shape)

    def learn(self) -> None:
        """A reply ended: what it used counts."""
        self._unsaved = self._unsaved.merged(self.recorder.take())
        if self._clock() >= self._next_save:
            self.save()

    def forget(self) -> None:
        """What ran just now was no reply: it does not count."""
        self.recorder.take()

    def save(self) -> None:
        """Add what was learned to the file, which another process may have changed meanwhile."""
        if self._unsaved.tokens <= 0:
            return
        self._next_save = self._clock() + SAVE_S
        before = self.read() or no_usage(*self._shape)
        if write_usage(self._path, self._model_id, before.merged(self._unsaved)):
            self._unsaved = no_usage(*self._shape)

    def close(self) -> None:
        """Save what is left, and keep the cache within its size."""
        self.save()
        trim(self._path.parent)


def open_usage(container: Container, cache_dir: str | Path | None, policy: Policy) -> LearnedUsage:
    """The usage of a model that is being opened; seeds the policy with it."""
    shape, model_id = container.shape, weights_id(container.manifest)
    recorder = UsageRecorder(policy, shape.layers, shape.experts)
    learned = LearnedUsage(model_cache(cache_dir, model_id) / USAGE_NAME, model_id, recorder)
    learned.rates = expected_rates(learned.read(), container.manifest.counts, shape.top_k)
    if learned.rates is not None:
        recorder.seed(learned.rates.reshape(-1))
    return learned


def known_rates(container: Container, cache_dir: str | Path | None = None) -> Rates | None:
    """What is known of a model's use without opening it."""
    shape, model_id = container.shape, weights_id(container.manifest)
    path = model_cache(cache_dir, model_id) / USAGE_NAME
    usage = read_usage(path, model_id, shape.layers, shape.experts)
    return expected_rates(usage, container.manifest.counts, shape.top_k)
