"""Manifests made to break us, value by value and byte by byte: refused clearly, never a crash."""

from __future__ import annotations

import copy as copying
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.container.checks import check, is_safe_name
from engine.container.manifest import parse
from engine.errors import ContainerError, Edge0Error
from tests.hostile.conftest import checked, refused, rewrite


def swap(entries: list[Any], a: int, b: int) -> None:
    entries[a], entries[b] = entries[b], entries[a]


CHANGES = {
    "overlapping records": lambda m: m["records"][1].update(offset=m["records"][0]["offset"]),
    "a record out of the file": lambda m: m["records"][-1].update(offset=1 << 40),
    "an unaligned record": lambda m: m["records"][2].update(offset=m["records"][2]["offset"] + 64),
    "a record in the header": lambda m: m["records"][0].update(offset=0),
    "a record in no file": lambda m: m["records"][0].update(file=7),
    "a longer record": lambda m: m["records"][0].update(bytes=8192),
    "an empty record": lambda m: m["records"][0].update(bytes=0),
    "a missing record": lambda m: m["records"].pop(),
    "no records": lambda m: m.update(records=[]),
    "a repeated expert": lambda m: m["records"][1].update(expert=0),
    "an expert too many": lambda m: m["records"][1].update(expert=4),
    "mixed layers": lambda m: swap(m["records"], 0, 5),
    "an odd hash": lambda m: m["records"][0].update(sha256="0" * 63 + "g"),
    "overlapping tensors": lambda m: m["tensors"]["layers.0.k"].update(
        offset=m["tensors"]["layers.0.q"]["offset"]
    ),
    "a tensor out of the file": lambda m: m["tensors"]["head"].update(offset=1 << 45),
    "a tensor of another size": lambda m: m["tensors"]["head"].update(bytes=64),
    "a huge tensor": lambda m: m["tensors"]["head"].update(shape=[1 << 24, 1 << 24]),
    "a tensor without sides": lambda m: m["tensors"]["head"].update(shape=[]),
    "a tensor of no rows": lambda m: m["tensors"]["head"].update(shape=[0, 64]),
    "a tensor of four axes": lambda m: m["tensors"]["final_norm"].update(shape=[1, 1, 1, 64]),
    "a tensor of two names": lambda m: m["tensors"]["head"].update(name="heads"),
    "a tensor of another role": lambda m: m["tensors"]["head"].update(role="expert"),
    "a norm in int8": lambda m: m["tensors"]["final_norm"].update(format="int8"),
    "a missing tensor": lambda m: m["tensors"].pop("final_norm"),
    "no tensors": lambda m: m.update(tensors={}),
    "a longer dense file": lambda m: m.update(dense_bytes=m["dense_bytes"] + 64),
    "a path in a side file": lambda m: m["side_files"][0].update(name="../../secret"),
    "an absolute side file": lambda m: m["side_files"][0].update(name="/etc/passwd"),
    "a drive in a side file": lambda m: m["side_files"][0].update(name="C:evil"),
    "a device as a side file": lambda m: m["side_files"][0].update(name="NUL.txt"),
    "a side file twice": lambda m: m["side_files"].append(m["side_files"][0]),
    "ours as a side file": lambda m: m["side_files"][0].update(name="Experts-00001.MOEX"),
    "a path in an expert file": lambda m: m["files"][0].update(name="../experts-00001.moex"),
    "an expert file of an odd name": lambda m: m["files"][0].update(name="experts-01-00001.moex"),
    "an expert file too many": lambda m: m["files"].append(m["files"][0]),
    "no expert files": lambda m: m.update(files=[]),
    "matrices swapped": lambda m: swap(m["layouts"][0]["matrices"], 0, 2),
    "a matrix less": lambda m: m["layouts"][0]["matrices"].pop(),
    "a wider matrix": lambda m: m["layouts"][0]["matrices"][0].update(cols=96),
    "an overlapping matrix": lambda m: m["layouts"][0]["matrices"][1].update(offset=0),
    "another number format": lambda m: m["layouts"][0]["matrices"][1].update(format="int8"),
    "no layouts": lambda m: m.update(layouts=[]),
    "a layout of no layer": lambda m: m["layer_layout"].__setitem__(0, 5),
    "a layer too few": lambda m: m["layer_layout"].pop(),
    "a million layers": lambda m: m["shape"].update(layers=10**6),
    "a million experts": lambda m: m["shape"].update(experts=10**6),
    "no layers": lambda m: m["shape"].update(layers=0),
    "a wide model": lambda m: m["shape"].update(hidden=65536),
    "a huge vocabulary": lambda m: m["shape"].update(vocab=1 << 40),
    "uneven heads": lambda m: m["shape"].update(kv_heads=3),
    "more used than there are": lambda m: m["shape"].update(top_k=5),
    "long rotary": lambda m: m["shape"].update(rope_frequencies=[1.0] * 1000),
    "a window of none": lambda m: m["shape"].update(sliding_window=0),
    "half a dense model": lambda m: m["shape"].update(dense=True),
    "another alignment": lambda m: m.update(record_align=512),
    "an odd id": lambda m: m.update(id="x"),
    "counts of nobody": lambda m: m.update(counts=[[1]]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_manifest_that_makes_no_sense(folder, what):
    rewrite(folder, CHANGES[what])
    refused(folder, r"manifest\.json")


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found = [at]
    if isinstance(value, dict):
        found += [p for key, inner in value.items() for p in paths(inner, (*at, key))]
    if isinstance(value, list):
        found += [p for i, inner in enumerate(value[:2]) for p in paths(inner, (*at, i))]
    return found


def replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    result = copying.copy(value)
    result[at[0]] = replaced(value[at[0]], at[1:], new)
    return result


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.sampled_from([0, 1, 2, 63, 4096, 65536, 1 << 31, 1 << 53]),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=3),
)


@settings(max_examples=400)
@given(data=st.data())
def test_any_value_replaced_by_any_other(good, data):
    at = data.draw(st.sampled_from(paths(good)))
    value = replaced(good, at, data.draw(ODD))
    try:
        checked(value)
    except ContainerError as error:
        assert error.next_step


@settings(max_examples=200)
@given(data=st.data())
def test_any_byte_of_the_manifest_replaced(tiny, data):
    text = bytearray((tiny / "manifest.json").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        check(parse(bytes(text)))
    except Edge0Error as error:
        assert error.next_step


def test_wrong_types_everywhere(good):
    """Each place in turn gets a value of another type; none may pass."""
    for at in paths(good):
        if (at and at[-1] == "counts") or "notes" in at or "stored_types" in at:
            continue
        inner = good
        for key in at:
            inner = inner[key]
        for odd in ("text", {"x": 1}, [[]], True):
            numeric = isinstance(inner, int | float) and not isinstance(inner, bool)
            same = type(odd) is type(inner) or (numeric and type(odd) in (int, float))
            if not same:
                with pytest.raises(ContainerError):
                    checked(replaced(good, at, odd))


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "a\\b",
        "/a",
        "C:a",
        "a:b",
        "con",
        "CON.json",
        "lpt1.txt",
        "a.",
        ".hidden",
        "a\0b",
        "a\nb",
        "é.json",
        "x" * 129,
        "manifest.json",
        "Dense.safetensors",
        "a.moex",
        "a b",
    ],
)
def test_unsafe_names(name):
    assert not is_safe_name(name)


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "LICENSE", "chat_template.jinja", "LICENSE-2.0.txt"]
)
def test_safe_names(name):
    assert is_safe_name(name)
