"""Strict decoding: right types pass exactly, anything else is a ContainerError."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.container.strict import decode, parse_json
from engine.errors import ContainerError


@dataclass(frozen=True)
class Inner:
    name: Literal["a", "b"]
    number: int


@dataclass(frozen=True)
class Outer:
    ratio: float
    flag: bool
    window: int | None
    inner: tuple[Inner, ...]
    table: dict[str, int]


GOOD = {
    "ratio": 0.5,
    "flag": True,
    "window": None,
    "inner": [{"name": "a", "number": 3}],
    "table": {"x": 1},
}


def test_a_good_value_round_trips():
    value = decode(Outer, GOOD, "file")
    assert value == Outer(0.5, True, None, (Inner("a", 3),), {"x": 1})
    assert decode(Outer, {**asdict(value), "inner": GOOD["inner"]}, "file") == value


@pytest.mark.parametrize(
    "change",
    [
        {"ratio": "0.5"},
        {"ratio": True},
        {"ratio": float("inf")},
        {"flag": 1},
        {"window": 1.0},
        {"window": -1},
        {"window": 1 << 60},
        {"inner": {}},
        {"inner": [{"name": "c", "number": 3}]},
        {"inner": [{"name": ["a"], "number": 3}]},
        {"inner": [{"name": "a"}]},
        {"inner": [{"name": "a", "number": 3, "more": 1}]},
        {"table": []},
        {"table": {"x": True}},
        {"extra": 1},
    ],
)
def test_wrong_values_say_where(change):
    with pytest.raises(ContainerError, match="file"):
        decode(Outer, {**GOOD, **change}, "file")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_random_json_never_gives_another_error(value):
    with pytest.raises(ContainerError):
        decode(Outer, value, "file")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"a":1,"a":2}',
        b"[NaN]",
        b"[-Infinity]",
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 5000,
        b'"\xed\xa0\x80"',
    ],
)
def test_text_that_is_no_strict_json(data):
    with pytest.raises(ContainerError, match=r"manifest\.json"):
        parse_json(data, "manifest.json")
