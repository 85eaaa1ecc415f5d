"""Counts which experts a converted model uses and lays those first, on the calling thread.

Memory while counting: the model opened with room for two layers' experts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from engine.config import Edge0Config
from engine.container.reader import Container, read_manifest
from engine.errors import Edge0Error, OutputError, Stopped
from engine.events import Progress
from engine.prepare.calibrate import WINDOW_TOKENS, Counts, calibrate
from engine.prepare.compact import CompactSummary, compact
from engine.stop import StopFlag
from engine.store.needs import GB
from engine.store.usage import known_rates
from engine.text import Text, joined

_SLACK = 256 << 20  # what Python may grow by until the model is open
_SCALE = 1_000_000  # uses a token are kept as whole numbers

Report = Callable[[Progress], None]


def after_conversion(path: Path, text: str | None, report: Report, stop: StopFlag) -> list[Text]:
    """Calibrate a model that just became ready; what to tell the user. text None: the built-in one.

    The model is complete already: only Stopped is raised.
    """
    manifest = read_manifest(path)
    if manifest.shape.dense or (text is None and manifest.counts is not None):
        return []  # all blocks of a dense model are used alike
    try:
        compact(path, count_routing(path, text, report, stop), report, stop)
    except (Stopped, OutputError):
        raise
    except Edge0Error as error:
        what = Text("The experts are not laid out by use.")
        later = Text('To try again: edge0-prepare compact "{0}".', path)
        return [joined(" ", (what, error.message, later))]
    return [Text("the experts used most come first in each layer")]


def by_known_use(
    path: Path, recount: bool, text: str | None, report: Report, stop: StopFlag
) -> CompactSummary:
    """Lay out by what is known of the model's use, counting first when that is nothing.

    Raises what `compact` and opening a model raise.
    """
    with closing(Container.open(path)) as container:
        rates = None if recount else known_rates(container)
    if rates is None:
        return compact(path, count_routing(path, text, report, stop), report, stop)
    return compact(path, np.rint(rates * _SCALE).astype(np.int64), report, stop)


def count_routing(path: Path, text: str | None, report: Report, stop: StopFlag) -> Counts:
    """Uses of each (layer, expert) over a text. Raises BudgetError, ChatError, StorageError, …"""
    from engine.model.planning import plan_model
    from engine.runtime import Edge0Runtime

    config = Edge0Config(path, context_tokens=WINDOW_TOKENS, prefetch_experts=0)
    with closing(Container.open(path)) as container:
        plan = plan_model(container, config)
        record = max(layout.bytes for layout in container.manifest.layouts)
        room = 2 * container.shape.experts * record
    budget = plan.budget - plan.spare - plan.expert_bytes + room + _SLACK
    config = Edge0Config(
        path,
        context_tokens=WINDOW_TOKENS,
        prefetch_experts=0,
        memory_budget_gb=min(plan.budget, budget) / GB,
    )
    with Edge0Runtime.from_config(config) as runtime:
        return calibrate(runtime, text, report, stop)
