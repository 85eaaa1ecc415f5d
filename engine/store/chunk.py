"""How many tokens of a prompt go through the model at once. Pure.

A chunk reads nearly every expert that is not held, once: the longer it is, the less a long prompt
reads. But its workspace takes the place of expert slots, which every later token misses. So the
length is chosen by the time an agent's turn takes with it: a long prompt, a short reply.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from engine.store.hits import HITS_LOW, hit_rate
from engine.store.knee import TokenSpeeds
from engine.store.needs import MemoryNeeds

LENGTHS = (32, 128, 512, 1024)
PROMPT, REPLY = 2000, 200  # tokens of the turn
PREFILL_GAIN = 6.0  # a prompt's token is computed so much faster than a reply's
STEP_TOKENS = 24  # a chunk takes as long as if it had so many more
WORTH = 0.97  # a longer chunk must save this much to be worth its memory
Option = TypeVar("Option")


def turn_seconds(needs: MemoryNeeds, slots: int, chunk: int, speeds: TokenSpeeds) -> float:
    """A turn's prefill and decode with so many expert slots, in seconds."""
    cycle = needs.token_cycle_records * needs.record_bytes
    compute = (needs.dense_bytes + cycle) / speeds.compute_bytes_s
    share = min(1.0, slots / needs.experts_total)
    missed = (1 - share) * needs.experts_total * needs.record_bytes
    chunks = math.ceil(PROMPT / chunk)
    reading = chunks * missed / speeds.drive_bytes_s
    computing = (PROMPT + chunks * STEP_TOKENS) * compute / PREFILL_GAIN
    token = compute + (1 - hit_rate(needs, share, HITS_LOW)) * cycle / speeds.drive_bytes_s
    return max(reading, computing) + REPLY * token


def best(options: Sequence[tuple[float, Option]]) -> Option:
    """Of (seconds, option), shortest chunk first: the last that was worth its memory."""
    chosen = options[0]
    for option in options[1:]:
        if option[0] <= WORTH * chosen[0]:
            chosen = option
    return chosen[1]
