"""What lies where a conversion is to go: the same model, whole or damaged, or something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.container.reader import Container
from engine.errors import ContainerError
from engine.prepare.compact import compact
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers.compact_and_die import rising
from tests.helpers.damage import damage
from tests.helpers.tiny_containers import make_tiny_container


def verify(path: Path) -> None:
    Container.open(path).verify(lambda _: None, StopFlag())


def test_a_model_found_damaged_is_made_again_by_the_same_command(tmp_path: Path) -> None:
    """Also one that was laid out by use since."""
    out = make_tiny_container(tmp_path / "m", num_hidden_layers=2)
    source = tmp_path / "m-source"
    for _ in range(2):
        damage(next(out.glob("*.moex")), 9000)
        with pytest.raises(ContainerError):
            verify(out)
        assert not prepare(source, out).already
        verify(out)
        assert prepare(source, out).already
        compact(out, rising(out))


def test_a_model_with_a_file_cut_short_is_made_again(tmp_path: Path) -> None:
    out = make_tiny_container(tmp_path / "m", num_hidden_layers=2)
    file = next(out.glob("*.moex"))
    file.write_bytes(file.read_bytes()[:-4096])
    assert not prepare(tmp_path / "m-source", out).already
    verify(out)
