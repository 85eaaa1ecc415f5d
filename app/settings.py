"""The user's settings: a frozen record in one JSON file. No Qt.

Written to a temporary file, synced and moved into place; a file that cannot be read is set aside,
never overwritten, and reported; a single bad value falls back to its default and is reported by
name.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from app.json_file import write_json
from app.sampling import Sampling
from engine import ConfigError, Edge0Config

ThemeChoice = Literal["auto", "light", "dark"]
LanguageChoice = Literal["auto", "en", "zh"]
IoChoice = Literal["auto", "mapped", "direct"]
LARGEST = 1 << 20
VERSION = 2  # 1 stored every sampling value, also those nobody had chosen
_UNCHOSEN = {"temperature": 0.7, "top_k": 40, "top_p": 0.95, "min_p": 0, "repetition_penalty": 1}


@dataclass(frozen=True)
class Settings:
    """Everything the user chose. `models` are the folders used so far, the last used first.

    models_folder: where models are put, "" for the usual place; hub_endpoint: "" for the official;
    hub_proxy: "" for the system's own; hub_token_kept: the system keeps a token of ours.
    """

    theme: ThemeChoice = "auto"
    language: LanguageChoice = "auto"
    memory_budget_gb: float | None = None
    io_mode: IoChoice = "auto"
    threads: int | None = None
    context_tokens: int | None = None
    system_prompt: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    models: tuple[str, ...] = ()
    models_folder: str = ""
    hub_endpoint: str = ""
    hub_proxy: str = ""
    hub_token_kept: bool = False
    show_sidebar: bool = True
    show_panel: bool = True
    ctrl_enter_sends: bool = False
    geometry: str = ""

    def engine_config(self, model: Path) -> Edge0Config:
        """The engine's options for opening `model`."""
        return Edge0Config(
            model_path=model,
            memory_budget_gb=self.memory_budget_gb,
            use_mmap={"auto": None, "mapped": True, "direct": False}[self.io_mode],
            context_tokens=self.context_tokens,
            threads=self.threads,
        )

    @property
    def models_override(self) -> Path | None:
        """The user's own models folder."""
        return Path(self.models_folder) if self.models_folder else None

    def with_model(self, model: Path) -> Settings:
        """The same settings with `model` as the last used one."""
        rest = tuple(known for known in self.models if known != str(model))
        return replace(self, models=(str(model), *rest))


def read_settings(path: Path) -> tuple[Settings, list[str]]:
    """Read the file; the second value names what had to be given up (for the user)."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Settings(), []
    except OSError as error:
        return Settings(), [f"{path}: {error.strerror}"]
    try:
        if len(data) > LARGEST:
            raise ValueError("too large")
        values = json.loads(data)
        if not isinstance(values, dict):
            raise ValueError("not an object")
    except ValueError:
        return Settings(), [str(_set_aside(path))]
    return _from_values(_modern(values))


def write_settings(path: Path, settings: Settings) -> None:
    """Replace the file in one step. Raises OSError."""
    write_json(path, {"version": VERSION, **asdict(settings)})


def _set_aside(path: Path) -> Path:
    aside = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    os.replace(path, aside)
    return aside


def _modern(values: dict[str, Any]) -> dict[str, Any]:
    """What an older version wrote, as this one would: its own defaults were nobody's choice."""
    sampling = values.get("sampling")
    if values.get("version") != 1 or not isinstance(sampling, dict):
        return values
    chosen = {k: v for k, v in sampling.items() if k not in _UNCHOSEN or v != _UNCHOSEN[k]}
    return {**values, "sampling": chosen}


def _from_values(values: dict[str, Any]) -> tuple[Settings, list[str]]:
    hints = get_type_hints(Settings)
    good: dict[str, Any] = {}
    bad: list[str] = []
    for item in fields(Settings):
        if item.name not in values:
            continue
        try:
            good[item.name] = _decode(hints[item.name], values[item.name])
        except (TypeError, ValueError, ConfigError):
            bad.append(item.name)
    settings = Settings(**good)
    try:
        settings.engine_config(Path("x"))
    except ConfigError as error:
        bad.append(error.message)
        settings = replace(settings, memory_budget_gb=None, threads=None, context_tokens=None)
    return settings, bad


def _decode(hint: Any, value: Any) -> Any:
    """`value` as the annotated type; TypeError when it is another one."""
    if hint is Sampling:
        return _decode_sampling(value)
    if get_origin(hint) is Literal:
        return _checked(value in get_args(hint), value)
    if get_origin(hint) is tuple:
        return tuple(_checked(isinstance(item, str), item) for item in value)
    kinds = get_args(hint) or (hint,)
    if float in kinds and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _checked(type(value) in kinds, value)


def _decode_sampling(value: Any) -> Sampling:
    hints = get_type_hints(Sampling)
    items = _checked(isinstance(value, dict), value).items()
    known = {name: _decode(hints[name], item) for name, item in items if name in hints}
    return Sampling(**known)


def _checked(good: bool, value: Any) -> Any:
    if not good:
        raise TypeError(type(value).__name__)
    return value
