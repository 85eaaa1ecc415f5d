"""How patient a download is: numbers, checked when made, and the waits that follow from them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from engine.errors import ConfigError
from engine.hub.part import RANGE_BYTES
from engine.text import Text


@dataclass(frozen=True)
class DownloadPolicy:
    """attempts: failures in a row, with nothing arriving anywhere, before we give up (10 minutes).

    stall_s: a connection without a byte for so long is dropped; min_bytes is what must come in it.
    quiet_s: nothing arrives for so long: the progress says so.
    """

    range_bytes: int = RANGE_BYTES
    connect_timeout_s: float = 15.0
    stall_s: float = 20.0
    min_bytes: int = 4096
    first_delay_s: float = 1.0
    max_delay_s: float = 60.0
    attempts: int = 14
    report_s: float = 0.25
    quiet_s: float = 3.0
    sync_s: float = 1.0
    close_s: float = 0.4  # how long a stop waits for threads to notice
    dice: random.Random = field(default_factory=random.Random, compare=False)

    def __post_init__(self) -> None:
        if self.range_bytes < 1 or self.attempts < 1 or self.stall_s <= 0:
            text = Text("The download's policy cannot work.")
            raise ConfigError(text, Text("Use numbers above 0."))

    def delay_s(self, failures: int) -> float:
        """How long to wait after this many failures in a row: doubling, with jitter."""
        longest = min(self.max_delay_s, self.first_delay_s * 2.0 ** min(failures - 1, 30))
        return longest * self.dice.uniform(0.5, 1.0)
