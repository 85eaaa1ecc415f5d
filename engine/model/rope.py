"""Rotary frequencies with the context-extension schemes of `transformers` (modeling_rope_utils.py).

Pure maths on checked numbers, in float64; agrees with transformers' float32 to its rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

RopeKind = Literal["default", "linear", "dynamic", "llama3", "yarn"]


@dataclass(frozen=True)
class RopeScaling:
    """How the context was extended. `original_positions`: positions the model saw before that.

    attention_factor, mscale, mscale_all_dim: YaRN's temperature; None derives it from `factor`.
    dynamic changes nothing up to the model's own limit, which we never pass.
    """

    kind: RopeKind = "default"
    factor: float = 1.0
    original_positions: int = 0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True


def frequencies(dim: int, base: float, scaling: RopeScaling) -> tuple[float, ...]:
    """Inverse frequencies (dim // 2,) of a rotary part `dim` columns wide."""
    plain = [base ** (-i / dim) for i in range(0, dim, 2)]
    match scaling.kind:
        case "linear":
            plain = [f / scaling.factor for f in plain]
        case "llama3":
            plain = [_llama3(f, scaling) for f in plain]
        case "yarn":
            plain = _yarn(plain, dim, base, scaling)
    return tuple(plain)


def attention_factor(scaling: RopeScaling) -> float:
    """What cos and sin are multiplied with; 1 except for YaRN (arXiv 2309.00071)."""
    if scaling.kind != "yarn":
        return 1.0
    if scaling.attention_factor is not None:
        return scaling.attention_factor
    if scaling.mscale and scaling.mscale_all_dim:
        top = _temperature(scaling.factor, scaling.mscale)
        return top / _temperature(scaling.factor, scaling.mscale_all_dim)
    return _temperature(scaling.factor, 1.0)


def _temperature(factor: float, mscale: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def _llama3(frequency: float, s: RopeScaling) -> float:
    wavelength = 2 * math.pi / frequency
    if wavelength > s.original_positions / s.low_freq_factor:
        return frequency / s.factor
    if wavelength < s.original_positions / s.high_freq_factor:
        return frequency
    span = s.high_freq_factor - s.low_freq_factor
    smooth = (s.original_positions / wavelength - s.low_freq_factor) / span
    return (1 - smooth) * frequency / s.factor + smooth * frequency


def _yarn(plain: list[float], dim: int, base: float, s: RopeScaling) -> list[float]:
    low, high = _yarn_range(dim, base, s)
    span = high - low if high != low else 0.001
    result = []
    for i, f in enumerate(plain):
        ramp = min(max((i - low) / span, 0.0), 1.0)  # 0 keeps the frequency, 1 stretches it
        result.append(f / s.factor * ramp + f * (1 - ramp))
    return result


def _yarn_range(dim: int, base: float, s: RopeScaling) -> tuple[float, float]:
    def dimension(rotations: float) -> float:
        turns = s.original_positions / (rotations * 2 * math.pi)
        return dim * math.log(turns) / (2 * math.log(base))

    low, high = dimension(s.beta_fast), dimension(s.beta_slow)
    if s.truncate:
        low, high = math.floor(low), math.ceil(high)
    return max(low, 0), min(high, dim - 1)
