"""Reading a converted model: right bytes, embedding rows on demand, damage found and named."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from engine.container.manifest import DENSE_NAME
from engine.container.reader import Container, read_manifest
from engine.errors import ContainerError, Stopped
from engine.kernels.packing import unpack
from engine.stop import StopFlag
from tests.helpers.damage import verify
from tests.helpers.tiny_containers import make_tiny_container


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("测试 é'&#%") / "model", vocab_size=300)


@pytest.fixture
def copy(tiny, tmp_path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


@pytest.fixture
def container(tiny):
    opened = Container.open(tiny)
    yield opened
    opened.close()


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x10
    path.write_bytes(data)


def test_records_hold_the_experts(container):
    for layer in range(container.shape.layers):
        for expert in range(container.shape.experts):
            record = container.record(layer, expert)
            assert (record.layer, record.expert) == (layer, expert)
            assert record.offset % 4096 == 0 and record.bytes % 4096 == 0
            data = container.read_record(layer, expert)
            assert data.nbytes == record.bytes
            for matrix in container.layout(layer).matrices:
                part = data[matrix.offset : matrix.offset + matrix.bytes]
                weight = unpack(part, matrix.format, matrix.rows, matrix.cols)
                assert np.isfinite(weight).all() and weight.std() > 0


def test_the_dense_file_is_plain_safetensors(container):
    stored = load_file(container.dense_path)
    assert stored.keys() == container.manifest.tensors.keys()
    for name, entry in container.manifest.tensors.items():
        data = container.read_dense(name)
        assert data.nbytes == entry.bytes
        if entry.format == "f32":
            assert np.array_equal(stored[name], data.view(np.float32).reshape(entry.shape))
        elif entry.format == "bf16_rows":
            rows = container.embedding_rows(range(entry.shape[0]))
            assert np.array_equal(stored[name].float(), rows)
        else:
            assert np.array_equal(stored[name], data)
            assert entry.offset % 64 == 0


def test_embedding_rows_in_any_order_and_number(container):
    everything = container.embedding_rows(range(container.shape.vocab))
    assert everything.shape == (300, container.shape.hidden)
    ids = [5, 299, 0, 5, 5, 17]
    assert np.array_equal(container.embedding_rows(ids), everything[ids])
    assert container.embedding_rows([]).shape == (0, container.shape.hidden)


@pytest.mark.parametrize("token", [-1, 300, 10**12])
def test_a_foreign_token_is_named(container, token):
    with pytest.raises(ContainerError, match=str(token)):
        container.embedding_rows([1, token])


def test_embedding_rows_from_many_threads(container):
    everything = container.embedding_rows(range(300))
    wrong = []

    def read(seed: int) -> None:
        ids = np.random.default_rng(seed).integers(0, 300, 200)
        if not np.array_equal(container.embedding_rows(ids), everything[ids]):
            wrong.append(seed)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_verify_reads_everything_and_reports_progress(tiny):
    steps = []
    Container.open(tiny).verify(steps.append, StopFlag())
    manifest = read_manifest(tiny)
    hashed = [*manifest.tensors.values(), *manifest.records, *manifest.side_files]
    assert steps[-1].done == steps[-1].total == sum(entry.bytes for entry in hashed)


def test_verify_can_be_stopped(tiny):
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        Container.open(tiny).verify(lambda progress: None, stop)


def test_a_flipped_byte_in_a_record_is_found_and_named(copy):
    record = read_manifest(copy).records[11]
    flip(copy / "experts-00001.moex", record.offset + record.bytes - 1)
    with pytest.raises(ContainerError, match=f"layer {record.layer}, expert {record.expert}"):
        verify(copy)


def test_a_flipped_byte_in_a_weight_is_found_and_named(copy):
    tensor = read_manifest(copy).tensors["layers.1.q"]
    flip(copy / DENSE_NAME, tensor.offset)
    with pytest.raises(ContainerError, match=r"layers\.1\.q"):
        verify(copy)


def test_a_changed_side_file_is_found(copy):
    flip(copy / "tokenizer.json", 100)
    with pytest.raises(ContainerError, match=r"tokenizer\.json"):
        verify(copy)


def test_a_changed_constant_in_the_manifest_is_found(copy):
    path = copy / "manifest.json"
    text = path.read_text(encoding="utf-8")
    assert '"rms_eps": 1e-06' in text
    path.write_text(text.replace('"rms_eps": 1e-06', '"rms_eps": 1e-05'), encoding="utf-8")
    with pytest.raises(ContainerError, match=r"manifest\.json"):
        verify(copy)


def test_many_damages_are_counted(copy):
    for record in read_manifest(copy).records:
        flip(copy / "experts-00001.moex", record.offset)
    with pytest.raises(ContainerError, match="and 19 more"):
        verify(copy)


def test_closing_twice_and_reading_again(tiny):
    container = Container.open(tiny)
    container.embedding_rows([1])
    container.close()
    container.close()
    container.embedding_rows([1])
    container.close()
