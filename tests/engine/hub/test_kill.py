"""Killed without warning at random bytes, a download goes on and ends with the same bytes."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine.hub.download import download
from engine.hub.marker import is_complete
from engine.hub.policy import DownloadPolicy
from tests.engine.hub.conftest import blob, plan_of, whole
from tests.helpers.fake_hub import FakeHub

ROOT = Path(__file__).parents[3]
CONNECTIONS = 3
FILES = {
    "tokenizer.json": blob(20_000, 3),
    "model-1.safetensors": blob(900_000, 1),
    "model-2.safetensors": blob(1_100_000, 2),
}
TOTAL = sum(len(data) for data in FILES.values())


@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_kill_at_random_bytes(quick: DownloadPolicy, odd_folder: Path, tmp_path: Path) -> None:
    rng, order = random.Random(7), tmp_path / "order"
    with FakeHub({"org/model": FILES}) as hub:
        plan = plan_of(hub)
        order.write_bytes(pickle.dumps((plan, quick)))
        kills = 0
        while kills < 6:
            limit = rng.randrange(20_000, TOTAL // 4)
            command = [sys.executable, "-m", "tests.helpers.download_and_die", str(order)]
            done = subprocess.run(
                [*command, str(odd_folder), str(limit), str(CONNECTIONS)],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            assert done.returncode == -9, done.stderr
            kills += 1
            assert not is_complete(odd_folder, plan)
            for name, data in FILES.items():  # what has its name is whole
                assert not (odd_folder / name).exists() or (odd_folder / name).read_bytes() == data
        seen = []
        download(plan, odd_folder, seen.append, connections=CONNECTIONS, policy=quick)
        assert whole(odd_folder, FILES)
        assert is_complete(odd_folder, plan)
        assert seen[0].done > 0
        again = hub.body_bytes() - TOTAL
        assert again <= kills * CONNECTIONS * quick.range_bytes
        assert hub.body_bytes("tokenizer.json") <= 2 * len(FILES["tokenizer.json"])
