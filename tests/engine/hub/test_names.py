"""What a file may be called before we write it, on every system."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from engine.hub import names

GOOD = ["model.safetensors", "tokenizer.json", "LICENSE", "模型.gguf", "a-00001-of-00002.gguf"]
BAD = [
    "", ".", "..", "a/b", "a\\b", "C:x", "x.", "x ", "con", "CON.json", "nul.txt", "com1.gguf",
    "a\0b", "a\nb", "a*b", "a?b", '"a"', "a|b", "<a>", ".hidden", "x.part", "X.JOURNAL", "a.tmp",
    "x" * 201, "\ud800.json", "com¹.json",
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_good_names(name: str) -> None:
    assert names.is_safe_name(name)


@pytest.mark.parametrize("name", BAD)
def test_bad_names(name: str) -> None:
    assert not names.is_safe_name(name)


@given(st.text(max_size=30))
def test_a_safe_path_stays_inside(path: str) -> None:
    from pathlib import PurePosixPath, PureWindowsPath

    if names.is_safe_path(path):
        for kind in (PurePosixPath, PureWindowsPath):
            pure = kind(path)
            assert not pure.is_absolute() and not pure.drive and ".." not in pure.parts


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("tokenizer.model", True),
        ("tokenizer_config.json", True),
        ("tokenizer.py", False),
        ("tokenizer.bin", False),
        ("LICENSE.txt", True),
        ("LICENSE.py", False),
        ("license", True),
        ("chat_template.jinja", True),
        ("training_args.bin", False),
        ("model.pt", False),
        ("run.sh", False),
        ("README.md", False),
    ],
)
def test_side_files(name: str, taken: bool) -> None:
    assert names.is_side_file(name) is taken
