"""The loop of generation: prefill, then one forward call a token until something ends it."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence

from engine.chat.sampler import Sampler
from engine.config import GenerateOptions
from engine.errors import Stopped
from engine.events import FinishReason
from engine.model.language_model import LanguageModel, PrefillCallback
from engine.stop import StopFlag


def generate_ids(
    model: LanguageModel,
    ids: Sequence[int],
    options: GenerateOptions,
    stop_ids: Collection[int],
    stop: StopFlag,
    progress: PrefillCallback | None = None,
    history: Sequence[int] = (),
) -> Generator[int, None, FinishReason]:
    """Appends ids to the model's cache and yields the tokens it writes after them.

    The generator's return value is the reason for the end. A stop id ends the reply and is not
    yielded. history: ids before `ids`, which only the repetition penalty looks at.
    """
    sampler = Sampler(options, (*history, *ids))
    written = 0
    try:
        stop.check()
        logits = model.forward(ids, stop, progress)
        while True:
            token = sampler.pick(logits)
            if token in stop_ids:
                return "stop"
            yield token
            written += 1
            if written >= options.max_tokens:
                return "length"
            if model.position >= model.context_tokens:
                return "context"
            stop.check()
            logits = model.forward([token], stop)
    except Stopped:
        return "stopped"
