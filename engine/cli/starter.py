"""`edge0 starter`: fetches and converts the small starter model, prints where it is."""

from __future__ import annotations

import argparse

from engine.cli import output, shared
from engine.errors import Edge0Error
from engine.starter import ensure_starter


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """Make sure the starter model is there."""
    if options.progress == "json":
        return _run_json(options)
    progress = output.TextProgress()
    try:
        path = ensure_starter(progress, models_dir=options.models_dir)
    finally:
        progress.end()
    output.say(str(path))
    return 0


def _run_json(options: argparse.Namespace) -> int:
    """One JSON object a line, the last one `finished` or `error`: for the app."""
    try:
        path = ensure_starter(output.json_progress, models_dir=options.models_dir)
    except Edge0Error as error:
        return output.say_json_error(error)
    output.say_json({"finished": str(path)})
    return 0
