"""How fast each model was when it replied last: a small file, written when a reply ends. No Qt."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.json_file import read_json, write_json
from engine import ReplyStats

LARGEST = 300
ENOUGH_TOKENS = 8  # fewer say little about decoding
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Speed:
    """decode_tok_s 0: not known yet. day: when, as YYYY-MM-DD."""

    decode_tok_s: float
    first_token_s: float
    day: str


class Speeds:
    """The last speed of each model folder."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, Speed] = {}
        entries = read_json(file).get("speeds")
        for path, entry in entries.items() if isinstance(entries, dict) else ():
            if (speed := _speed(entry)) is not None:
                self._known[path] = speed

    def of(self, model: Path) -> Speed | None:
        """The last speed of a model, if it ever replied."""
        return self._known.get(str(model))

    def note(self, model: Path, stats: ReplyStats) -> None:
        """A reply ended."""
        before = self.of(model)
        decode = stats.decode_tok_s
        if stats.generated_tokens < ENOUGH_TOKENS:
            decode = before.decode_tok_s if before else 0.0
        self._keep(model, Speed(decode, stats.first_token_s, time.strftime("%Y-%m-%d")))

    def moved(self, old: Path, new: Path) -> None:
        """A model lies elsewhere now."""
        known = self._known.pop(str(old), None)
        if known is not None:
            self._keep(new, known)

    def _keep(self, model: Path, speed: Speed) -> None:
        self._known.pop(str(model), None)
        newest = list(self._known.items())[1 - LARGEST :]
        self._known = {**dict(newest), str(model): speed}
        entries = {path: asdict(known) for path, known in self._known.items()}
        try:
            write_json(self._file, {"version": 1, "speeds": entries})
        except OSError:
            log.exception("the speed could not be noted")


def _speed(entry: Any) -> Speed | None:
    try:
        rate, first = float(entry["decode_tok_s"]), float(entry["first_token_s"])
        return Speed(rate, first, str(entry["day"]))
    except (TypeError, ValueError, KeyError):
        return None
