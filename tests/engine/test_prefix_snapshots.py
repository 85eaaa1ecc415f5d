"""Whole models that come back after a restart: the same bits, less to compute, and no surprise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import ConfigError, Edge0Config, Finished, GenerateOptions, Message
from engine.chat import snapshots
from engine.machine.samples import DriveInfo
from engine.stop import StopFlag
from engine.store import snapshot_folder
from engine.store.cache_dir import snapshot_root
from tests.helpers.talk_and_die import open_model, prompt, read_and_save
from tests.helpers.tiny_containers import make_tiny_container
from tests.helpers.tiny_models import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
GREEDY = GenerateOptions(max_tokens=24, temperature=0.0)
IDS = prompt(450)
LONG = "All that is gold does not glitter, 闪光的未必都是金子. " * 7


@pytest.fixture(autouse=True)
def fast_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """With space; and time enough: this machine may stand still for a while."""
    monkeypatch.setattr(snapshot_folder, "FREE_BYTES", 0)
    monkeypatch.setattr(snapshots, "PATIENCE_S", 60.0)
    monkeypatch.setattr(snapshots, "CLOSING_S", 60.0)
    monkeypatch.setattr(snapshot_folder, "drive_info", lambda _: DriveInfo("nvme"))


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("prefix") / "model")


def in_another_process(
    model: Path, cache: Path, tokens: int, kv: str = "fp16", files: int = 0
) -> int:
    """Reads a prompt there and saves it; the exit code."""
    arguments = [str(model), str(cache), str(tokens), kv, str(files)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.talk_and_die", *arguments],
        cwd=ROOT,
        capture_output=True,
        timeout=100,
    )
    assert done.returncode <= 0, done.stderr.decode()
    return done.returncode


def blocks(cache: Path) -> list[Path]:
    return sorted(snapshot_root(cache).glob("*/*.kv"))


@pytest.mark.parametrize("kv", ["fp16", "int8"])
def test_a_restart_changes_no_bit(converted: Path, tmp_path: Path, kv: str) -> None:
    assert in_another_process(converted, tmp_path, 450, kv) == 0
    with open_model(converted, tmp_path / "none", kv) as runtime:
        wanted, written = runtime.logits(IDS), runtime.generate_ids(IDS, GREEDY)
    with open_model(converted, tmp_path, kv) as runtime:
        reused, logits = read_and_save(runtime, IDS)
        assert reused == 448 and np.array_equal(logits, wanted[448:])
        assert runtime.generate_ids(IDS, GREEDY) == written


@pytest.mark.parametrize("kv", ["fp16", "int8"])
@pytest.mark.parametrize("family", FAMILIES)
def test_any_number_of_rows_of_any_family(tmp_path: Path, family: str, kv: str) -> None:
    container, ids = make_tiny_container(tmp_path / "model", family), IDS[:90]
    saved = {}
    with open_model(container, tmp_path / "cache", kv) as runtime:
        model = runtime.model
        wanted = runtime.logits(ids)
        for count in (1, 15, 16, 33, 89):
            saved[count] = np.empty(count * model.kv_token_bytes, np.uint8)
            model.export_rows(0, saved[count])
    with open_model(container, tmp_path / "cache", kv, threads=2) as runtime:
        model = runtime.model
        for count, rows in saved.items():
            model.rewind(0)
            model.import_rows(0, rows)
            assert model.position == count
            rest = model.forward(ids[count:], StopFlag(), all_logits=True)
            assert np.array_equal(rest, wanted[count:])


def test_rows_that_do_not_fit_are_refused(converted: Path, tmp_path: Path) -> None:
    with open_model(converted, tmp_path) as runtime:
        model = runtime.model
        model.forward(IDS[:20], StopFlag())
        token = model.kv_token_bytes
        for begin, size in ((0, 21 * token), (-1, token), (5, token + 1)):
            with pytest.raises(ValueError):
                model.export_rows(begin, np.empty(size, np.uint8))
        for begin, size in ((21, token), (-1, token), (0, 513 * token), (0, token - 1)):
            with pytest.raises(ValueError):
                model.import_rows(begin, np.zeros(size, np.uint8))
        assert model.position == 20


@pytest.mark.parametrize(
    "change", ["weights", "quant", "kv_format", "isa", "program", "library", "switched off"]
)
def test_what_another_model_computed_is_not_used(
    converted: Path, tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_model(converted, tmp_path) as runtime:
        read_and_save(runtime, IDS)
    options: dict[str, Any] = {}
    if change == "weights":
        converted = make_tiny_container(tmp_path / "other", seed=1)
    elif change == "quant":
        converted = make_tiny_container(tmp_path / "other", quant="int8")
    elif change == "kv_format":
        options["kv_format"] = "int8"
    elif change == "isa":
        options["isa"] = "scalar"
    elif change == "program":  # the same weights under another reading
        monkeypatch.setattr(snapshots, "by_model_type", lambda _: EmptyFamily)
    elif change == "library":
        monkeypatch.setattr(snapshots, "library_digest", lambda: "another build")
    else:
        options["prefix_cache_gb"] = 0
    with open_model(converted, tmp_path, **options) as runtime:
        assert read_and_save(runtime, IDS)[0] == 0
    assert len(blocks(tmp_path)) == (7 if change == "switched off" else 14)


class EmptyFamily:
    @staticmethod
    def program(shape: object) -> str:
        return "nothing"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_while_writing(converted: Path, tmp_path: Path) -> None:
    assert in_another_process(converted, tmp_path, 450, files=2) == -9
    assert len(blocks(tmp_path)) == 2
    with open_model(converted, tmp_path / "none") as runtime:
        wanted = runtime.logits(IDS)
    with open_model(converted, tmp_path) as runtime:
        reused, logits = read_and_save(runtime, IDS)
        assert reused == 128 and np.array_equal(logits, wanted[128:])
    assert len(blocks(tmp_path)) == 7


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_damaged_files_cost_only_time(converted: Path, tmp_path: Path, damage: str) -> None:
    with open_model(converted, tmp_path) as runtime:
        read_and_save(runtime, IDS)
        wanted = runtime.logits(IDS)
    for path in blocks(tmp_path)[::2]:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4
        path.write_bytes(data if damage == "flip" else data[:-100])
    with open_model(converted, tmp_path) as runtime:
        reused, logits = read_and_save(runtime, IDS)
        assert reused < 448 and np.array_equal(logits, wanted[reused:])


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a POSIX matter")
def test_a_full_disk_costs_nothing(converted: Path, tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_model(converted, tmp_path) as runtime:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        try:
            read_and_save(runtime, IDS)
            runtime._cache.close()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not blocks(tmp_path) and not list(snapshot_root(tmp_path).glob("*/*.tmp"))
        assert read_and_save(runtime, IDS)[0] == 449
    assert len(blocks(tmp_path)) == 7


def test_the_first_reply_after_a_restart(converted: Path, tmp_path: Path) -> None:
    chat = [Message("user", LONG)]

    def reply(cache: Path, **options: Any) -> tuple[str, Finished]:
        with open_model(converted, cache, **options) as runtime:
            events = list(runtime.session().reply(chat, GREEDY))
            assert isinstance(events[-1], Finished)
            return "".join(getattr(e, "text", "") for e in events), events[-1]

    first, again = reply(tmp_path), reply(tmp_path)
    assert first[0] == again[0] == reply(tmp_path, prefix_cache_gb=0)[0]
    assert first[1].stats.reused_tokens == 0
    assert again[1].stats.prompt_tokens - again[1].stats.reused_tokens <= 64


def test_raw_ids_are_nobody_s_conversation(converted: Path, tmp_path: Path) -> None:
    with open_model(converted, tmp_path) as runtime:
        runtime.generate_ids(IDS, GREEDY)
        runtime.logits(IDS)
        runtime.routing(IDS, StopFlag())
    assert not blocks(tmp_path)


def test_a_size_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="prefix_cache_gb"):
        Edge0Config("model", prefix_cache_gb=-1)


def test_the_starter_after_a_restart(starter_container: Path, tmp_path: Path) -> None:
    ids = [(31 * i + i // 9) % 40_000 + 100 for i in range(330)]
    with open_model(starter_container, tmp_path) as runtime:
        assert read_and_save(runtime, ids)[0] == 0
        wanted, written = runtime.logits(ids), runtime.generate_ids(ids, GREEDY)
    with open_model(starter_container, tmp_path, threads=2) as runtime:
        reused, logits = read_and_save(runtime, ids)
        assert reused == 320 and np.array_equal(logits, wanted[320:])
        assert runtime.generate_ids(ids, GREEDY) == written
