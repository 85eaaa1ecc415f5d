"""The pause before a new file opens: measured where an exclusion would count, and tidied up."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest

from engine.doctor.scan_stall import measure_stall
from engine.errors import Stopped
from engine.machine import defender
from engine.machine.defender_status import DEFENDER, POLICIES, DefenderStatus, read_status
from engine.stop import StopFlag

MERGE = "DisableLocalAdminMerge"


def test_a_new_file_is_opened_twice_where_the_exclusion_counts(tmp_path: Path) -> None:
    seen: list[Path] = []

    def scanner(path: Path) -> float:
        assert path.stat().st_size > 0
        seen.append(path)
        return 2.0 if len(seen) == 1 else 0.01

    stall = measure_stall(tmp_path / "models", StopFlag(), scanner, size=1)
    assert (stall.first_s, stall.again_s, stall.noticeable) == (2.0, 0.01, True)
    inside = seen[0].relative_to(tmp_path / "models")
    pattern = PureWindowsPath(defender.pattern("models")).relative_to("models")
    assert PureWindowsPath(inside).match(str(pattern)) and len(inside.parts) == 2
    assert list((tmp_path / "models").iterdir()) == []


def test_it_really_measures_and_can_be_stopped(tmp_path: Path) -> None:
    stall = measure_stall(tmp_path, StopFlag(), size=1)
    assert stall.first_s > 0 and stall.again_s > 0
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        measure_stall(tmp_path, stop, size=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "values", "expected"),
    [
        ("Normal|True\r\n", {}, DefenderStatus("Normal", True, False)),
        ("Passive Mode|False", {}, DefenderStatus("Passive Mode")),
        ("", {}, DefenderStatus()),
        (
            "Normal|",
            {(POLICIES, "DisableLocalAdminMerge"): 1},
            DefenderStatus("Normal", managed=True),
        ),
        ("Normal|", {(POLICIES, MERGE): 0}, DefenderStatus("Normal")),
        (
            "EDR Block Mode|True",
            {(rf"{DEFENDER}\Features", "TPExclusions"): 1},
            DefenderStatus("EDR Block Mode", True, True),
        ),
    ],
)
def test_what_windows_says_becomes_a_status(
    answer: str, values: dict[tuple[str, str], int], expected: DefenderStatus
) -> None:
    def registry(key: str, value: str) -> int | None:
        return values.get((key, value))

    assert read_status(lambda script: answer, registry) == expected


def test_unknown_is_not_called_off() -> None:
    assert DefenderStatus().scans and not DefenderStatus("Not running").scans
