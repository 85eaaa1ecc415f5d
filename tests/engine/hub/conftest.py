"""A hub of our own on this machine, and a patience that suits tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.hub.plan import DownloadPlan
from engine.hub.policy import DownloadPolicy
from tests.helpers.fake_hub import FakeHub
from tests.helpers.sharded import shard
from tests.helpers.tiny_models import make_tiny_checkpoint

ODD = "测试 用户　é'&#%"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our hub is on this machine, whatever way out the developer's one has."""
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")


@pytest.fixture
def quick() -> DownloadPolicy:
    """Small ranges, short waits."""
    return DownloadPolicy(
        range_bytes=100_000,
        stall_s=0.4,
        first_delay_s=0.01,
        max_delay_s=0.05,
        attempts=6,
        report_s=0.0,
        quiet_s=0.1,
        sync_s=0.02,
        dice=random.Random(0),
    )


@pytest.fixture(scope="session")
def tiny_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A tiny MoE model in shards, as a repository holds it, with files that nobody should take."""
    folder = make_tiny_checkpoint("qwen3_moe", tmp_path_factory.mktemp("tiny") / "model")
    shard(folder, 3)
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    junk = {"pytorch_model.bin": b"\x80pickle", "modeling_tiny.py": b"import os", "README.md": b"#"}
    return {**files, "LICENSE": b"Apache", "original/consolidated.safetensors": b"x" * 99, **junk}


@pytest.fixture
def odd_folder(tmp_path: Path) -> Path:
    """Where users really keep things."""
    return tmp_path / ODD / "model"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / ODD


def blob(size: int, seed: int = 0) -> bytes:
    """Bytes that no two places share."""
    return random.Random(seed).randbytes(size)


FILES = {
    "config.json": b'{"model_type": "x"}',
    "empty.txt": b"",
    "model-1.safetensors": blob(1_234_567, 1),
    "model-2.safetensors": blob(300_000, 2),
}
TOTAL = sum(len(data) for data in FILES.values())


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    """Has `FILES`."""
    with FakeHub({"org/model": FILES}) as hub:
        yield hub


def plan_of(hub: FakeHub, model: str = "org/model") -> DownloadPlan:
    """All files of a model, without looking into them."""
    from engine.hub.client import HubClient

    repository = HubClient(hub.url).repository(model)
    return DownloadPlan(repository, repository.files)


def whole(folder: Path, files: dict[str, bytes]) -> bool:
    """Whether the folder holds these files, bytes and all, and nothing half-done."""
    left = [path.name for path in folder.iterdir() if path.suffix in (".part", ".journal")]
    return not left and all((folder / name).read_bytes() == data for name, data in files.items())
