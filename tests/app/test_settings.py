"""The settings file: round trip, damage, single bad values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.sampling import Sampling
from app.settings import Settings, read_settings, write_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "测试 'é%" / "settings.json"


def test_what_is_written_is_read(file: Path) -> None:
    settings = Settings(
        theme="dark",
        language="zh",
        memory_budget_gb=3.5,
        io_mode="direct",
        threads=4,
        system_prompt='你好 "quoted"\nline',
        sampling=Sampling(temperature=0.0, seed=7),
        models=("/a b/ü", "C:\\models\\x"),
        show_panel=False,
    )
    write_settings(file, settings)
    assert read_settings(file) == (settings, [])
    assert [p.name for p in file.parent.iterdir()] == ["settings.json"]


def test_no_file_gives_the_defaults(file: Path) -> None:
    assert read_settings(file) == (Settings(), [])


@pytest.mark.parametrize("content", [b"", b"{", b"\x00" * 300, b"[]", b"\xff\xfe{}", b"1"])
def test_a_damaged_file_is_kept_aside(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    settings, problems = read_settings(file)
    assert settings == Settings()
    (aside,) = file.parent.iterdir()
    assert problems == [str(aside)] and aside.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "pink"),
        ("language", 3),
        ("memory_budget_gb", "much"),
        ("threads", 1.5),
        ("threads", True),
        ("system_prompt", None),
        ("sampling", {"temperature": -1}),
        ("sampling", "hot"),
        ("models", ["ok", 3]),
        ("show_panel", "yes"),
    ],
)
def test_one_bad_value_costs_only_itself(file: Path, name: str, value: object) -> None:
    file.parent.mkdir()
    content = {"io_mode": "direct", "geometry": "abc", name: value, "from_the_future": 1}
    file.write_text(json.dumps(content), encoding="utf-8")
    settings, problems = read_settings(file)
    assert problems == [name]
    assert settings == replace(Settings(), io_mode="direct", geometry="abc")


def test_an_older_file_chose_only_what_differs_from_its_defaults(file: Path) -> None:
    file.parent.mkdir()
    old = {"max_tokens": 1024, "temperature": 0.7, "top_k": 40, "top_p": 0.95, "min_p": 0.0}
    old |= {"repetition_penalty": 1.0, "seed": None}
    for sampling, expected in (
        (old, Sampling()),
        ({**old, "top_k": 20, "seed": 3}, Sampling(top_k=20, seed=3)),
    ):
        content = {"version": 1, "theme": "dark", "sampling": sampling}
        file.write_text(json.dumps(content), encoding="utf-8")
        assert read_settings(file) == (Settings(theme="dark", sampling=expected), [])
    write_settings(file, Settings(sampling=Sampling(temperature=0.7)))
    assert read_settings(file)[0].sampling.temperature == 0.7


def test_a_number_the_engine_refuses_is_dropped(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('{"threads": 100000, "theme": "dark"}', encoding="utf-8")
    settings, problems = read_settings(file)
    assert (settings.threads, settings.theme) == (None, "dark")
    assert "threads" in problems[0]


def test_the_last_used_model_comes_first() -> None:
    settings = Settings(models=("/a", "/b"))
    assert settings.with_model(Path("/b")).models == ("/b", "/a")
    assert settings.with_model(Path("/c")).models == ("/c", "/a", "/b")


def test_the_engine_gets_what_was_chosen() -> None:
    config = Settings(io_mode="direct", memory_budget_gb=2.0, threads=3).engine_config(Path("/m"))
    assert (config.io_mode, config.memory_budget_gb, config.threads) == ("direct", 2.0, 3)
    assert Settings().engine_config(Path("/m")).io_mode == "auto"
