"""Prefix caches with snapshots on a model without weights, as after a start of the program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.chat import snapshots
from engine.chat.prefix_cache import PrefixCache
from engine.chat.snapshots import BLOCK, Snapshots
from engine.chat.tokenizer import Tokenizer
from engine.config import GenerateOptions
from engine.machine.samples import DriveInfo
from engine.store import snapshot_folder
from engine.store.cache_dir import snapshot_root
from engine.store.snapshot_folder import SnapshotFolder
from tests.helpers.fake_model import FakeModel
from tests.helpers.tiny_tokenizers import CONFIG, byte_level

TOKENIZER = Tokenizer(byte_level(), CONFIG)
FILE = SnapshotFolder.file_bytes(8 * BLOCK)
GREEDY = GenerateOptions(temperature=0.0, max_tokens=8)
LONG = "The quick brown fox jumps over the lazy dog. 敏捷的棕色狐狸。" * 20


@pytest.fixture
def fast_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """With space; and time enough: this machine may stand still for a while."""
    monkeypatch.setattr(snapshot_folder, "FREE_BYTES", 0)
    monkeypatch.setattr(snapshots, "PATIENCE_S", 60.0)
    monkeypatch.setattr(snapshots, "CLOSING_S", 60.0)
    monkeypatch.setattr(snapshot_folder, "drive_info", lambda _: DriveInfo("nvme"))


@pytest.fixture
def caches(tmp_path: Path, fast_drive: None) -> Iterator[list[PrefixCache]]:
    """Closes what `opened` opens."""
    made: list[PrefixCache] = []
    yield made
    for cache in made:
        cache.close()


def opened(
    caches: list[PrefixCache],
    root: Path,
    identity: bytes = b"model",
    model: FakeModel | None = None,
    blocks: int = 1000,
) -> PrefixCache:
    """A model with its snapshots, as after a start of the program."""
    model = model or FakeModel(TOKENIZER.vocab_size)
    folder = SnapshotFolder(root, "a" * 64, blocks * FILE)
    caches.append(PrefixCache(model, Snapshots(model, folder, identity)))
    return caches[-1]


def files(root: Path) -> int:
    """How many snapshot files there are."""
    return len(list(snapshot_root(root).glob("*/*.kv")))
