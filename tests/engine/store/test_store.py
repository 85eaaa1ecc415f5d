"""The expert store over real files: right bytes under pressure, victims in order, clear errors."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from engine.errors import StorageError
from engine.model.program import Experts
from engine.store.policy import Keys, LeastRecentlyUsed
from engine.store.store import ExpertStore, Mode
from tests.helpers.expert_files import ExpertFiles, write_experts
from tests.helpers.native_program import Floats, NativeProgram, random_floats

LAYERS, EXPERTS, HIDDEN = 2, 6, 32
ALL = LAYERS * EXPERTS
MODES: tuple[Mode, ...] = ("mapped", "direct")
X = random_floats(8, HIDDEN)
Chunk = Sequence[Sequence[int]]  # experts of each layer, all tokens use all of a layer's


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ExpertFiles:
    folder = tmp_path_factory.mktemp("测试 é'&#%")
    return write_experts(folder, LAYERS, EXPERTS, HIDDEN, width=32, top_k=EXPERTS)


class Given:
    """A policy that says what it is told, and keeps what it hears."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.heard: list[tuple[list[int], list[int], int]] = []
        self.lost: list[list[int]] = []

    def touch(self, keys: Keys, uses: Keys, tokens: int) -> None:
        self.heard.append((keys.tolist(), uses.tolist(), tokens))

    def evicted(self, keys: Keys) -> None:
        self.lost.append(keys.tolist())

    def victims(self, resident: Keys, wanted: int) -> Keys:
        return np.array([key for key in self.order if key in resident], np.int32)


class Runner:
    """Runs chunks of the experts op over a store."""

    def __init__(self, files: ExpertFiles, store: ExpertStore, program: NativeProgram) -> None:
        self.store, self._program, self._experts = store, program, files.shape.experts
        files.attach(program, store)

    def run(self, chunk: Chunk, tokens: int = 1) -> Floats:
        """Each layer's experts over the first tokens of X; StorageError like the executor."""
        ops, inputs = [], {"x": X[:tokens], "ones": np.ones((tokens, EXPERTS), np.float32)}
        for layer, ids in enumerate(chunk):
            names = f"y{layer}", "x", layer, self._experts, len(ids), "silu", f"ids{layer}", "ones"
            route = np.tile(np.array([*ids, *[0] * (EXPERTS - len(ids))], np.int32), (tokens, 1))
            inputs[f"ids{layer}"] = route
            ops += [Experts(*names)] if ids else []  # type: ignore[arg-type]
        if self._program.run(ops, inputs):
            raise self.store.read_error()
        self.store.after_chunk(tokens)
        used = [layer for layer, ids in enumerate(chunk) if ids]
        return np.stack([self._program.buffer(f"y{layer}")[:tokens] for layer in used])


@contextmanager
def opened(files: ExpertFiles, mode: Mode, slots: int, **more: object) -> Iterator[Runner]:
    widths = {"x": HIDDEN, "ones": EXPERTS}
    widths |= {f"y{layer}": HIDDEN for layer in range(LAYERS)}
    widths |= {f"ids{layer}": EXPERTS for layer in range(LAYERS)}
    with (
        closing(files.store(mode, slots, **more)) as store,  # type: ignore[arg-type]
        NativeProgram(widths, threads=1, rows=len(X)) as program,
    ):
        yield Runner(files, store, program)


def random_chunk(rng: np.random.Generator, experts: int = EXPERTS) -> Chunk:
    return [
        rng.permutation(experts)[: rng.integers(1, EXPERTS + 1)].tolist() for _ in range(LAYERS)
    ]


@pytest.mark.parametrize("mode", MODES)
def test_a_thousand_random_sequences_compute_what_all_in_memory_computes(
    files: ExpertFiles, mode: Mode
) -> None:
    """Any slots down to one, any lanes, sometimes warm, sometimes fewer slots half-way."""
    rng = np.random.default_rng(1)
    with opened(files, mode, ALL) as everything:
        for _ in range(500):
            slots = int(rng.integers(1, ALL + 1))
            with opened(files, mode, slots, lanes=int(rng.integers(1, 5))) as few:
                if rng.random() < 0.3:
                    few.store.load(rng.permutation(ALL).astype(np.int32))
                for _ in range(rng.integers(1, 6)):
                    chunk, tokens = random_chunk(rng), int(rng.integers(1, len(X) + 1))
                    assert np.array_equal(few.run(chunk, tokens), everything.run(chunk, tokens))
                    resident = few.store.resident().tolist()
                    assert len(set(resident)) == len(resident) <= few.store.slots
                    if rng.random() < 0.2:
                        few.store.shrink(int(rng.integers(1, few.store.slots + 1)))


@pytest.mark.parametrize("unit_bytes", [8192, 16384, 65536, 2 << 20])
@pytest.mark.parametrize("width", [32, 160])
def test_mapped_records_share_units(tmp_path: Path, unit_bytes: int, width: int) -> None:
    """Many records a unit, or several units a record: any share of the file is enough."""
    many = write_experts(tmp_path, LAYERS, 4 * EXPERTS, HIDDEN, width, top_k=EXPERTS)
    rng, keys = np.random.default_rng(2), LAYERS * 4 * EXPERTS
    with opened(many, "mapped", keys) as everything:
        for _ in range(40):
            slots = int(rng.integers(1, keys + 1))
            with opened(many, "mapped", slots, unit_bytes=unit_bytes) as few:
                for _ in range(6):
                    chunk = random_chunk(rng, 4 * EXPERTS)
                    assert np.array_equal(few.run(chunk), everything.run(chunk))


@pytest.mark.parametrize("mode", MODES)
def test_victims_go_in_the_policys_order(files: ExpertFiles, mode: Mode) -> None:
    policy = Given()
    with opened(files, mode, 4, policy=policy) as runner:
        policy.order = [2, 0, 3, 1]
        runner.run([[0, 1, 2, 3], []])
        for missing, gone in ((4, 2), (5, 0), (7, 3), (8, 1)):
            runner.run([[missing], []] if missing < EXPERTS else [[], [missing - EXPERTS]])
            assert policy.lost[-1] == [gone]
            policy.order = [key for key in policy.order if key != gone]


@pytest.mark.parametrize("mode", MODES)
def test_experts_in_use_are_never_victims(files: ExpertFiles, mode: Mode) -> None:
    """The layer's own stay although the policy would give them first, while others can go."""
    policy = Given()
    with opened(files, mode, 4, policy=policy) as runner:
        policy.order = [0, 1, 2, 6]
        runner.run([[0, 1, 2], [0]])
        runner.run([[0, 1, 2, 3], []])
        assert sorted(runner.store.resident()) == [0, 1, 2, 3]
        assert policy.lost[-1] == [6]


def test_a_chunks_earlier_layers_go_after_what_it_did_not_use(files: ExpertFiles) -> None:
    with opened(files, "direct", 3, policy=Given()) as runner:
        runner.run([[0, 1, 2], []])
        runner.run([[0, 1], [0]])
        assert sorted(runner.store.resident()) == [0, 1, EXPERTS]


def test_the_policy_hears_every_use(files: ExpertFiles) -> None:
    policy = Given()
    with opened(files, "direct", 5, policy=policy) as runner:
        runner.run([[4, 2], [1]], tokens=3)
        runner.run([[2], [1, 5, 0]], tokens=1)
        totals = runner.store.totals()
    assert policy.heard == [
        ([2, 4, EXPERTS + 1], [3, 3, 3], 3),
        ([2, EXPERTS, EXPERTS + 1, EXPERTS + 5], [1, 1, 1, 1], 1),
    ]
    record = files.manifest.records[0].bytes
    assert (totals.hits, totals.misses, totals.bytes_read) == (2, 5, 5 * record)


@pytest.mark.parametrize("mode", MODES)
def test_warm_start_loads_in_order_until_full(files: ExpertFiles, mode: Mode) -> None:
    with opened(files, mode, 4) as runner:
        assert runner.store.load(np.array([7, 7, 3, 11], np.int32)) == 3
        assert runner.store.load(np.array([3, 0, 1, 2], np.int32)) == 1
        assert sorted(runner.store.resident()) == [0, 3, 7, 11]
        runner.run([[0, 3], [1, 5]])
        totals = runner.store.totals()
        assert (totals.hits, totals.misses) == (4, 0)


@pytest.mark.parametrize("mode", MODES)
def test_shrinking_drops_what_does_not_fit(files: ExpertFiles, mode: Mode) -> None:
    chunk = [[0, 1, 2, 3], [0, 1, 2, 3]]
    with opened(files, mode, 8) as runner:
        before = runner.run(chunk)
        runner.store.shrink(5)
        assert (runner.store.slots, len(runner.store.resident())) == (5, 5)
        runner.store.shrink(7)
        assert runner.store.slots == 5
        assert np.array_equal(runner.run(chunk), before)
        runner.store.shrink(1)
        assert np.array_equal(runner.run(chunk), before)
        assert len(runner.store.resident()) == 1


def populates() -> bool:
    """Whether this system reports a read error of mapped pages instead of ending the process."""
    release = platform.release().split(".")
    return sys.platform == "linux" and tuple(map(int, release[:2])) >= (5, 14)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("slots", [3, ALL])
def test_a_file_cut_short_is_an_error_until_it_is_whole_again(
    tmp_path: Path, mode: Mode, slots: int
) -> None:
    """Several reads fail at once; none of them may spoil the chunk after."""
    if mode == "mapped" and not populates():
        pytest.skip("only Linux since 5.14 reports read errors of a map")
    files = write_experts(tmp_path, LAYERS, EXPERTS, HIDDEN, width=160, top_k=EXPERTS)
    path, whole = files.files[0], files.files[0].read_bytes()
    with opened(files, mode, slots) as runner:
        runner.run([[5], []])
        for chunk in ([[0, 1, 2, 3], [4]], [[5], [0, 1, 2, 3]]):
            os.truncate(path, files.manifest.records[1].offset + 100)
            with pytest.raises(StorageError, match=r"layer [01], expert [0-4]: ") as caught:
                runner.run(chunk)
            assert "too short" in str(caught.value) or mode == "mapped"
            path.write_bytes(whole)
            with opened(files, mode, ALL) as fresh:
                assert np.array_equal(runner.run(chunk), fresh.run(chunk))


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be cut there")
def test_a_file_cut_while_it_is_mapped_fails_the_reply_not_the_process(tmp_path: Path) -> None:
    files = write_experts(tmp_path, LAYERS, EXPERTS, HIDDEN, width=32, top_k=EXPERTS)
    path, whole, chunk = files.files[0], files.files[0].read_bytes(), [[0, 1], [2, 3, 4, 5]]
    with opened(files, "mapped", ALL) as runner:
        before = runner.run(chunk)  # everything is in memory now: no read will notice
        os.truncate(path, 4096)
        for _ in range(2):
            with pytest.raises(StorageError, match="shorter than when the model was opened"):
                runner.run(chunk)
        with path.open("r+b") as file:
            file.write(whole)
        assert np.array_equal(runner.run(chunk), before)


def test_a_failed_warm_start_loads_what_it_can(tmp_path: Path) -> None:
    files = write_experts(tmp_path, LAYERS, EXPERTS, HIDDEN, width=32, top_k=EXPERTS)
    path, whole = files.files[0], files.files[0].read_bytes()
    with opened(files, "direct", ALL) as runner:
        os.truncate(path, files.manifest.records[3].offset)  # holds experts 5, 4 and 3 of layer 0
        assert runner.store.load(np.arange(ALL, dtype=np.int32)) == 3
        assert sorted(runner.store.resident()) == [3, 4, 5]
        path.write_bytes(whole)
        assert runner.store.load(np.arange(ALL, dtype=np.int32)) == ALL - 3


def test_a_missing_file_is_named(files: ExpertFiles, tmp_path: Path) -> None:
    missing = ExpertFiles(files.shape, files.manifest, [tmp_path / "não.moex"], [])
    for mode in MODES:
        with pytest.raises(StorageError, match=r"não\.moex cannot be opened"):
            missing.store(mode, 2)


def test_more_memory_than_there_is_is_an_error(files: ExpertFiles) -> None:
    huge = SimpleNamespace(layouts=(SimpleNamespace(bytes=1 << 40),), records=())
    with pytest.raises(StorageError, match="not enough memory"):
        ExpertFiles(files.shape, huge, files.files, []).store("direct", 1 << 12)


@pytest.mark.parametrize("mode", MODES)
def test_closing_ends_the_lanes_and_the_files(files: ExpertFiles, mode: Mode) -> None:
    process = psutil.Process()
    threads, handles = settled(process.num_threads), len(process.open_files())
    for used in (True, False):
        with opened(files, mode, 3, policy=LeastRecentlyUsed(ALL)) as runner:
            if used:
                runner.run([[0, 1], [2, 3, 4, 5]])
            assert settled(process.num_threads) == threads + 4
        runner.store.close()  # twice does no harm
        assert settled(process.num_threads) == threads
        assert len(process.open_files()) == handles


def settled(count: Callable[[], int]) -> int:
    """A count that stays: the system still counts a thread for a moment after it was joined."""
    before, now = -1, count()
    while before != now:
        time.sleep(0.05)
        before, now = now, count()
    return now
