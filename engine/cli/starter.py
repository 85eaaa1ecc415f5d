"""`edge0 starter`: fetches and converts the small starter model, prints where it is."""

from __future__ import annotations

import argparse

from engine.cli import output, shared
from engine.starter import ensure_starter


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """Make sure the starter model is there."""
    return output.result_path(
        options.progress == "json",
        lambda report: ensure_starter(report, models_dir=options.models_dir),
    )
