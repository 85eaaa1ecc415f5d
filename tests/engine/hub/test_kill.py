"""Killed without warning at random bytes, a download goes on and ends with the same bytes."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.hub.download import download
from engine.hub.marker import is_complete
from engine.hub.policy import DownloadPolicy
from tests.engine.hub.conftest import blob, plan_of, whole
from tests.helpers.fake_hub import FakeHub

ROOT = Path(__file__).parents[3]
CONNECTIONS, KILLS = 3, 50
FILES = {
    "tokenizer.json": blob(20_000, 3),
    "model-1.safetensors": blob(2_900_000, 1),
    "model-2.safetensors": blob(3_100_000, 2),
}
TOTAL = sum(len(data) for data in FILES.values())


@contextmanager
def dying(order: Path) -> Iterator[Callable[[int, Path], int]]:
    """Starts a download that dies after so many bytes; gives its exit code."""
    command = [sys.executable, "-m", "tests.helpers.download_and_die"]
    with subprocess.Popen(
        [*command, str(order), str(CONNECTIONS)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def run(limit: int, target: Path) -> int:
            print(limit, target, file=process.stdin, flush=True)
            return int(process.stdout.readline())

        yield run
        process.stdin.close()


@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_kill_at_random_bytes(quick: DownloadPolicy, odd_folder: Path, tmp_path: Path) -> None:
    rng, order, kills, number = random.Random(7), tmp_path / "order", 0, 0
    with FakeHub({"org/model": FILES}) as hub:
        plan = plan_of(hub)
        order.write_bytes(pickle.dumps((plan, quick)))
        with dying(order) as run:
            while kills < KILLS:
                target = odd_folder / str(number)
                code = run(rng.randrange(20_000, TOTAL // 6), target)
                kills += code == -9
                number += code == 0
                assert code in (0, -9)
                assert is_complete(target, plan) == (code == 0)
                for name, data in FILES.items():  # what has its name is whole
                    path = target / name
                    assert not path.exists() or path.read_bytes() == data
        folders = [path for path in odd_folder.iterdir() if path.is_dir()]
        for target in folders:
            download(plan, target, connections=CONNECTIONS, policy=quick)
            assert whole(target, FILES)
            assert is_complete(target, plan)
        again = hub.body_bytes() - TOTAL * len(folders)
        assert again <= kills * CONNECTIONS * quick.range_bytes, "more than the ranges at hand"
