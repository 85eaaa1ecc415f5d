"""The length of a prefill chunk: memory for it only where a turn gets shorter."""

from __future__ import annotations

from dataclasses import replace

from engine.store.chunk import LENGTHS, best, turn_seconds
from engine.store.knee import TokenSpeeds
from engine.store.needs import GB
from tests.helpers.needs import QWEN

TOKEN_WORKSPACE = 400_000
BIG = replace(QWEN, workspace_bytes=0)


def chosen(budget_gb: float, speeds: TokenSpeeds) -> int:
    options = []
    for length in LENGTHS:
        needs = replace(BIG, workspace_bytes=length * TOKEN_WORKSPACE)
        left = int(budget_gb * GB) - needs.fixed_bytes
        slots = min(left // needs.record_bytes, needs.experts_total)
        if slots >= needs.floor_slots:
            options.append((turn_seconds(needs, slots, length, speeds), length))
    return best(options)


def test_a_slow_drive_makes_long_chunks_worth_their_memory() -> None:
    assert chosen(4, TokenSpeeds(drive_bytes_s=1e9)) == 1024
    assert chosen(8, TokenSpeeds(drive_bytes_s=0.5e9)) == 1024


def test_nothing_is_spent_where_nothing_is_read() -> None:
    assert chosen(20, TokenSpeeds(drive_bytes_s=1e9)) == 512
    assert chosen(8, TokenSpeeds(drive_bytes_s=7e9)) == 512


def test_a_small_budget_keeps_its_memory_for_experts() -> None:
    assert chosen(1.7, TokenSpeeds(drive_bytes_s=2e9)) <= 512


def test_a_longer_chunk_reads_less_and_never_computes_more() -> None:
    speeds = TokenSpeeds()
    seconds = [turn_seconds(BIG, 1000, length, speeds) for length in LENGTHS]
    assert seconds == sorted(seconds, reverse=True)
