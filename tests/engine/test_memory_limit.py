"""A control group's limit is lowered while a model is open: the next reply works, in less memory.

Needs root and a memory control group of our own; skipped elsewhere.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from engine.store.needs import GB
from tests.bench.cgroup import VERSION_1, VERSION_2, MemoryGroup, NoCgroup
from tests.helpers.tiny_containers import make_tiny_container

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMY = {
    "hidden_size": 512,
    "moe_intermediate_size": 512,
    "num_experts": 16,
    "num_hidden_layers": 4,
}  # 64 experts of 1.5 MB as bf16
EXPERTS = 64
START, SLACK = GB, 16 << 20


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("limit") / "model", quant="bf16", **ROOMY)


class Talk:
    """A model open in a group whose limit the test moves."""

    def __init__(self, group: MemoryGroup, child: subprocess.Popen[str]) -> None:
        self._group, self._child = group, child
        self.last = self._read()

    def reply(self) -> list[int]:
        """One reply's ids; fails when the process was killed."""
        _pipe(self._child.stdin).write("\n")
        _pipe(self._child.stdin).flush()
        self.last = self._read()
        return list(self.last["ids"])

    def lower(self, limit: int) -> bool:
        """Set the limit; False when the kernel cannot take so much away now."""
        for files in (VERSION_1, VERSION_2):
            path = self._group._path / files.limit
            if path.exists():
                try:
                    path.write_text(str(limit), encoding="ascii")
                except OSError:
                    return False
        return True

    def _read(self) -> dict[str, Any]:
        line = _pipe(self._child.stdout).readline()
        assert line, f"the process ended; killed for memory: {self._group.oom_kills}"
        found: dict[str, Any] = json.loads(line)
        return found


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@contextmanager
def talking(model: Path, mode: str) -> Iterator[Talk]:
    script = [sys.executable, "-m", "tests.helpers.reply_on_demand"]
    script += [str(model), str(model.parent / "cache"), mode, str(START / GB)]
    try:
        with MemoryGroup(START) as group:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            with subprocess.Popen(group.command(script), cwd=ROOT, **pipes) as child:  # type: ignore[call-overload]
                try:
                    yield Talk(group, child)
                finally:
                    child.stdin.close()
                    child.wait(30)
            assert child.returncode == 0 and group.oom_kills == 0
    except NoCgroup as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("mode", ["mapped", "direct"])
def test_the_next_reply_works_in_less_memory(model: Path, mode: str) -> None:
    """Lowered as far as the kernel allows, again and again, down to what the model needs at least.

    What is mapped the kernel can take at once; slots are given back when the limit comes near.
    """
    with talking(model, mode) as talk:
        assert talk.last["slots"] == EXPERTS
        expected = talk.reply()
        target, limit = talk.last["minimum"] + SLACK, START
        for _ in range(20):
            for wanted in (target, (limit + target) // 2, (7 * limit + target) // 8):
                if wanted < limit and talk.lower(wanted):
                    limit = wanted
                    break
            assert talk.reply() == expected
            if limit == target:
                break
        assert limit == target
        assert talk.reply() == expected
        assert talk.last["budget"] <= target and talk.last["working_set"] <= target
        assert talk.last["slots"] < EXPERTS
        assert "the memory limit was lowered" in talk.last["change"]["reason"].lower()
        assert talk.last["mode"] == mode
