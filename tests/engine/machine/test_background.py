"""A conversion lets everything else go first: exactly these calls, system by system."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from engine.cli import main, prepare
from engine.machine import background
from engine.machine.background import yield_to_others
from tests.helpers.fake_dll import FakeDll


class FakeProcess:
    """A psutil.Process that records; `deny`: the system refuses everything."""

    def __init__(self, nice: int = 0, deny: bool = False) -> None:
        self._nice, self._deny = nice, deny
        self.calls: list[tuple[str, int]] = []

    def nice(self, value: int | None = None) -> int:
        if value is not None:
            self._note("nice", value)
        return self._nice

    def ionice(self, value: int) -> None:
        self._note("ionice", value)

    def _note(self, name: str, value: int) -> None:
        self.calls.append((name, value))
        if self._deny:
            raise psutil.AccessDenied()


def test_linux_and_windows() -> None:
    linux, windows = FakeProcess(), FakeProcess()
    yield_to_others("linux", linux)
    assert linux.calls == [("nice", 10), ("ionice", 3)]
    yield_to_others("win32", windows)
    assert windows.calls == [("nice", 0x4000), ("ionice", 0)]


def test_macos() -> None:
    process, library = FakeProcess(), FakeDll(setiopolicy_np=0)
    yield_to_others("darwin", process, lambda: library)
    assert process.calls == [("nice", 10)]
    assert library.calls == [("setiopolicy_np", (0, 0, 3))]


def test_a_process_that_yields_more_already_stays_so() -> None:
    process = FakeProcess(nice=19)
    yield_to_others("linux", process)
    assert process.calls[0] == ("nice", 19)


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_a_refusal_is_no_fault(platform: str) -> None:
    process = FakeProcess(deny=True)
    yield_to_others(platform, process, lambda: FakeDll(setiopolicy_np=-1))
    assert process.calls


@pytest.mark.skipif(sys.platform != "linux", reason="looks into Linux's threads")
def test_threads_started_afterwards_yield_too() -> None:
    program = """
import os, threading, psutil
from engine.cli import main, prepare
from engine.machine import background
from engine.machine.background import yield_to_others
yield_to_others()
def tell():
    me = psutil.Process(threading.get_native_id())
    print(os.getpriority(os.PRIO_PROCESS, 0), int(me.ionice().ioclass))
thread = threading.Thread(target=tell); thread.start(); thread.join()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["10", "3"], done.stderr


def test_the_commands_that_convert_do_so(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(background, "yield_to_others", lambda: asked.append("yield"))
    assert prepare.main(["--model", "nowhere", "--out", "nowhere-either"]) == 1
    assert main(["get", "no-name", "--dry-run"]) == 1
    assert asked == ["yield", "yield"]
