"""What is promised before a download is what the conversion then writes, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import CheckpointError, UnsupportedModelError
from engine.hub.choose import gguf_choices
from engine.hub.client import HubClient
from engine.hub.forecast import Forecast, forecast
from engine.hub.policy import DownloadPolicy
from engine.hub.remote_model import RemoteModel, examine
from engine.model.planning import plan_model
from engine.prepare.prepare import PrepareSummary, prepare
from tests.helpers.fake_hub import FakeHub
from tests.helpers.tiny_gguf import write_tiny_gguf
from tests.helpers.tiny_models import make_tiny_checkpoint


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def remote(hub: FakeHub, quick: DownloadPolicy, gguf: str = "") -> RemoteModel:
    return examine(HubClient(hub.url).repository("org/model"), gguf, policy=quick)


def agrees(told: Forecast, made: PrepareSummary) -> bool:
    """Sizes, and what becomes of which weights, as it really came."""
    return told.output == made.bytes and told.notes == made.notes


@pytest.mark.parametrize("family", ["qwen3_moe", "mixtral", "llama"])
def test_sizes_are_those_of_the_conversion(
    family: str, quick: DownloadPolicy, tmp_path: Path
) -> None:
    source = make_tiny_checkpoint(family, tmp_path / "source", dtype="bfloat16")
    with FakeHub({"org/model": contents(source)}) as hub:
        model = remote(hub, quick)
        for quant in ("nf4", "int8"):
            made = prepare(source, tmp_path / quant, quant)
            assert agrees(forecast(model.checkpoint, quant, model.plan), made)


def test_the_budget_promised_is_the_one_that_opens(
    tiny_files: dict[str, bytes], quick: DownloadPolicy, tmp_path: Path
) -> None:
    from engine.config import Edge0Config
    from engine.container.reader import Container
    from engine.errors import BudgetError

    with FakeHub({"org/model": tiny_files}) as hub:
        model = remote(hub, quick)
        told = forecast(model.checkpoint, "nf4", model.plan)
    source = tmp_path / "source"
    source.mkdir()
    for file in model.plan.files:
        (source / file.name).write_bytes(tiny_files[file.path])
    prepare(source, tmp_path / "out")
    container = Container.open(tmp_path / "out")
    enough = Edge0Config(container.path, memory_budget_gb=told.smallest_budget / 1e9 + 0.1)
    assert plan_model(container, enough).expert_slots >= told.needs.floor_slots
    short = Edge0Config(container.path, memory_budget_gb=told.smallest_budget / 1e9 - 0.1)
    with pytest.raises(BudgetError):
        plan_model(container, short)
    assert told.download == model.plan.total


def test_gguf_models_are_known_from_their_header(quick: DownloadPolicy, tmp_path: Path) -> None:
    source = make_tiny_checkpoint("mixtral", tmp_path / "source")
    file = write_tiny_gguf(source, tmp_path / "tiny-F32.gguf")
    body = file.read_bytes()
    with FakeHub({"org/model": {"quants/tiny-F32.gguf": body, "LICENSE": b"MIT"}}) as hub:
        model = remote(hub, quick)
        told = forecast(model.checkpoint, "int8", model.plan)
        assert [f.name for f in model.plan.files] == ["LICENSE", "tiny-F32.gguf"]
    assert agrees(told, prepare(file, tmp_path / "out", "int8"))


def test_only_headers_are_read(quick: DownloadPolicy, tmp_path: Path) -> None:
    source = make_tiny_checkpoint(
        "qwen3_moe", tmp_path / "source", num_experts=64, moe_intermediate_size=128
    )
    files = contents(source)
    with FakeHub({"org/model": files}) as hub:
        told = forecast(remote(hub, quick).checkpoint)
        assert hub.body_bytes("model.safetensors") <= 600_000 < len(files["model.safetensors"]) / 3
    assert told.parameters * 4 == pytest.approx(len(files["model.safetensors"]), rel=0.01)
    assert told.active_parameters < told.parameters / 4


@pytest.mark.parametrize("action", ["drop", "status", "whole", "stall"])
def test_headers_come_through_a_bad_line(
    action: str, tiny_files: dict[str, bytes], quick: DownloadPolicy
) -> None:
    from tests.helpers.fake_hub import Fault

    with FakeHub({"org/model": tiny_files}) as hub:
        hub.faults = [Fault(action, "/resolve/", times=3, at=50)]  # type: ignore[arg-type]
        assert forecast(remote(hub, quick).checkpoint).model_type == "qwen3_moe"


def test_a_model_we_cannot_run_is_refused_before_its_weights_are_looked_at(
    tiny_files: dict[str, bytes], quick: DownloadPolicy
) -> None:
    config = {**json.loads(tiny_files["config.json"]), "model_type": "mamba3"}
    files = {**tiny_files, "config.json": json.dumps(config).encode()}
    with FakeHub({"org/model": files}) as hub:
        with pytest.raises(UnsupportedModelError, match="mamba3"):
            remote(hub, quick)
        assert not hub.body_bytes(".safetensors")


def test_pickled_weights_are_never_taken(quick: DownloadPolicy) -> None:
    files = {"pytorch_model.bin": b"\x80", "config.json": b"{}"}
    with FakeHub({"org/model": files}) as hub:
        with pytest.raises(UnsupportedModelError, match="pickled"):
            remote(hub, quick)
        assert not hub.body_bytes(".bin")


def test_several_gguf_models_are_a_choice(quick: DownloadPolicy) -> None:
    files = {
        "a-Q4_0.gguf": b"1",
        "a-Q8_0-00001-of-00002.gguf": b"1",
        "a-Q8_0-00002-of-00002.gguf": b"2",
        "b-00001-of-00003.gguf": b"incomplete",
        "mmproj-a.gguf": b"images",
    }
    with FakeHub({"org/model": files}) as hub:
        repository = HubClient(hub.url).repository("org/model")
        found = {choice.name: choice.size for choice in gguf_choices(repository)}
        assert found == {"a-Q4_0.gguf": 1, "a-Q8_0-00001-of-00002.gguf": 2}
        with pytest.raises(UnsupportedModelError, match=r"a-Q4_0\.gguf, a-Q8_0-00001"):
            examine(repository, policy=quick)
        with pytest.raises(UnsupportedModelError, match="no GGUF model named 'Q5'"):
            examine(repository, "Q5", policy=quick)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff" * 8,
        b"\x02\0\0\0\0\0\0\0[]",
        b"\x10\0\0\0\0\0\0\0" + b'{"a":{"dtype":"F'[:16],
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        b'\x3a\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9999]}}  ',
    ],
)
def test_hostile_headers_are_refused(
    body: bytes, tiny_files: dict[str, bytes], quick: DownloadPolicy
) -> None:
    files = {**tiny_files, "model-00002-of-00003.safetensors": body}
    with FakeHub({"org/model": files}) as hub, pytest.raises(CheckpointError):
        remote(hub, quick)


def test_an_index_cannot_lead_elsewhere(
    tiny_files: dict[str, bytes], quick: DownloadPolicy
) -> None:
    for name in ("../../x.safetensors", "pytorch_model.bin", "original/consolidated.safetensors"):
        index = json.dumps({"weight_map": {"a": name}}).encode()
        files = {**tiny_files, "model.safetensors.index.json": index}
        with FakeHub({"org/model": files}) as hub, pytest.raises(UnsupportedModelError):
            remote(hub, quick)
