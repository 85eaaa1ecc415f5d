"""The command `edge0`: opens the app or runs a subcommand. Exit: 0, 1, 2 (usage), 130 (Ctrl-C).

An Edge0Error is shown as its message and its next step, without a traceback. Each subcommand lives
in its own file with `add` (its options) and `run`, and is imported only when asked for.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import sys
from collections.abc import Sequence
from types import ModuleType

from engine.cli import output
from engine.errors import Edge0Error, OutputError, Stopped
from engine.text import Text

COMMANDS = {
    "models": "list the models on this machine",
    "chat": "talk to a model in the terminal",
    "get": "download a model from a hub and convert it",
    "move": "move a model into another folder or onto another drive",
    "starter": "fetch the small starter model",
    "bench": "measure speed and memory of a model",
    "doctor": "check this machine, and a model when one is named",
    "warm": "read a model's files into the system's cache",
    "cache": "show, or clear, what is kept of conversations to go on with them sooner",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    output.use_utf8()
    arguments = list(sys.argv[1:] if argv is None else argv)
    return output.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except OutputError:
        raise
    except (Stopped, KeyboardInterrupt):
        output.note("Stopped.")
        return 130
    except Edge0Error as error:
        output.note(error.message)
        output.note(error.next_step)
        return 1


def _dispatch(arguments: list[str]) -> int:
    if not arguments:
        return _open_app()
    if arguments[0] == "prepare":  # all options are those of edge0-prepare
        return int(importlib.import_module("engine.cli.prepare").main(arguments[1:]))
    options = parser(arguments[0]).parse_args(arguments)
    return int(_command(options.command).run(options))


def parser(wanted: str) -> argparse.ArgumentParser:
    """Every subcommand, but the options of the wanted one only: the others are not imported."""
    top = argparse.ArgumentParser(
        prog="edge0", description="Chat with Mixture-of-Experts models larger than memory."
    )
    top.add_argument("--version", action="version", version=f"edge0 {version()}")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, title="without a command, the app opens"
    )
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=purpose)
        if name == wanted:
            _command(name).add(command)
    commands.add_parser("prepare", help="convert a model (the same as edge0-prepare)")
    return top


def version() -> str:
    """The installed version."""
    try:
        return importlib.metadata.version("edge0")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def _command(name: str) -> ModuleType:
    return importlib.import_module(f"engine.cli.{name}")


def _open_app() -> int:
    """By name, not by import: the engine knows nothing of the app."""
    try:
        app = importlib.import_module("app.__main__")
    except ImportError as error:
        raise Edge0Error(
            Text("The app cannot be opened: {0}.", error),
            Text(
                "Run python3 installers/bootstrap.py run once, or use edge0 chat in the terminal."
            ),
        ) from error
    return int(app.main() or 0)
