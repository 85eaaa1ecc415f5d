"""`edge0 move`: moves a converted model into another folder, also on another drive."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli import output, shared
from engine.cli.prepare import stop_on_signals
from engine.container.move import move_model
from engine.errors import Edge0Error
from engine.library import find_model


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    shared.add_name(parser)
    parser.add_argument("folder", type=shared.folder, metavar="FOLDER", help="where it is to lie")
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """Move it."""
    if options.progress == "json":
        return _run_json(options)
    line = output.TextProgress()
    try:
        path = _move(options, line)
    finally:
        line.end()
    output.say(str(path))
    return 0


def _run_json(options: argparse.Namespace) -> int:
    """One JSON object a line, the last one `finished` or `error`."""
    try:
        path = _move(options, output.json_progress)
    except Edge0Error as error:
        return output.say_json_error(error)
    output.say_json({"finished": str(path)})
    return 0


def _move(options: argparse.Namespace, report: output.Report) -> Path:
    with stop_on_signals() as stop:
        model = find_model(options.model, options.models_dir)
        return move_model(model, options.folder, report, stop)
