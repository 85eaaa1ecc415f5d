"""The part of the engine's door that the app uses, as protocols, so tests can hand in a fake
engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from engine import Edge0Config, GenerateOptions, Progress, ReplyEvent


class EngineSession(Protocol):
    """One chat's engine side."""

    def reply(self, messages: Sequence[Any], options: GenerateOptions) -> Iterator[ReplyEvent]: ...

    def stop(self) -> None: ...


class EngineRuntime(Protocol):
    """An opened model."""

    @property
    def default_options(self) -> GenerateOptions: ...

    def session(self) -> EngineSession: ...

    def snapshot(self) -> Any: ...

    def warm_up(self, seconds: float) -> int: ...

    def close(self) -> None: ...


class RuntimeFactory(Protocol):
    """The class `Edge0Runtime`."""

    def from_config(
        self, config: Edge0Config, progress: Callable[[Progress], None] | None = None
    ) -> EngineRuntime: ...


class Door(Protocol):
    """The module `engine`, or something that stands in for it."""

    @property
    def Edge0Runtime(self) -> RuntimeFactory: ...

    def Message(self, role: str, content: str) -> Any: ...

    def Snapshot(self) -> Any: ...

    @property
    def Rates(self) -> Any: ...

    def list_models(self, folder: Path | None = None) -> Sequence[Any]: ...

    def forget_all(self) -> int: ...

    def inspect_model(self, path: Path) -> Any: ...

    def models_dir(self, override: Path | None = None) -> Path: ...

    def survey(self, folder: Path) -> Any: ...
