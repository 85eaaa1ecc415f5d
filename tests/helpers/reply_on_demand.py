"""Opens a model and answers each line of stdin with a line of JSON: the reply's ids and memory.

python -m tests.helpers.reply_on_demand MODEL CACHE auto|mapped|direct BUDGET_GB
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict

from engine import Edge0Config, Edge0Runtime, GenerateOptions, memory_now
from engine.model.placement import LOOK_S

MODES = {"auto": None, "mapped": True, "direct": False}
PROMPT = [7 * i % 250 for i in range(1, 60)]
GREEDY = GenerateOptions(max_tokens=24, temperature=0.0)


def main() -> None:
    """Serve until stdin ends."""
    path, cache, mode, budget = sys.argv[1:]
    config = Edge0Config(
        path,
        memory_budget_gb=float(budget),
        use_mmap=MODES[mode],
        cache_dir=cache,
        context_tokens=256,
        threads=1,
    )
    with Edge0Runtime.from_config(config) as runtime:
        _say(runtime, [])
        for _ in sys.stdin:
            time.sleep(LOOK_S)
            runtime.model.rewind(0)
            _say(runtime, runtime.generate_ids(PROMPT, GREEDY))


def _say(runtime: Edge0Runtime, ids: list[int]) -> None:
    now = runtime.snapshot()
    change = asdict(now.memory_change) if now.memory_change else None
    told = {"ids": ids, "slots": now.expert_slots, "budget": now.budget_bytes, "mode": now.io_mode}
    told |= {"working_set": memory_now().working_set, "change": change}
    told |= {"minimum": runtime._placement._needs.minimum_bytes}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
