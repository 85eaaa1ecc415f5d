"""Where bytes go: alignment, order, files of at most 8 GiB, a header safetensors accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.container import record
from engine.container.record import (
    file_name,
    generation_of,
    place_records,
    record_layout,
    tensor_bytes,
)
from engine.formats import NumberFormat, matrix_bytes
from engine.model.shape import ModelShape

SHAPE = ModelShape("qwen3_moe", 2, 64, 2, 1, 32, 96, 3, 2, 48, 1e-6, (1.0,) * 16, 128)
FORMATS = {"gate": NumberFormat.NF4, "up": NumberFormat.INT8, "down": NumberFormat.BF16}


def test_matrices_of_a_record_are_contiguous():
    layout = record_layout(SHAPE, FORMATS, 4096)
    sizes = [(48, 64), (48, 64), (64, 48)]
    end = 0
    for matrix, (rows, cols) in zip(layout.matrices, sizes, strict=True):
        assert (matrix.rows, matrix.cols, matrix.offset) == (rows, cols, end)
        assert matrix.bytes == matrix_bytes(matrix.format, rows, cols)
        end += matrix.bytes
    assert layout.bytes % 4096 == 0 and 0 <= layout.bytes - end < 4096


@pytest.mark.parametrize("align", [4096, 16384, 65536])
def test_records_are_layer_major_in_the_given_order(align):
    layouts = [record_layout(SHAPE, FORMATS, align)]
    files, records = place_records(layouts, [0, 0], [[2, 0, 1], [0, 1, 2]], align)
    assert [(r.layer, r.expert) for r in records] == [
        (0, 2),
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (1, 2),
    ]
    assert all(r.offset % align == 0 and r.bytes % align == 0 for r in records)
    assert files[0].bytes == records[-1].offset + records[-1].bytes
    assert (files[0].name, files[0].records) == ("experts-00001.moex", 6)


@given(limit=st.integers(2, 12))
def test_files_end_before_the_limit(limit):
    layout = record_layout(SHAPE, FORMATS, 4096)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "MAX_FILE_BYTES", 4096 + limit * layout.bytes)
        files, records = place_records([layout], [0, 0], [range(7), range(7)], 4096)
    assert sum(file.records for file in files) == len(records) == 14
    assert all(file.bytes <= 4096 + limit * layout.bytes for file in files)
    assert all(file.records == limit for file in files[:-1])
    for number, file in enumerate(files):
        ends = [r.offset + r.bytes for r in records if r.file == number]
        assert max(ends) == file.bytes


@pytest.mark.parametrize(
    ("fmt", "shape", "size"),
    [
        ("f32", (7,), 28),
        ("f32", (3, 5), 60),
        ("q8_rows", (10, 64), 680),
        ("q8_rows", (10, 40), 680),
        ("bf16_rows", (10, 40), 800),
        ("nf4", (16, 64), 576),
        ("nf4", (64,), 0),
    ],
)
def test_tensor_bytes(fmt, shape, size):
    assert tensor_bytes(fmt, shape) == size


def test_names_of_expert_files_tell_their_generation():
    names = [file_name(number, generation) for number in (0, 4095) for generation in (0, 1, 42)]
    assert len(set(names)) == 6 and names[0] == "experts-00001.moex"
    assert [generation_of(name) for name in names] == [0, 1, 42, 0, 1, 42]
    for odd in (
        "experts-0-00001.moex",
        "experts-1.moex",
        "experts-٣-00001.moex",
        "x",
        "../" + names[1],
    ):
        assert generation_of(odd) is None
