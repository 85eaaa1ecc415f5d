"""`edge0 bench --table`: this machine's own version of the write-up's table.

The model fully resident, then streamed from the SSD twice: mapped and direct. Each row opens the
model anew, with its files out of the page cache where the system can do that, and runs twice: cold,
then warm with another text.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.cli import bench, output
from engine.cli.bench import BenchPlan
from engine.config import Edge0Config
from engine.container.reader import Container
from engine.errors import BudgetError
from engine.machine import page_cache
from engine.store.budget import MemoryPlan
from engine.store.needs import GB

OFFLOAD_GB = 3.2  # the write-up's working set
_MARGIN = 64 << 20
_COLUMNS = ("", "peak working set", "first token", "decode", "experts found in memory")

Row = dict[str, Any]


def run(config: Edge0Config, plan: BenchPlan, as_json: bool) -> int:
    """Measure every row and print the table."""
    plan = replace(plan, repeat=2, preload=False)
    container = Container.open(Path(config.model_path))
    with closing(container):
        files = [*container.files, container.dense_path]
        budgets = _budgets(container, config)
    rows = []
    for name, budget, use_mmap in budgets:
        output.note(f"measuring: {name} …")
        opened = replace(config, memory_budget_gb=budget, use_mmap=use_mmap)
        rows.append(_row(name, opened, plan, files))
    if as_json:
        output.say_json({"model": Path(config.model_path).name, "rows": rows})
    else:
        _say(rows, config, plan)
    return 0


def _budgets(container: Container, config: Edge0Config) -> list[tuple[str, float, bool]]:
    """Each row's name, memory budget and whether it maps."""
    from engine.model.planning import plan_model

    whole = whole_bytes(plan_model(container, replace(config, memory_budget_gb=None)), container)
    offload = config.memory_budget_gb or offload_gb(whole + _MARGIN, container)
    return [
        ("fully resident", (whole + _MARGIN) / GB, True),
        ("SSD offload, mapped", offload, True),
        ("SSD offload, direct", offload, False),
    ]


def whole_bytes(plan: MemoryPlan, container: Container) -> int:
    """The budget that holds the whole model."""
    record = max(layout.bytes for layout in container.manifest.layouts)
    fixed = plan.base + plan.dense + plan.kv + plan.workspace
    return fixed + plan.experts_total * record


def offload_gb(whole: int, container: Container) -> float:
    """The write-up's budget, or for a small model what leaves half of its experts on the SSD."""
    experts = sum(file.bytes for file in container.manifest.files)
    return min(OFFLOAD_GB, (whole - experts / 2) / GB)


def _row(name: str, config: Edge0Config, plan: BenchPlan, files: list[Path]) -> Row:
    dropped = page_cache.forget(files)
    try:
        cold, warm = bench.measured(config, plan)
    except BudgetError as error:
        return {"name": name, "error": error.message}
    return {"name": name, "files_dropped": dropped, "cold": cold, "warm": warm}


def _say(rows: list[Row], config: Edge0Config, plan: BenchPlan) -> None:
    measured = next((row["warm"] for row in rows if "warm" in row), None)
    title = f"{Path(config.model_path).name}: {plan.prompt} tokens in, {plan.generate} out"
    if measured:
        title += f"; {measured['threads']} threads, {measured['isa']}"
    output.say(title)
    output.say("cold → after warm-up\n")
    for line in aligned([_COLUMNS, *(_cells(row) for row in rows)]):
        output.say(line)
    if any(row.get("files_dropped") is False for row in rows):
        output.say("\nThis system keeps files in its cache: the cold numbers may be warm ones.")


def _cells(row: Row) -> tuple[str, ...]:
    if "error" in row:
        return row["name"], row["error"]
    cold, warm = row["cold"], row["warm"]
    return (
        row["name"],
        f"{warm['working_set_peak_mb'] / 1000:.2f} GB",
        f"{cold['first_token_s']:.2f} → {warm['first_token_s']:.2f} s",
        f"{cold['decode_tok_s']:.2f} → {warm['decode_tok_s']:.2f} tok/s",
        f"{cold['expert_hit_rate']:.0%} → {warm['expert_hit_rate']:.0%}",
    )


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of cells as lines with straight columns; a short row's last cell may run on."""
    whole = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(len(row[i]) for row in whole) for i in range(len(rows[0]))]
    widths[0] = max(len(row[0]) for row in rows)
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]
