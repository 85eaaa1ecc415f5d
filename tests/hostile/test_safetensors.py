"""Safetensors files and folders that are damaged or made to harm: each is refused with a clear
error, at once, without taking memory for what it merely claims."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import load, save_file

from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.safetensors import INDEX, SINGLE, read_file_header
from engine.checkpoint.tensors import read_weight
from engine.errors import CheckpointError, Edge0Error, UnsupportedModelError
from engine.model.weights import Source
from tests.helpers.checkpoint_files import entry, safetensors_bytes
from tests.helpers.tiny_models import make_tiny_checkpoint

Content = dict[str, Any]


def refuse(path: Path, content: bytes, match: str | None = None) -> None:
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=match) as error:
            read_file_header(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert error.value.next_step


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / SINGLE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_tiny_checkpoint("llama", tmp_path / "model")


@pytest.mark.parametrize("length", [12, 13, 100_000_000, 100_000_001, 2**32, 2**63, 2**64 - 1])
def test_lies_about_the_header_length(path: Path, length: int) -> None:
    refuse(path, safetensors_bytes(b"{}", bytes(9), length), "header")


@pytest.mark.parametrize("content", [b"", b"\1", bytes(7), bytes(8), bytes(100), b"PK\3\4" * 9])
def test_other_files(path: Path, content: bytes) -> None:
    refuse(path, content)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"null",
        b"3",
        b'"text"',
        b"{",
        b"{}{}",
        b"\xff\xfe{}",
        b'{"a": NaN}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
        b'{"a": {}, "a": {}}',
        b'{"a": {"dtype": "U8", "dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}',
        b'{"__metadata__": {}, "__metadata__": {}}',
    ],
)
def test_headers_that_are_not_good_json(path: Path, header: bytes) -> None:
    refuse(path, safetensors_bytes(header))


@pytest.mark.parametrize(
    "header",
    [
        {"a": None},
        {"a": []},
        {"a": "F32"},
        {"a": {"dtype": "F32", "shape": [1]}},
        {"a": entry([1], 0, 4) | {"extra": 1}},
        {"a": entry([1], 0, 4, dtype=None)},
        {"a": entry([1], 0, 4, dtype=["F32"])},
        {"a": entry([1], 0, 4, dtype="Q4_0")},
        {"a": entry([1], 0, 4, dtype="f32")},
        {"a": entry([1.0], 0, 4)},
        {"a": entry([True], 0, 4)},
        {"a": entry(["1"], 0, 4)},
        {"a": entry([-1], 0, 4)},
        {"a": entry([2**62, 2**62], 0, 4)},
        {"a": entry([1] * 9, 0, 4)},
        {"a": entry([[1]], 0, 4)},
        {"a": entry([1], "0", 4)},
        {"a": entry([1], 0, 4.0)},
        {"a": entry([1], False, 4)},
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]}},
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": {"0": 4}}},
        {"__metadata__": []},
        {"__metadata__": {"a": 1}},
        {"__metadata__": {"a": {"b": "c"}}},
    ],
    ids=str,
)
def test_entries_of_the_wrong_kind(path: Path, header: Content) -> None:
    refuse(path, safetensors_bytes(header, bytes(4)))


@pytest.mark.parametrize(
    ("header", "size", "match"),
    [
        ({"a": entry([1], 4, 0)}, 4, "cannot have -4 bytes"),
        ({"a": entry([2], 0, 4)}, 4, "cannot have 4 bytes"),
        ({"a": entry([1], 0, 4, dtype="F16")}, 4, "cannot have 4 bytes"),
        ({"a": entry([3], 0, 1, dtype="F4")}, 1, "cannot have 1 bytes"),
        ({"a": entry([1], 0, 4)}, 3, "has .* bytes, its header tells"),
        ({"a": entry([1], 0, 4)}, 5, "has .* bytes, its header tells"),
        ({"a": entry([2**40], 0, 2**42)}, 4, "has .* bytes, its header tells"),
        ({"a": entry([1], 4, 8)}, 8, "leaves a gap"),
        ({"a": entry([2], 0, 8), "b": entry([2], 4, 12)}, 12, "overlaps"),
        ({"a": entry([2], 0, 8), "b": entry([1], 4, 8)}, 8, "overlaps"),
        ({"a": entry([1], 0, 4), "b": entry([1], 0, 4)}, 4, "overlaps"),
        ({"a": entry([1], 0, 4), "b": entry([1], 8, 12)}, 12, "leaves a gap"),
    ],
)
def test_ranges_that_cannot_be(path: Path, header: Content, size: int, match: str) -> None:
    refuse(path, safetensors_bytes(header, bytes(size)), match)


@pytest.mark.parametrize(
    "name", ["../up", "a/b", "a\\b", "..", "new\nline", "nul\0", "\ud800", "\u202eleft"], ids=repr
)
def test_names_that_could_do_harm(path: Path, name: str) -> None:
    refuse(path, safetensors_bytes({name: entry([1], 0, 4)}, bytes(4)), "is not a tensor's name")


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_bytes_are_judged_as_by_the_library(path: Path, data: st.DataObject) -> None:
    """What the safetensors package refuses, we refuse; what we accept has the values it reads."""
    rng = np.random.default_rng(1)
    tensors = {name: rng.standard_normal((3, 4), np.float32) for name in ("one", "two", "three")}
    save_file(tensors, path, metadata={"format": "pt"})
    damaged = bytearray(path.read_bytes())
    places = st.integers(0, len(damaged) - 145)  # the header; random data would be good data
    for at, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=3)):
        damaged[at] = value
    path.write_bytes(damaged)
    try:
        expected = load(bytes(damaged))
    except (SafetensorError, KeyError, ValueError, TypeError):
        expected = None
    try:
        found = read_file_header(path)
    except CheckpointError:
        return
    assert expected is not None and set(found) == set(expected)
    for name, tensor in found.items():
        if tensor.dtype == "F32":
            np.testing.assert_array_equal(read_weight(tensor, Source(name)), expected[name])


def test_a_file_cut_anywhere_is_refused(path: Path) -> None:
    save_file({"one": np.ones(3, np.float32), "two": np.ones((2, 2), np.float16)}, path)
    for cut in range(path.stat().st_size - 1, -1, -1):
        os.truncate(path, cut)
        with pytest.raises(CheckpointError):
            read_file_header(path)


def write_index(folder: Path, value: Any) -> None:
    (folder / INDEX).write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize(
    ("places", "match"),
    [
        ({"a": "../model.safetensors"}, "not a plain file name"),
        ({"a": "/etc/passwd"}, "not a plain file name"),
        ({"a": "sub/model.safetensors"}, "not a plain file name"),
        ({"a": "C:\\model.safetensors"}, "not a plain file name"),
        ({"a": "model.safetensors:stream"}, "not a plain file name"),
        ({"a": "nul\0.safetensors"}, "not a plain file name"),
        ({"a": ".."}, "not a plain file name"),
        ({"a": ""}, "not a plain file name"),
        ({"a": "config.json"}, "not a .safetensors file"),
        ({"a": "pytorch_model.bin"}, "not a .safetensors file"),
        ({"a": "gone.safetensors"}, "gone.safetensors does not exist"),
        ({"a": SINGLE}, "lacks the tensor 'a'"),
        ({"a": 3}, "no list of tensors and files"),
        ({"a": None}, "no list of tensors and files"),
        ([SINGLE], "no list of tensors and files"),
        (None, "no list of tensors and files"),
        ("x", "no list of tensors and files"),
    ],
)
def test_an_index_that_lies(folder: Path, places: Any, match: str) -> None:
    write_index(folder, {"weight_map": places})
    with pytest.raises(CheckpointError, match=match) as error:
        open_checkpoint(folder)
    assert error.value.next_step


@pytest.mark.parametrize(
    "text", ["", "[]", "[[" * 50_000, '{"weight_map": {"a": "b", "a": "c"}}', "{"]
)
def test_an_index_that_is_no_object(folder: Path, text: str) -> None:
    (folder / INDEX).write_text(text, encoding="utf-8")
    with pytest.raises(CheckpointError, match="JSON"):
        open_checkpoint(folder)


def test_a_shard_that_leads_elsewhere(folder: Path, tmp_path: Path) -> None:
    (folder / SINGLE).rename(tmp_path / "outside.safetensors")
    (folder / "part.safetensors").symlink_to(tmp_path / "outside.safetensors")
    write_index(folder, {"weight_map": {"model.norm.weight": "part.safetensors"}})
    with pytest.raises(CheckpointError, match="leads out of the model's folder"):
        open_checkpoint(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
@pytest.mark.parametrize("name", ["config.json", SINGLE])
def test_what_is_no_ordinary_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(CheckpointError, match="not an ordinary file"):
        open_checkpoint(folder)
    (folder / name).unlink()
    (folder / name).symlink_to(name)
    with pytest.raises(Edge0Error):
        open_checkpoint(folder)


@pytest.mark.parametrize(
    "config",
    ["", "[]", "null", "[" * 100_000, '{"model_type": "llama"}', '{"model_type": ["llama"]}'],
)
def test_configurations_that_are_none(folder: Path, config: str) -> None:
    (folder / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises((CheckpointError, UnsupportedModelError)) as error:
        open_checkpoint(folder)
    assert error.value.next_step


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"chat_template": 3}', '{"chat_template": [3, {}]}']
)
def test_side_files_without_sense_are_passed_on(folder: Path, text: str) -> None:
    """Whoever uses a side file judges it; here it must only do no harm."""
    (folder / "chat_template.jinja").unlink()
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")
    files = open_checkpoint(folder).side_files()
    assert files["tokenizer_config.json"] == text.encode("utf-8")
    assert "chat_template.jinja" not in files


def test_a_template_of_broken_text_is_still_bytes(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    (folder / "chat_template.json").write_bytes(b'{"chat_template": "a\\ud800b"}')
    assert open_checkpoint(folder).side_files()["chat_template.jinja"] == b"a?b"
