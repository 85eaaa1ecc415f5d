"""Texts keep their templates through copies, pickles and JSON, and are plain English meanwhile."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import asdict, dataclass

import pytest

from engine.text import Text, joined, record, text_from_record, with_records

KIND = Text("a hard disk")
ON = Text("{0} is on {1}.", "D:\\{models} %s", KIND)


def test_it_is_the_english_text() -> None:
    assert ON == "D:\\{models} %s is on a hard disk." and isinstance(ON, str)
    assert joined("; ", [KIND, "x"]) == "a hard disk; x"
    assert Text("{0} GB", 3) == "3 GB"


@dataclass(frozen=True)
class Found:
    title: str


@pytest.mark.parametrize(
    "again",
    [
        copy.deepcopy(ON),
        pickle.loads(pickle.dumps(ON)),
        asdict(Found(ON))["title"],
        text_from_record(json.loads(json.dumps(record(ON)))),
    ],
)
def test_copies_keep_the_template(again: str) -> None:
    assert again == ON and isinstance(again, Text)
    assert (again.template, again.values) == (ON.template, ON.values)
    assert isinstance(again.values[1], Text)


def test_json_lines_carry_both() -> None:
    line = with_records({"what": ON, "list": [{"title": KIND}], "done": 1})
    assert line["what"] == ON and text_from_record(line["what_text"]) == ON
    assert line["list"][0]["title_text"] == ["a hard disk", []] and "done_text" not in line


def test_lists_of_texts_carry_both() -> None:
    line = json.loads(json.dumps(with_records({"notes": (KIND, "as it is"), "sizes": [1, 2]})))
    assert line["notes"] == ["a hard disk", "as it is"] and "sizes_text" not in line
    told = [text_from_record(item) for item in line["notes_text"]]
    assert told == line["notes"] and isinstance(told[0], Text)


@pytest.mark.parametrize("bad", [None, 3, ["x"], ["{7}", []], [1, 2], {"a": 1}])
def test_another_processes_nonsense_is_told(bad: object) -> None:
    with pytest.raises(ValueError):
        text_from_record(bad)
