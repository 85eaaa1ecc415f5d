"""How often experts are found in memory, by the share of them that is held: measured curves.

Pure. Decode's hit rates from `tests/bench/replay.py`, policy "decayed", first uses left out, on
traces of Qwen3-30B-A3B (low) and gpt-oss-120b (high).
"""

from __future__ import annotations

from bisect import bisect_left

from engine.store.needs import MemoryNeeds

Curve = tuple[tuple[float, float], ...]

HITS_LOW: Curve = ((0.0, 0.0), (0.03, 0.06), (0.06, 0.41), (0.125, 0.65), (0.19, 0.78),
                   (0.25, 0.86), (0.375, 0.96), (0.5, 0.99), (1.0, 1.0))  # fmt: skip
HITS_HIGH: Curve = ((0.0, 0.0), (0.03, 0.36), (0.06, 0.56), (0.125, 0.73), (0.19, 0.82),
                    (0.25, 0.87), (0.375, 0.96), (0.5, 1.0), (1.0, 1.0))  # fmt: skip
PAGE_CACHE_SHARE = 0.7  # of the memory left over, what the system really gives to our files


def slots_share(needs: MemoryNeeds, budget_bytes: int) -> float:
    """Share of all experts that the budget holds."""
    slots = max(0, budget_bytes - needs.fixed_bytes) // needs.record_bytes
    return min(1.0, slots / needs.experts_total)


def hit_rate(needs: MemoryNeeds, share: float, curve: Curve) -> float:
    """Share of uses found when this share of experts is held.

    Never above what is held of one token's experts: a dense model uses all of them every time.
    """
    held = share * needs.experts_total / needs.token_cycle_records
    return min(_interpolated(curve, share), held)


def _interpolated(curve: Curve, x: float) -> float:
    place = bisect_left(curve, (x, 0.0))
    if place == 0:
        return curve[0][1]
    if place == len(curve):
        return curve[-1][1]
    (left, low), (right, high) = curve[place - 1], curve[place]
    return low + (high - low) * (x - left) / (right - left)
