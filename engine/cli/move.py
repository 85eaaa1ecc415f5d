"""`edge0 move`: moves a converted model into another folder, also on another drive."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli import output, shared
from engine.cli.prepare import stop_on_signals
from engine.container.move import move_model
from engine.library import find_model


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    shared.add_name(parser)
    parser.add_argument("folder", type=shared.folder, metavar="FOLDER", help="where it is to lie")
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """Move it."""
    return output.result_path(options.progress == "json", lambda report: _move(options, report))


def _move(options: argparse.Namespace, report: output.Report) -> Path:
    with stop_on_signals() as stop:
        model = find_model(options.model, options.models_dir)
        return move_model(model, options.folder, report, stop)
