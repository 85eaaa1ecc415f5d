"""What each system says of memory pressure, in its own words; calls against fakes that record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from engine.machine import pressure
from engine.machine.pressure import LowMemory, PressureGauge, macos_low, some_avg10, stalled
from engine.machine.samples import SystemMemory
from tests.helpers.fake_dll import FakeDll

PSI = (
    "some avg10={} avg60=0.05 avg300=0.02 total=61065097\n"
    "full avg10=0.00 avg60=0.05 avg300=0.02 total=39081505\n"
)


def machine(tmp_path: Path, own: str | None, whole: str | None) -> tuple[Path, Path]:
    """A control group of ours and a machine, with these texts or without the file."""
    group = tmp_path / "cg" / "app.scope"
    group.mkdir(parents=True)
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text("0::/app.scope\n", encoding="ascii")
    mount = f"31 23 0:28 / {tmp_path}/cg rw shared:4 - cgroup2 cgroup2 rw\n"
    (proc / "mountinfo").write_text(mount, encoding="ascii")
    if own is not None:
        (group / "memory.pressure").write_text(own, encoding="ascii")
    if whole is not None:
        (proc / "memory").write_text(whole, encoding="ascii")
    return proc, proc / "memory"


def test_our_own_groups_stalls_count_before_the_machines(tmp_path: Path) -> None:
    proc, whole = machine(tmp_path, PSI.format("12.50"), PSI.format("1.00"))
    assert stalled(proc, whole) == 0.125


def test_without_a_group_the_machines_stalls_count(tmp_path: Path) -> None:
    proc, whole = machine(tmp_path, None, PSI.format("1.53"))
    assert stalled(proc, whole) == pytest.approx(0.0153)


@pytest.mark.parametrize("text", [None, "", "nonsense", "some avg60=1.0", "some avg10=x"])
def test_a_kernel_that_does_not_count_says_nothing(tmp_path: Path, text: str | None) -> None:
    proc, whole = machine(tmp_path, text, None)
    assert stalled(proc, whole) == 0.0


def test_the_shares_are_of_some_not_of_full() -> None:
    assert some_avg10(PSI.format("100.00")) == 1.0
    with pytest.raises(ValueError):
        some_avg10("full avg10=3.00 avg60=0.00 avg300=0.00 total=1\n")


def level(value: int, failed: int = 0) -> FakeDll:
    def answer(name: bytes, target: Any, size: Any, new: None, length: int) -> int:
        assert name == b"kern.memorystatus_vm_pressure_level" and (new, length) == (None, 0)
        target._obj.value = value
        return failed

    return FakeDll(sysctlbyname=answer)


def test_macos_levels_above_normal_are_low_memory() -> None:
    assert [macos_low(level(value)) for value in (1, 2, 4)] == [False, True, True]
    assert not macos_low(level(4, failed=-1))


def test_windows_low_memory_notification_and_the_exact_calls() -> None:
    state = {"low": 0}

    def query(handle: Any, answer: Any) -> int:
        answer._obj.value = state["low"]
        return 1

    kernel = FakeDll(
        CreateMemoryResourceNotification=77, QueryMemoryResourceNotification=query, CloseHandle=1
    )
    low = LowMemory(kernel)
    assert not low()
    state["low"] = 1
    assert low()
    low.close()
    assert not low()
    low.close()
    assert kernel.calls == [
        ("CreateMemoryResourceNotification", (0,)),
        ("QueryMemoryResourceNotification", (77, "&")),
        ("QueryMemoryResourceNotification", (77, "&")),
        ("CloseHandle", (77,)),
    ]


def test_windows_without_a_notification_is_never_low() -> None:
    kernel = FakeDll(CreateMemoryResourceNotification=None)
    low = LowMemory(kernel)
    assert not low()
    low.close()
    assert kernel.calls == [("CreateMemoryResourceNotification", (0,))]


def test_a_limit_that_is_lowered_shows_in_the_next_reading() -> None:
    memory = [SystemMemory(8, 5, 16, 8), SystemMemory(4, 1, 16, 4)]
    gauge = PressureGauge(lambda: memory.pop(0), lambda: 0.25, lambda: True)
    before, after = gauge.read(), gauge.read()
    gauge.close()
    assert (before.total, before.available, before.stall, before.low) == (8, 5, 0.25, True)
    assert (after.total, after.available) == (4, 1)


def test_this_machine_can_be_read() -> None:
    gauge = PressureGauge()
    now = gauge.read()
    gauge.close()
    assert 0 < now.available <= now.total and 0 <= now.stall <= 1
    if sys.platform == "linux" and pressure.PSI.exists():
        assert some_avg10(pressure.PSI.read_text(encoding="ascii")) >= 0
