"""Logits → the next token. Pure functions over numpy arrays, in the order of `transformers`:
repetition penalty, temperature, top-k, top-p, min-p. `Sampler` adds one reply's random numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from engine.config import GenerateOptions
from engine.errors import ChatError
from engine.text import Text

Logits = NDArray[np.float32]
Ids = NDArray[np.int64]
Probabilities = NDArray[np.float64]

_CHECK_FILES = Text(
    "Its files may be damaged: choose Check the files in the list of models, or run edge0 doctor"
    " NAME --deep."
)
LEAST_TEMPERATURE = (
    1e-6  # below, differences would leave the range of float32: the best token it is
)
_FIRST_GUESS = 1024  # tokens sorted before top-p looks at the whole vocabulary


def check(logits: Logits) -> None:
    """Raises ChatError for values nothing can be picked by: damaged weights or an overflow."""
    if not np.isfinite(logits).all():
        bad = int(np.count_nonzero(~np.isfinite(logits)))
        raise ChatError(
            Text("The model's output is not a number for {0} of {1} tokens.", bad, logits.size),
            _CHECK_FILES,
        )
    if logits.size > 1 and logits.max() == logits.min():
        raise ChatError(Text("The model finds all words equally likely."), _CHECK_FILES)


def penalise(logits: Logits, seen: Ids, penalty: float) -> Logits:
    """Repetition penalty (arXiv 1909.05858): logits of seen ids / penalty, or × when negative."""
    if penalty == 1 or not seen.size:
        return logits
    changed: Logits = logits.copy()
    values = changed[seen]
    changed[seen] = np.where(values < 0, values * penalty, values / penalty)
    return changed


def candidates(logits: Logits, options: GenerateOptions) -> tuple[Ids, Probabilities]:
    """(ids, probabilities) of the tokens left by temperature, top-k, top-p and min-p.

    options.temperature is above 0. Tokens that tie with the last of top-k stay in.
    """
    ids = _top(logits, options.top_k) if options.top_k else np.arange(logits.size)
    kept = logits[ids]
    weights = np.exp((kept - kept.max()) / np.float32(options.temperature))
    probabilities = weights / weights.sum(dtype=np.float64)
    if options.top_p < 1:
        nucleus = _nucleus(probabilities, options.top_p)
        ids, probabilities = ids[nucleus], probabilities[nucleus]
    if options.min_p > 0:
        likely = probabilities >= options.min_p * probabilities.max()
        ids, probabilities = ids[likely], probabilities[likely]
    return ids, probabilities / probabilities.sum()


def _top(logits: Logits, count: int) -> Ids:
    """Ids of the `count` largest logits and of those equal to the smallest of them."""
    if count >= logits.size:
        return np.arange(logits.size)
    smallest = np.partition(logits, logits.size - count)[logits.size - count]
    return np.flatnonzero(logits >= smallest)


def _nucleus(probabilities: Probabilities, top_p: float) -> Ids:
    """Indices of the fewest tokens that hold `top_p` of all probability; of equals the lower."""
    falling = _falling(probabilities, _FIRST_GUESS)
    held = np.cumsum(falling)
    if held[-1] < top_p:
        falling = _falling(probabilities, probabilities.size)
        held = np.cumsum(falling)
    last = min(int(np.searchsorted(held, top_p)), falling.size - 1)
    above = np.flatnonzero(probabilities > falling[last])
    equal = np.flatnonzero(probabilities == falling[last])
    return np.sort(np.concatenate((above, equal[: last + 1 - above.size])))


def _falling(values: Probabilities, count: int) -> Probabilities:
    """The `count` largest values, largest first."""
    if count < values.size:
        values = np.partition(values, values.size - count)[-count:]
    return np.sort(values)[::-1]


def draw(ids: Ids, probabilities: Probabilities, number: float) -> int:
    """The token at `number` in [0, 1) of the cumulative probabilities."""
    place = int(np.searchsorted(np.cumsum(probabilities), number, side="right"))
    return int(ids[min(place, ids.size - 1)])


class Sampler:
    """Picks one reply's tokens. history: the prompt's ids; the repetition penalty counts them."""

    def __init__(self, options: GenerateOptions, history: Iterable[int] = ()) -> None:
        self._options = options
        self._random = np.random.default_rng(options.seed)
        self._seen = set(history) if options.repetition_penalty != 1 else None

    def pick(self, logits: Logits) -> int:
        """The next token's id. Raises ChatError when the logits are not numbers."""
        check(logits)
        if self._seen is not None:
            seen = np.fromiter(self._seen, np.int64, len(self._seen))
            logits = penalise(logits, seen, self._options.repetition_penalty)
        token = self._choose(logits)
        if self._seen is not None:
            self._seen.add(token)
        return token

    def _choose(self, logits: Logits) -> int:
        if self._options.temperature < LEAST_TEMPERATURE:
            return int(np.argmax(logits))  # the lowest id of equals
        return draw(*candidates(logits, self._options), self._random.random())
