"""Sums rows of `limits` up: medians over the rounds, and each time against its bounds. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.bench.running import summary

MIB = 1 << 20
Numbers = Mapping[str, float | str]


@dataclass(frozen=True)
class Row:
    """One phase (cold or warm) of one engine under one limit, in one round."""

    limit: str
    engine: str
    phase: str = ""
    numbers: Numbers = field(default_factory=dict)
    error: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What rows of different rounds have in common."""
        return self.limit, self.engine, self.phase

    def measured(self, phase: str, numbers: Numbers) -> Row:
        """This row with what was found."""
        return replace(self, phase=phase, numbers=numbers)

    def failed(self, phase: str, error: str, oom_kills: int) -> Row:
        """This row without numbers."""
        return replace(self, phase=phase, error=error, numbers={"oom_kills": oom_kills})


def report(rows: Sequence[Row], drive_bytes_s: float) -> dict[str, Any]:
    """Every case with its medians, bounds and ratios, in the order they were first measured."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(row.key, []).append(row)
    cases = {key: _case(found) for key, found in groups.items()}
    ours = cases.get(("resident", "edge0", "warm"))
    peer = cases.get(("resident", "llama.cpp", "warm"))
    for (limit, engine, _), case in cases.items():
        if limit != "resident" and "decode_tok_s" in case:
            if ours and engine.startswith("edge0"):
                case |= _bounds(case, ours, drive_bytes_s)
            case |= _ratios(case, "edge0", ours) | _ratios(case, "llama.cpp", peer)
    names = ("limit", "engine", "phase")
    return {"cases": [dict(zip(names, key, strict=True)) | case for key, case in cases.items()]}


def _case(rows: Sequence[Row]) -> dict[str, Any]:
    """Summaries of each number over the rounds; texts as found; the errors."""
    case: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row.numbers):
        found = [row.numbers[name] for row in rows if name in row.numbers]
        numbers = [value for value in found if not isinstance(value, str)]
        case[name] = summary(numbers) if numbers else ", ".join(sorted({str(v) for v in found}))
    errors = [row.error for row in rows if row.error]
    return case | ({"errors": errors} if errors else {})


def _bounds(case: dict[str, Any], resident: dict[str, Any], drive: float) -> dict[str, float]:
    """decode: the larger of computing and reading; prefill: their sum."""
    token_read = _middle(case, "decode_missed_mib") * MIB / drive
    token_compute = 1 / _middle(resident, "decode_tok_s")
    token_bound = max(token_compute, token_read)
    first_read = _middle(case, "prefill_missed_mib") * MIB / drive
    first_bound = first_read + _middle(resident, "first_token_s")
    return {
        "token_ms": round(1000 / _middle(case, "decode_tok_s"), 2),
        "token_read_ms": round(1000 * token_read, 2),
        "token_compute_ms": round(1000 * token_compute, 2),
        "token_over_bound": round(1 / _middle(case, "decode_tok_s") / token_bound, 3),
        "first_token_read_s": round(first_read, 2),
        "first_token_over_bound": round(_middle(case, "first_token_s") / first_bound, 3),
    }


def _ratios(
    case: dict[str, Any], name: str, resident: dict[str, Any] | None
) -> dict[str, dict[str, float]]:
    """Decode speed and first-token time as multiples of an engine's with everything in memory."""
    if resident is None or "decode_tok_s" not in resident:
        return {}
    ratios = {n: _middle(case, n) / _middle(resident, n) for n in ("decode_tok_s", "first_token_s")}
    return {f"of_resident_{name}": {n: round(value, 3) for n, value in ratios.items()}}


def _middle(case: dict[str, Any], name: str) -> float:
    value: float = case[name]["median"]
    return value
