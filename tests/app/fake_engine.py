"""A stand-in for the engine's door: the same names, no model. Replies are scripted by the prompt
or the test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engine import (
    ConfigError,
    Edge0Config,
    Edge0Error,
    Finished,
    GenerateOptions,
    IoChoice,
    MemoryChange,
    PrefillProgress,
    Progress,
    ReplyEvent,
    ReplyStats,
    TextDelta,
)
from engine.hub.token_store import TokenStore
from engine.hub.unfinished import drop_unfinished, list_unfinished, receipt
from engine.telemetry import Rates, Snapshot
from tests.helpers.fake_keyring import Works


@dataclass(frozen=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True)
class Installed:
    path: Path
    name: str
    size_bytes: int = 18_000_000_000
    format: str = "nf4"
    experts: int = 128
    top_k: int = 8
    dense: bool = False
    problem: str = ""
    next_step: str = ""
    unfinished: bool = False
    damaged: bool = False


@dataclass
class Script:
    """How the fake behaves: pieces of a reply, pauses, failures."""

    pieces: Callable[[Sequence[Message]], Sequence[str]] = lambda messages: ["Hello", " there", "."]
    piece_s: float = 0.0
    load_s: float = 0.0
    fail_load: Edge0Error | None = None
    fail_reply: Edge0Error | None = None
    own: GenerateOptions = field(default_factory=GenerateOptions)
    options: list[GenerateOptions] = field(default_factory=list)
    replies: list[tuple[Message, ...]] = field(default_factory=list)
    loads: list[Path] = field(default_factory=list)
    closes: int = 0
    warm_slices: int = 0  # how many are left to do
    warmed: int = 0
    threads: set[str] = field(default_factory=set)


class FakeSession:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._stop = threading.Event()

    def stop(self) -> None:
        self._stop.set()

    def reply(self, messages: Sequence[Message], options: GenerateOptions) -> Iterator[ReplyEvent]:
        script = self._script
        self._stop.clear()
        script.replies.append(tuple(messages))
        script.options.append(options)
        script.threads.add(threading.current_thread().name)
        if script.fail_reply is not None:
            raise script.fail_reply
        yield PrefillProgress(0, 40)
        yield PrefillProgress(40, 40)
        count = 0
        for piece in script.pieces(messages):
            if self._stop.is_set():
                yield Finished("stopped", _stats(count))
                return
            yield TextDelta(piece)
            count += 1
            if script.piece_s:
                self._stop.wait(script.piece_s)
        yield Finished("stop", _stats(count))


def _stats(count: int) -> ReplyStats:
    return ReplyStats(
        prompt_tokens=248,
        reused_tokens=120,
        generated_tokens=max(count, 1),
        prefill_s=0.31,
        first_token_s=0.42,
        decode_s=max(count - 1, 1) / 14.2,
        expert_hits=7130,
        expert_misses=1870,
        expert_bytes_read=4_900_000_000,
        kv_bytes=201_000_000,
    )


class FakeRuntime:
    def __init__(self, door: FakeEngine) -> None:
        self._door = door

    @property
    def default_options(self) -> GenerateOptions:
        return self._door.script.own

    def session(self) -> FakeSession:
        return FakeSession(self._door.script)

    def snapshot(self) -> Snapshot:
        return self._door.engine_snapshot

    def warm_up(self, seconds: float) -> int:
        script = self._door.script
        script.threads.add(threading.current_thread().name)
        if not script.warm_slices:
            return 0
        script.warm_slices -= 1
        script.warmed += 1
        return 8

    def close(self) -> None:
        self._door.script.closes += 1


class FakeEngine:
    """Has the door's names that the app uses."""

    Message = Message
    Snapshot = Snapshot
    Rates = Rates
    list_unfinished = staticmethod(list_unfinished)
    drop_unfinished = staticmethod(drop_unfinished)
    receipt = staticmethod(receipt)

    def __init__(self, models: Sequence[Installed] = (), script: Script | None = None) -> None:
        self.script = script or Script()
        self.models = list(models)
        self.engine_snapshot = replace(
            Snapshot(),
            kv_bytes=201_000_000,
            io_mode="mapped",
            io=IoChoice("mapped", "room", "Mapped: there is room."),
            memory_change=MemoryChange("shrunk", 4_000_000_000, 3_000_000_000, "Memory was short."),
            isa="avx512",
            budget_bytes=3_000_000_000,
        )
        self.keyring: Works = Works()
        self.forgotten = 0  # how often all saved prefixes were deleted
        self.Edge0Runtime = SimpleNamespace(from_config=self._from_config)

    def TokenStore(self) -> TokenStore:
        return TokenStore(self.keyring)

    def forget_all(self) -> int:
        self.forgotten += 1
        return 0

    def list_models(self, folder: Path | None = None) -> list[Installed]:
        return list(self.models)

    def inspect_model(self, path: Path) -> Installed:
        return Installed(path, path.name)

    def models_dir(self, override: Path | None = None) -> Path:
        return override or Path("models")

    def _from_config(self, config: Edge0Config, progress: Callable[[Progress], None]) -> Any:
        script = self.script
        for done in range(3):
            progress(Progress(done, 3, "dense weights"))
            time.sleep(script.load_s / 3)
        if script.fail_load is not None:
            raise script.fail_load
        if not Path(config.model_path).exists():
            raise ConfigError("gone")
        script.loads.append(Path(config.model_path))
        return FakeRuntime(self)


def installed(folder: Path, name: str = "Qwen3-30B-A3B nf4") -> Installed:
    """Make a folder that looks like a converted model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    return Installed(folder, name)
