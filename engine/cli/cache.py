"""`edge0 cache`: how much is kept of conversations to go on with them sooner, and away with it."""

from __future__ import annotations

import argparse

from engine.cli import output
from engine.store.cache_dir import forget_all, snapshot_bytes, snapshot_root


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    parser.add_argument("action", nargs="?", choices=("show", "clear"), default="show")


def run(options: argparse.Namespace) -> int:
    """Show or clear."""
    if options.action == "clear":
        output.say(f"Deleted {output.gigabytes(forget_all())} of snapshots of conversations.")
    else:
        size = output.gigabytes(snapshot_bytes())
        output.say(f"{size} of snapshots of conversations are in {snapshot_root(None)}.")
    return 0
