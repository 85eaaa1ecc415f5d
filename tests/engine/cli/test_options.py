"""Numbers and texts on the command line that make no sense: refused before any work is done."""

from __future__ import annotations

import io
import sys

import pytest

from engine.cli import main

IMPOSSIBLE = [
    ("chat --context 0", "Give 16 to 1048576"),
    ("chat --context -5", "Give 16 to 1048576"),
    ("chat --context many", "is not a whole number"),
    ("chat --threads 0", "Give 1 to 256"),
    ("chat --budget 0", "Give a number of GB above 0"),
    ("chat --budget nan", "Give a number of GB above 0"),
    ("chat --budget 4GB", "is not a number"),
    ("chat --max-tokens 0", "Give 1 or more"),
    ("chat --temperature -1", "Give 0 to 10"),
    ("chat --seed -1", "Give a whole number from 0"),
    ("bench x --prompt 0", "Give 1 or more"),
    ("bench x --generate 0", "Give 1 or more"),
    ("bench x --repeat -1", "Give 1 or more"),
    ("bench x --seed -1", "Give a whole number from 0"),
    ("bench x --prefetch -1", "Give 0 to 64"),
    ("bench x --context 0", "Give 16 to 1048576"),
    ("doctor --budget 0", "Give a number of GB above 0"),
    ("get owner/name --connections 0", "Give 1 to 16"),
]

EMPTY = [
    "chat EMPTY --once hi",
    "bench EMPTY",
    "warm EMPTY",
    "doctor EMPTY",
    "move EMPTY there",
    "move model EMPTY",
    "get EMPTY",
    "get owner/name --name EMPTY",
    "get owner/name --revision EMPTY",
    "get owner/name --endpoint EMPTY",
    "get owner/name --gguf EMPTY",
    "get owner/name --proxy EMPTY",
    "models --models-dir EMPTY",
    "starter --models-dir EMPTY",
    "prepare --model EMPTY --out there",
    "prepare --model there --out EMPTY",
    "prepare --model there --out there --calibrate EMPTY",
    "prepare compact EMPTY",
    "prepare compact model --calibrate EMPTY",
]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What is said, with exit code 2 and nothing on stdout."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    said = capsys.readouterr()
    assert (end.value.code, said.out) == (2, "")
    return said.err.splitlines()[-1]


@pytest.mark.parametrize(("line", "next_step"), IMPOSSIBLE)
def test_an_impossible_number_is_refused_by_its_option(
    line: str, next_step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    option, value = line.split()[-2:]
    said = refused(line.split(), capsys)
    assert f"argument {option}: " in said and value.removesuffix("GB") in said
    assert next_step in said


@pytest.mark.parametrize("blank", ["", " \t"])
@pytest.mark.parametrize("line", EMPTY)
def test_an_empty_name_or_place_is_refused(
    line: str, blank: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [blank if word == "EMPTY" else word for word in line.split()]
    assert "The text is empty. Give a name or a place." in refused(arguments, capsys)


@pytest.mark.parametrize("once", ["", "  \n\t　"])
def test_a_question_without_words_is_refused(once: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "There is nothing to answer. Give some words." in refused(
        ["chat", "x", "--once", once], capsys
    )


def test_stdin_without_words_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(" \n\n"))
    assert "There is nothing to answer" in refused(["chat", "x", "--once", "-"], capsys)
