"""The two commands of the README: `run` opens Edge0, `test` runs every test; `setup` only installs.

Standard library only; safe to repeat and to kill at any moment.
"""

from __future__ import annotations

import argparse
import io
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import system_packages
from environment import Project, SetupError, call, child_environment, ensure_venv, install

MINIMUM_PYTHON = (3, 10)
MOST_WORKERS = 4  # of pytest; each takes a gigabyte


def check_python(version: tuple[int, int], maxsize: int = sys.maxsize) -> None:
    """Refuse a Python that Edge0 cannot run on. This file itself must load on 3.7."""
    if version >= MINIMUM_PYTHON and maxsize > 2**32:
        return
    bits = 64 if maxsize > 2**32 else 32
    raise SetupError(
        f"Edge0 needs a 64-bit Python 3.10 or newer; this is Python {version[0]}.{version[1]}, "
        f"{bits}-bit.\nGet one from https://www.python.org/downloads/ and run this command with it."
    )


def lock_file(file: TextIO, wait: bool) -> bool:
    """Take the lock that ends with this process; False when another holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


@contextmanager
def only_one(project: Project) -> Iterator[Project]:
    """Two of these commands at once take turns; yields the project with its lock held."""
    with open(project.root / ".bootstrap.lock", "w", encoding="utf-8") as file:
        if not lock_file(file, wait=False):
            print("Another Edge0 setup is at work here; waiting for it …", flush=True)
            while not lock_file(file, wait=True):
                pass
        yield replace(project, lock=file.fileno())


def has_screen() -> bool:
    """False on a Linux without a graphical session, unless Qt was told to do without one."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return sys.platform != "linux" or any(os.environ.get(name) for name in names)


def set_up(project: Project, extras: Sequence[str], *, window: bool) -> None:
    """Everything before Edge0's own code can run; `window` also readies a real screen."""
    with only_one(project) as locked:
        if sys.platform == "linux":
            on_x11 = window and not os.environ.get("WAYLAND_DISPLAY")
            system_packages.ensure_qt_libraries(x11=on_x11 and has_screen(), fonts=window)
        ensure_venv(locked)
        install(locked, extras)


def open_app(project: Project) -> int:
    """Become the app, so that closing or killing this process closes it; Windows must wait."""
    sys.stdout.flush()
    command = [str(project.python), "-m", "app"]
    if os.name == "nt":
        return call(project, *command[1:]).returncode
    os.chdir(project.root)
    os.execve(command[0], command, child_environment())


def run(project: Project) -> int:
    """Install, fetch the starter model, open the window."""
    set_up(project, [], window=True)
    if call(project, "-m", "engine.cli", "starter").returncode:
        print("The starter model is not here yet; Edge0 opens without it and offers it again.")
    if not has_screen():
        print(
            "There is no screen here, so Edge0's window cannot open. To chat in this terminal:\n"
            f"  cd {shlex.quote(str(project.root))} && .venv/bin/python -m engine.cli chat"
        )
        return 1
    return open_app(project)


def test(project: Project, arguments: Sequence[str]) -> int:
    """Install with the test tools and run every test; `arguments` go to pytest.

    Several workers share them; `-n 0` among the arguments means none.
    """
    set_up(project, ["test"], window=False)
    workers = ("-n", str(min(os.cpu_count() or 1, MOST_WORKERS)), "--dist", "worksteal")
    return call(project, "-m", "pytest", *workers, *arguments).returncode


def main(arguments: Sequence[str] | None = None, root: Path | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bootstrap.py", description=__doc__)
    parser.add_argument("command", choices=["run", "test", "setup"])
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "test":
        parser.error(f"{options.command} takes no more arguments: {' '.join(rest)}")
    project = Project(root or Path(__file__).resolve().parent.parent)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console that lacks a character still shows us
            stream.reconfigure(errors="replace")
    try:
        check_python(sys.version_info[:2])
        if options.command == "run":
            return run(project)
        if options.command == "test":
            return test(project, rest)
        set_up(project, ["test"], window=False)
    except (SetupError, system_packages.SystemPackagesMissing) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
