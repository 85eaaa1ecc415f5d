"""A model opened for use as it was planned: ties its parts together and hands out sessions.

Owned by one thread; `snapshot` and a session's `stop` may be called from any. Memory: bounded by
the plan; `close` gives all of it back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.chat.decode import generate_ids
from engine.chat.prefix_cache import PrefixCache
from engine.chat.recommended import recommended_options
from engine.chat.session import Session
from engine.chat.snapshots import Snapshots, open_snapshots
from engine.chat.template import ChatTemplate, Message
from engine.chat.tokenizer import Tokenizer
from engine.config import Edge0Config, GenerateOptions
from engine.container.reader import Container
from engine.errors import ChatError
from engine.events import Finished, Progress, ReplyStats, TextDelta
from engine.machine.cpu import compute_threads
from engine.model.executor import NativeExecutor
from engine.model.families.registry import by_model_type
from engine.model.model import Model
from engine.model.placement import ExpertFiles, Placement, choose_io
from engine.model.planning import plan_opening
from engine.stop import StopFlag
from engine.store.budget import MemoryPlan
from engine.store.policy import DecayedFrequency
from engine.store.usage import Counts, LearnedUsage, open_usage, warm_order
from engine.store.warm import warm_start
from engine.telemetry import Snapshot
from engine.text import Text

OPEN_WARM_S = 1.0  # reading experts ahead may delay the opening of a model by so much


class Edge0Runtime:
    """One open model. Use as a context manager, or call `close`."""

    def __init__(
        self,
        model: Model,
        placement: Placement,
        config: Edge0Config,
        usage: LearnedUsage,
        snapshots: Snapshots | None = None,
    ) -> None:
        self.model = model
        self._placement = placement
        self._usage = usage
        self._cache = PrefixCache(model, snapshots)  # shared by all sessions: there is one KV cache
        self.config = config
        self._last = ReplyStats()
        self._tokenizer: Tokenizer | None = None
        # how the model's makers want it sampled; read once: the folder may go away meanwhile
        self.default_options: GenerateOptions = recommended_options(self._path)

    @classmethod
    def from_config(
        cls, config: Edge0Config, progress: Callable[[Progress], None] | None = None
    ) -> Edge0Runtime:
        """Open the model.

        Raises ContainerError, BudgetError, StorageError, UnsupportedModelError.
        """
        report = progress or (lambda event: None)
        report(Progress(0, 2, Text("reading the manifest")))
        container = Container.open(Path(config.model_path))
        container.refuse_known_damage()
        program = by_model_type(container.family).program(container.shape)
        opening = plan_opening(container, program, config)
        plan, context = opening.plan, opening.needs.context_tokens
        report(Progress(1, 2, Text("loading the dense weights")))
        keys = container.shape.layers * container.shape.experts
        usage = open_usage(container, config.cache_dir, DecayedFrequency(keys))
        files = ExpertFiles(container, usage.recorder)
        choice = choose_io(files, config.io_mode, opening.needs, plan, opening.available)
        store = files.open(choice.mode, plan.expert_slots)
        threads = config.threads or compute_threads()
        executor = NativeExecutor(
            container,
            program,
            store,
            context,
            opening.chunk,
            threads,
            config.isa,
            config.prefetch_experts,
            config.kv_format,
        )
        model = Model(container, executor, store, context, config.kv_format)
        placement = Placement(model, files, opening.needs, plan, choice)
        model.before_chunk = placement.before_chunk
        snapshots = open_snapshots(config, container, model)
        runtime = cls(model, placement, config, usage, snapshots)
        runtime.warm_up(OPEN_WARM_S)
        report(Progress(2, 2, Text("ready")))
        return runtime

    def session(self) -> Session:
        """A conversation on this model; sessions take turns."""
        return Session(self._cache, self.tokenizer, ChatTemplate.load(self._path), self._note)

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer. Raises ChatError when the folder has none."""
        if self._tokenizer is None:
            self._tokenizer = Tokenizer.load(self._path)
        return self._tokenizer

    def generate(self, prompt: str, max_tokens: int = 256, **options: Any) -> str:
        """The reply to one user message. `options` are fields of GenerateOptions."""
        chosen = replace(self.default_options, max_tokens=max_tokens, **options)
        events = self.session().reply([Message("user", prompt)], chosen)
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    def generate_ids(self, ids: Sequence[int], options: GenerateOptions) -> list[int]:
        """Token ids that follow `ids`; ends at the model's stop tokens or at max_tokens."""
        with self._cache.exclusive():
            reused = self._cache.keep(ids)
            new, history = ids[reused:], ids[:reused]
            stop_ids = self._stop_ids()
            tokens = generate_ids(self._cache, new, options, stop_ids, StopFlag(), None, history)
            written = list(tokens)
            self._usage.forget()  # ids may be anything; only conversations teach us
            return written

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Logits (len(ids), vocab) after every id."""
        with self._cache.exclusive():
            self._cache.rewind(0)
            logits = self._cache.forward(ids, StopFlag(), all_logits=True)
            self._usage.forget()
            return logits

    @property
    def plan(self) -> MemoryPlan:
        """How memory is split now."""
        return self._placement.plan

    @property
    def context_tokens(self) -> int:
        """Tokens the KV cache can hold."""
        return self.model.context_tokens

    def encode(self, text: str) -> list[int]:
        """Token ids of a text. Raises ChatError when the model has no tokenizer."""
        return self.tokenizer.encode(text)

    def routing(self, ids: Sequence[int], stop: StopFlag) -> Counts:
        """How many of these tokens, read from an empty cache, each (layer, expert) was used for.

        Raises Stopped, StorageError, ContextError.
        """
        with self._cache.exclusive():
            self._cache.rewind(0)
            self._usage.forget()
            self._cache.forward(ids, stop)
            uses = self._usage.recorder.uses
            self._usage.forget()
            return uses

    def warm_up(self, seconds: float = math.inf, stop: StopFlag | None = None) -> int:
        """Read the experts used most into free memory; how many were read.

        For a moment in which nobody waits: ends after `seconds`, when memory is full or nothing is
        left to read. Does nothing while a reply is written.
        """
        if self._cache.busy:
            return 0
        with self._cache.exclusive():
            self._placement.before_chunk(0)
            keys = warm_order(self._usage.rates)
            return warm_start(self.model.store, keys, stop or StopFlag(), seconds)

    def snapshot(self) -> Snapshot:
        """What memory, disk and the model do now."""
        executor, placement = self.model.executor, self._placement
        return Snapshot(
            counters=self.model.counters(),
            kv_bytes=self.model.kv_bytes,
            io_mode=placement.choice.mode,
            isa=executor.isa,
            threads=executor.threads,
            budget_bytes=placement.plan.budget,
            expert_slots=placement.plan.expert_slots,
            plan=placement.plan.lines,
            io=placement.choice,
            memory_change=placement.change,
            first_token_s=self._last.first_token_s,
            prefill_tok_s=self._last.prefill_tok_s,
            decode_tok_s=self._last.decode_tok_s,
        )

    def close(self) -> None:
        """Free the model's memory. The runtime cannot be used afterwards."""
        self._cache.close()
        self.model.close()
        self._placement.close()
        self._usage.close()

    def __enter__(self) -> Edge0Runtime:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _path(self) -> Path:
        return Path(self.config.model_path)

    def _note(self, finished: Finished) -> None:
        self._last = finished.stats
        self._usage.learn()

    def _stop_ids(self) -> frozenset[int]:
        try:
            return frozenset(self.tokenizer.stop_ids)
        except ChatError:  # a folder without a tokenizer still generates ids
            return frozenset()
