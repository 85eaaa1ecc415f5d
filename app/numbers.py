"""Numbers as a person reads them: decimal units, three digits, a dash for what is not known. No
Qt."""

from __future__ import annotations

UNKNOWN = "–"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(count: float | None) -> str:
    """Bytes: "1.23 GB" (GB is 10^9)."""
    if count is None:
        return UNKNOWN
    unit = 0
    while count >= 999.5 and unit < len(_UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{_digits(count) if unit else int(count)} {_UNITS[unit]}"


def rate(bytes_per_second: float | None) -> str:
    """Bytes a second: "812 MB/s"."""
    return UNKNOWN if bytes_per_second is None else f"{size(bytes_per_second)}/s"


def seconds(value: float | None) -> str:
    """A duration: "0.42 s", "12.5 s", "3 min 5 s"."""
    if value is None:
        return UNKNOWN
    if value >= 100:
        return f"{int(value) // 60} min {int(value) % 60} s"
    return f"{_digits(value)} s"


def speed(tokens_per_second: float | None) -> str:
    """Tokens a second: "14.2 tok/s"."""
    return UNKNOWN if tokens_per_second is None else f"{_digits(tokens_per_second)} tok/s"


def percent(share: float | None) -> str:
    """A share of 1: "71.4 %"."""
    return UNKNOWN if share is None else f"{_digits(share * 100)} %"


def per_second(value: float | None) -> str:
    """Events a second, in whole ones."""
    return UNKNOWN if value is None else f"{value:,.0f}/s"


def _digits(value: float) -> str:
    return (
        f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    )
