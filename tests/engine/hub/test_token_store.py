"""The token goes into the system's store, or lives until the program ends; never into a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.hub.token_store import TokenStore
from tests.helpers.fake_keyring import Breaks, Forgets, Works


def test_a_kept_token_is_there_for_the_next_program() -> None:
    system = Works()
    assert TokenStore(system).save("hf_a") is True
    assert TokenStore(system).load() == "hf_a"
    TokenStore(system).forget()
    assert TokenStore(system).load() == ""
    TokenStore(system).forget()  # twice is no fault


@pytest.mark.parametrize("system", [Breaks(), Forgets()])
def test_without_a_store_it_lives_as_long_as_the_program(system: Works) -> None:
    store = TokenStore(system)
    assert store.load() == ""
    assert store.save("hf_a") is False
    assert store.load() == "hf_a"
    assert TokenStore(system).load() == ""
    store.forget()
    assert store.load() == ""


def test_nothing_is_written_by_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TokenStore(Breaks()).save("hf_a")
    assert not list(tmp_path.rglob("*"))
