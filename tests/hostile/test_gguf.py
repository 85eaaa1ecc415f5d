"""GGUF files that are cut, damaged or made to harm: each is refused with a clear error, at once,
without taking memory for what it merely claims."""

from __future__ import annotations

import os
import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.checkpoint.checkpoint import missing_tensors, open_checkpoint
from engine.checkpoint.gguf_header import read_header
from engine.errors import CheckpointError, Edge0Error, UnsupportedModelError
from tests.helpers.checkpoint_files import write_llama_gguf
from tests.helpers.gguf_bytes import (
    ARCHITECTURE,
    ARRAY,
    BOOL,
    F32,
    STRING,
    U8,
    U32,
    U64,
    build,
    pair,
    tensor,
    text,
)

REFUSED = (CheckpointError, UnsupportedModelError)


@contextmanager
def little_memory(limit: int = 8 << 20) -> Iterator[None]:
    """Fails when the block takes more than `limit` bytes at its peak."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit


def refuse(path: Path, content: bytes, match: str, kind: Any = CheckpointError) -> None:
    path.write_bytes(content)
    with little_memory(), pytest.raises(kind, match=match) as error:
        open_checkpoint(path)
    assert isinstance(error.value, Edge0Error) and error.value.next_step


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.gguf"


def test_a_file_cut_anywhere_is_refused(path: Path) -> None:
    write_llama_gguf(path)
    size, header = path.stat().st_size, min(t.offset for t in read_header(path).tensors.values())
    cuts = [*range(size - 1, header, -997), *range(header, -1, -1)]
    read_header(path)  # loads what reading needs before memory is counted
    with little_memory():
        for cut in cuts:
            os.truncate(path, cut)
            with pytest.raises(CheckpointError) as error:
                open_checkpoint(path)
            assert str(path) in error.value.message and error.value.next_step


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_bytes_never_crash(path: Path, data: st.DataObject) -> None:
    if not path.exists():
        write_llama_gguf(path)
        assert "tokenizer.json" in open_checkpoint(path).side_files()
    good = path.read_bytes()
    damaged = bytearray(good)
    positions = st.integers(0, 3000)  # the header, and a little of the data
    for at, value in data.draw(st.lists(st.tuples(positions, st.integers(0, 255)), max_size=6)):
        damaged[at] = value
    path.write_bytes(damaged)
    try:
        model = open_checkpoint(path)
        for source in [model.source(spec) for spec in model.family.weights(model.shape)]:
            if source.name in model.names():
                model.read(source)
        missing_tensors(model, model.family.weights(model.shape))
        model.side_files()
    except REFUSED as error:
        assert error.next_step
    finally:
        path.write_bytes(good)


@pytest.mark.parametrize("count", [100_001, 2**32 - 1, 2**62, 2**64 - 1])
def test_huge_counts_are_not_believed(path: Path, count: int) -> None:
    refuse(path, build(tensors=count), "claims .* tensors")
    refuse(path, build(keys=count), "claims .* metadata keys")
    for kind in (U8, STRING, F32, U64):
        array = pair("a", ARRAY, struct.pack("<IQ", kind, count))
        refuse(path, build(array, keys=1), r"claims .* items in 'a'|ends inside a,")
    string = pair("s", STRING, struct.pack("<Q", count))
    refuse(path, build(string, keys=1), r"claims a text of|ends inside s,")
    refuse(path, build(struct.pack("<Q", count), keys=1), "claims a name of")


def test_a_claim_within_the_caps_still_needs_the_bytes(path: Path) -> None:
    refuse(path, build(keys=300), "claims a name of 0 bytes")
    refuse(path, build(keys=1000), "claims 1000 metadata keys")
    strings = pair("a", ARRAY, struct.pack("<IQ", STRING, 1 << 20))
    refuse(path, build(strings, keys=1), "claims 1048576 items")
    refuse(path, build(tensors=99_999), "claims 99999 tensors")


def test_arrays_do_not_nest(path: Path) -> None:
    deep = b"".join(struct.pack("<IQ", ARRAY, 1) for _ in range(100_000))
    refuse(path, build(pair("a", ARRAY, deep), keys=1), "arrays inside the array")


@pytest.mark.parametrize("kind", [13, 14, 255, 2**32 - 1])
def test_unknown_value_types(path: Path, kind: int) -> None:
    refuse(path, build(pair("a", kind, bytes(8)), keys=1), "unknown type")
    array = pair("a", ARRAY, struct.pack("<IQ", kind, 1))
    refuse(path, build(array, keys=1), "unknown type")


def test_a_truth_value_is_0_or_1(path: Path) -> None:
    refuse(path, build(pair("a", BOOL, b"\x02"), keys=1), "truth value")


@pytest.mark.parametrize(
    "value",
    [(U32, struct.pack("<I", n)) for n in (0, 3, 33, 2**21, 2**31)]
    + [
        (U64, struct.pack("<Q", 2**63)),
        (3, struct.pack("<h", -32)),
        (F32, struct.pack("<f", 32)),
        (BOOL, b"\x01"),
        (STRING, text("32")),
        (ARRAY, struct.pack("<IQI", U32, 1, 32)),
    ],
    ids=str,
)
def test_alignment_is_a_small_power_of_two(path: Path, value: tuple[int, bytes]) -> None:
    entry = pair("general.alignment", *value)
    refuse(path, build(entry, tensor(), keys=1, tensors=1), "not a small power of two")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([tensor(offset=2**63)], "ends at"),
        ([tensor(offset=4096)], "ends at"),
        ([tensor(shape=(2**40,))], "ends at"),
        ([tensor("a", (64,)), tensor("b", (64,), offset=128)], "overlap"),
        ([tensor("a"), tensor("b")], "overlap"),
        ([tensor("a"), tensor("a", offset=128)], "repeats the tensor"),
        ([tensor(offset=5)], "the shape .* at 5"),
        ([tensor(shape=(0,))], "the shape"),
        ([tensor(shape=(2**63, 2))], "the shape"),
        ([tensor(shape=(2**32, 2**32))], "the shape"),
        ([tensor(shape=(33,), kind=8)], "the shape .* as Q8_0"),
        ([tensor(shape=(), axes=0)], "0 axes"),
        ([tensor(shape=(1,) * 5)], "5 axes"),
        ([tensor(shape=(1,), axes=2**32 - 1)], "4294967295 axes"),
    ],
)
def test_tensors_that_cannot_be(path: Path, entries: list[bytes], message: str) -> None:
    refuse(path, build(ARCHITECTURE, *entries, keys=1, tensors=len(entries), data=512), message)


@pytest.mark.parametrize("kind", [4, 5, 31, 36, 999, 2**32 - 1])
def test_tensor_types_that_no_longer_or_never_were(path: Path, kind: int) -> None:
    content = build(tensor(kind=kind), tensors=1)
    refuse(path, content, f"stored as type {kind}", UnsupportedModelError)


@pytest.mark.parametrize(
    "name",
    [
        "../up",
        "a/b",
        "a\\b",
        "..",
        "new\nline",
        "nul\0",
        "\u202eright-to-left",
        b"\xff\xfe",
        "",
        "x" * 1025,
    ],
    ids=repr,
)
def test_names_that_could_do_harm(path: Path, name: str | bytes) -> None:
    refuse(path, build(tensor(name), tensors=1), "a tensor")
    refuse(path, build(pair(name, U32, bytes(4)), keys=1), "a metadata key")


def test_a_key_is_told_once(path: Path) -> None:
    refuse(path, build(ARCHITECTURE, ARCHITECTURE, keys=2), "repeats the metadata key")


@pytest.mark.parametrize(
    ("content", "message", "kind"),
    [
        (b"", "ends inside its signature", CheckpointError),
        (b"GGUF", "ends inside its version", CheckpointError),
        (b"PK\x03\x04" + bytes(100), "does not start like a GGUF file", CheckpointError),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer", CheckpointError),
        (build(version=1), "version 1 GGUF", UnsupportedModelError),
        (build(version=3 << 24), "big-endian GGUF", UnsupportedModelError),
        (build(), r"general\.architecture", CheckpointError),
    ],
)
def test_other_files(path: Path, content: bytes, message: str, kind: Any) -> None:
    refuse(path, content, message, kind)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_what_is_no_ordinary_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(CheckpointError, match="not an ordinary file"):
        open_checkpoint(tmp_path / "pipe.gguf")
    (tmp_path / "circle.gguf").symlink_to("circle.gguf")
    with pytest.raises(Edge0Error):
        open_checkpoint(tmp_path / "circle.gguf")


@pytest.mark.parametrize(
    "value",
    [
        (U32, struct.pack("<I", 100_000)),
        (5, struct.pack("<i", -5)),
        (STRING, text("2")),
        (BOOL, b"\x01"),
        (ARRAY, struct.pack("<IQI", U32, 1, 2)),
    ],
    ids=str,
)
def test_part_counts_of_the_wrong_kind(path: Path, value: tuple[int, bytes]) -> None:
    refuse(path, build(ARCHITECTURE, pair("split.count", *value), keys=2), r"split\.count is")


def test_99999_parts_do_not_all_get_looked_for(tmp_path: Path) -> None:
    count = pair("split.count", U32, struct.pack("<I", 99_999))
    number = pair("split.no", U32, struct.pack("<I", 0))
    content = build(ARCHITECTURE, count, number, keys=3)
    refuse(tmp_path / "m-00001-of-99999.gguf", content, "m-00002-of-99999.gguf is missing")


@pytest.mark.parametrize(
    "factors", [np.zeros((2, 8)), np.zeros(5000), np.full(16, np.nan), np.zeros(16), np.ones(3)]
)
def test_rotary_factors_that_do_not_fit(path: Path, factors: Any) -> None:
    write_llama_gguf(path, extra={"rope_freqs.weight": factors.astype(np.float32)})
    refuse(path, path.read_bytes(), r"rope_freqs\.weight")


@pytest.mark.parametrize("value", [(STRING, text("x")), (ARRAY, struct.pack("<IQ", STRING, 0))])
@pytest.mark.parametrize(
    "key",
    [
        "general.architecture",
        "llama.block_count",
        "llama.embedding_length",
        "llama.attention.head_count",
        "llama.rope.freq_base",
        "llama.expert_count",
        "llama.context_length",
    ],
)
def test_values_of_another_type(path: Path, key: str, value: tuple[int, bytes]) -> None:
    sizes = {
        "block_count": 1,
        "context_length": 128,
        "embedding_length": 64,
        "feed_forward_length": 64,
        "attention.head_count": 2,
        "vocab_size": 64,
    }
    pairs = {f"llama.{name}": (U32, struct.pack("<I", n)) for name, n in sizes.items()}
    pairs["general.architecture"] = (STRING, text("llama"))
    pairs["llama.attention.layer_norm_rms_epsilon"] = (F32, struct.pack("<f", 1e-5))
    path.write_bytes(build(*(pair(k, *v) for k, v in pairs.items()), keys=len(pairs)))
    open_checkpoint(path)  # the header is good until one value changes its type
    pairs[key] = value
    content = build(*(pair(k, *v) for k, v in pairs.items()), keys=len(pairs))
    refuse(path, content, "is|not supported", REFUSED)
