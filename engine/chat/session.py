"""One conversation partner: messages in, reply events out. Chooses what to prefill, runs the decode
loop, stops, measures.

`reply` is a generator for one thread (the engine's worker). Only the prefill runs on a helper
thread, which lives no longer than it, so that its progress can be handed out meanwhile. `stop` may
be called from any thread. However a reply ends, the record of what is cached stays true and the
next reply works.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

from engine.chat.decode import generate_ids
from engine.chat.prefix_cache import PrefixCache, busy
from engine.chat.prompt import PromptEncoder
from engine.chat.reply_meter import ReplyMeter, Step
from engine.chat.template import ChatTemplate, Message
from engine.chat.tokenizer import Tokenizer
from engine.config import GenerateOptions
from engine.errors import ChatError, ContextError
from engine.events import Finished, FinishReason, PrefillProgress, ReplyEvent, TextDelta
from engine.model.language_model import LanguageModel
from engine.stop import StopFlag
from engine.text import Text

Tokens = Generator[int, None, FinishReason]


class Session:
    """Replies with one model. Sessions of one model share its PrefixCache and take turns."""

    def __init__(
        self,
        model: LanguageModel | PrefixCache,
        tokenizer: Tokenizer,
        template: ChatTemplate,
        finished: Callable[[Finished], None] | None = None,
        variables: Mapping[str, object] | None = None,
    ) -> None:
        """model: a PrefixCache where sessions share the model. finished: told of each reply's end.

        variables: what the template understands besides messages, such as enable_thinking.
        """
        self._model = model if isinstance(model, PrefixCache) else PrefixCache(model)
        self._tokenizer = tokenizer
        self._prompts = PromptEncoder(tokenizer, template, variables)
        self._stop = StopFlag()
        self._finished = finished

    @property
    def context_tokens(self) -> int:
        """Tokens that prompt and reply may have together."""
        return self._model.context_tokens

    @property
    def busy(self) -> bool:
        """Whether the model is at work, for this session or another."""
        return self._model.busy

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt these messages make: whether they fit. Raises ChatError."""
        return len(self._prompts.encode(messages))

    def stop(self) -> None:
        """End the running reply within a layer; it finishes with the reason "stopped"."""
        self._stop.set()

    def reply(
        self, messages: Sequence[Message], options: GenerateOptions | None = None
    ) -> Iterator[ReplyEvent]:
        """The reply as events: PrefillProgress, TextDelta, and Finished last.

        Raises ContextError for a prompt that does not fit, ChatError, and while reading the events
        StorageError; after any of them the session is ready for the next reply.
        """
        if self._model.busy:
            raise busy()
        self._stop.clear()
        started = time.perf_counter()
        ids = self._prompts.encode(messages)
        self._check_fits(ids)
        return self._events(messages, ids, options or GenerateOptions(), started)

    def _check_fits(self, ids: Sequence[int]) -> None:
        needed, room = len(ids), self._model.context_tokens - 1  # the reply needs one at least
        if needed > room:
            most = self._model.shape.max_positions
            raise _too_long(needed, room, most if room + 1 < most else None)
        if not ids or max(ids) >= self._model.shape.vocab:
            raise ChatError(
                Text("The tokenizer does not belong to this model."),
                Text("Convert or download the model again."),
            )

    def _events(
        self,
        messages: Sequence[Message],
        ids: list[int],
        options: GenerateOptions,
        started: float,
    ) -> Iterator[ReplyEvent]:
        text: list[str] = []
        with self._model.exclusive():
            reused = self._model.keep(ids, self._stop)
            meter = ReplyMeter(self._model, started, len(ids), reused)
            yield PrefillProgress(reused, len(ids))
            reason = yield from self._write(ids, options, meter, text)
            end = Finished(reason, meter.stats())
            if self._finished is not None:
                self._finished(end)
            self._model.save(lambda: self._following(messages, "".join(text)) or ids)
        yield end  # nothing is held any more: the reader may ask for the next reply now

    def _following(self, messages: Sequence[Message], reply: str) -> list[int]:
        """How the prompt after this reply will begin; empty when the template will not say."""
        turn = Message("assistant", reply), Message("user", "…")
        try:
            return self._prompts.encode([*messages, *turn])
        except ChatError:
            return []

    def _write(
        self, ids: list[int], options: GenerateOptions, meter: ReplyMeter, written: list[str]
    ) -> Generator[ReplyEvent, None, FinishReason]:
        """The reply itself; its text is added to `written` too. An unfinished character at its end
        is left out.
        """
        progress: SimpleQueue[PrefillProgress | None] = SimpleQueue()
        reused = meter.reused_tokens
        tokens = generate_ids(
            self._model,
            ids[reused:],
            options,
            self._prompts.stop_ids,
            self._stop,
            lambda done, _: progress.put(PrefillProgress(reused + done, len(ids))),
            ids[:reused],
        )
        text = self._tokenizer.detokenizer()
        step = yield from self._prefill(tokens, progress, meter)
        while isinstance(step, int):
            piece = text.push(step)
            if piece:
                written.append(piece)
                yield TextDelta(piece)
            step = meter.timed_step(lambda: _next(tokens))
        return step

    def _prefill(
        self,
        tokens: Tokens,
        progress: SimpleQueue[PrefillProgress | None],
        meter: ReplyMeter,
    ) -> Generator[PrefillProgress, None, Step]:
        """Runs to the first token on a helper thread and yields its progress meanwhile."""
        with ThreadPoolExecutor(1, "prefill") as helper:
            first = helper.submit(meter.timed_prefill, lambda: _next(tokens))
            first.add_done_callback(lambda _: progress.put(None))
            try:
                yield from iter(progress.get, None)
            finally:
                if not first.done():  # the reader closed us: do not prefill to the end for nobody
                    self._stop.set()
        return first.result()


def _too_long(needed: int, room: int, most: int | None) -> ContextError:
    """most: the longest context this model could have, when that is more."""
    text = Text(
        "The conversation has {0} tokens; the context holds {1} and the reply.", needed, room
    )
    if most is None:
        step = Text("Shorten the message, remove earlier ones or start a new chat.")
    else:
        step = Text(
            "Shorten the message, remove earlier ones or start a new chat,"
            " or raise the context length (up to {0}).",
            most,
        )
    return ContextError(text, step)


def _next(tokens: Tokens) -> Step:
    """The next token, or the reason that there is none."""
    try:
        return next(tokens)
    except StopIteration as end:
        reason: FinishReason = end.value
        return reason
