"""The engine's commands as the app starts them, from source or frozen. No Qt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

OFFICIAL_HUB = "https://huggingface.co"
STARTER_NAME = "SmolLM2-135M-Instruct-int8"
SourceKind = Literal["starter", "hub", "local"]


@dataclass(frozen=True)
class Order:
    """A model to add. source: a hub id, or a folder or GGUF file; models: where to put it.

    gguf: part of the name of one of several GGUF files; endpoint: a hub or its mirror. by_shard:
    each downloaded file is deleted once it is converted, where the disk holds no more.
    """

    kind: SourceKind = "starter"
    source: str = ""
    models: Path = Path()
    gguf: str = ""
    quant: str = "nf4"
    calibrate: bool = True
    endpoint: str = OFFICIAL_HUB
    with_token: bool = False
    by_shard: bool = False

    @property
    def name(self) -> str:
        """The folder of the result."""
        if self.kind == "starter":
            return STARTER_NAME
        last = self.source.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        if last.lower().endswith(".gguf"):
            last = last[:-5]
        return f"{last or 'model'}-{self.quant}"

    def command(self) -> list[str]:
        """What fetches and converts it; the same command goes on after any interruption."""
        if self.kind == "starter":
            return starter_command(self.models)
        calibrate = [] if self.calibrate else ["--calibrate", "none"]
        if self.kind == "hub":
            return [*self._get(), *calibrate, *(["--shard-by-shard"] if self.by_shard else [])]
        out = str(self.models / self.name)
        place = ["--model", self.source, "--out", out, "--quant", self.quant]
        return [*engine_command(), "prepare", *place, *calibrate, "--progress", "json"]

    def look_up_command(self) -> list[str]:
        """What tells how large a hub's model will be, without fetching it."""
        return [*self._get(), "--dry-run"]

    def _get(self) -> list[str]:
        more = ["--gguf", self.gguf] if self.gguf else []
        more += ["--token-stdin"] if self.with_token else []
        place = ["--endpoint", self.endpoint, "--models-dir", str(self.models)]
        get = [*engine_command(), "get", "--quant", self.quant, *place, *more]
        return [*get, "--progress", "json", f"{self.source}"]


def is_address(text: str) -> bool:
    """Whether a hub or a proxy could be at this address."""
    try:
        parts = urlsplit(text)
        port = parts.port  # raises for a number that no port has
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and " " not in text
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain and port != 0


def engine_command() -> list[str]:
    """How the engine's command line is started."""
    if getattr(sys, "frozen", False):
        name = "edge0-cli.exe" if sys.platform == "win32" else "edge0-cli"
        return [str(Path(sys.executable).with_name(name))]
    return [sys.executable, "-m", "engine.cli"]


def starter_command(models: Path) -> list[str]:
    """The command that fetches the starter and puts it into the models folder."""
    return [*engine_command(), "starter", "--progress", "json", "--models-dir", str(models)]


def verify_command(model: Path) -> Sequence[str]:
    """Read a whole model and compare its hashes."""
    return [*engine_command(), "doctor", str(model), "--deep", "--json"]


def compact_command(model: Path) -> Sequence[str]:
    """Lay a model's experts out by their use."""
    return [*engine_command(), "prepare", "compact", str(model), "--progress", "json"]


def move_command(model: Path, folder: Path) -> Sequence[str]:
    """Move a model into another folder."""
    return [*engine_command(), "move", str(model), str(folder), "--progress", "json"]
