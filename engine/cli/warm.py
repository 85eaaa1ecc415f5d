"""`edge0 warm`: reads a model's files once, so that the first reply finds them in memory."""

from __future__ import annotations

import argparse

from engine.cli import output, shared
from engine.container.reader import Container
from engine.library import find_model
from engine.machine.memory import system_memory
from engine.store.usage import known_rates, warm_order
from engine.store.warm import warm


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    shared.add_name(parser)
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """Read as much as memory can keep, what is used most before the rest."""
    container = Container.open(find_model(options.model, options.models_dir))
    progress = output.TextProgress()
    try:
        order = warm_order(known_rates(container))
        done = warm(container, system_memory().available, progress, order=order)
    finally:
        progress.end()
        container.close()
    part = f"{done.records} of {done.records_total} experts, {output.gigabytes(done.bytes)}"
    output.say(f"{container.path.name}: {part} are in the system's cache now.")
    if done.records < done.records_total:
        output.note("The rest does not fit into free memory and stays on the drive.")
    return 0
