"""`edge0 get` once more, where the model it made is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ContainerError, StorageError
from engine.hub.get import GetOptions, get_model
from engine.hub.policy import DownloadPolicy
from tests.helpers.damage import damage, verify
from tests.helpers.fake_hub import FakeHub


@pytest.fixture
def hub(tiny_files: dict[str, bytes]) -> Iterator[FakeHub]:
    with FakeHub({"org/model": tiny_files}) as hub:
        yield hub


@pytest.mark.parametrize("by_shard", [False, True])
def test_a_model_found_damaged_is_fetched_and_made_again(
    hub: FakeHub, quick: DownloadPolicy, tmp_path: Path, by_shard: bool
) -> None:
    options = GetOptions("org/model", endpoint=hub.url, policy=quick, by_shard=by_shard)
    path = get_model(options, tmp_path).path
    assert get_model(options, tmp_path).already
    damage(next(path.glob("*.moex")), 9000)
    with pytest.raises(ContainerError):
        verify(path)
    assert not get_model(options, tmp_path).already
    verify(path)
    assert get_model(options, tmp_path).already


def test_what_is_no_model_any_more_is_not_touched(
    hub: FakeHub, quick: DownloadPolicy, tmp_path: Path
) -> None:
    options = GetOptions("org/model", endpoint=hub.url, policy=quick)
    path = get_model(options, tmp_path).path
    (path / "manifest.json").write_text("mine", encoding="utf-8")
    before = hub.body_bytes("shard")
    with pytest.raises(StorageError, match="exists and was made from another"):
        get_model(options, tmp_path)
    assert hub.body_bytes("shard") == before


def test_a_tokenizer_that_refuses_to_open_is_fetched_again_without_a_check(
    hub: FakeHub, quick: DownloadPolicy, tmp_path: Path
) -> None:
    options = GetOptions("org/model", endpoint=hub.url, policy=quick)
    path = get_model(options, tmp_path).path
    damage(path / "tokenizer.json", 100)
    assert not get_model(options, tmp_path).already
    verify(path)
