"""Drives and files that fail while a model is open: an error for that reply, then it goes on."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine import Edge0Config, Edge0Runtime, GenerateOptions, Message, StorageError
from engine.container.manifest import weights_id
from engine.container.reader import Container
from engine.events import TextDelta
from engine.store.cache_dir import model_cache
from engine.store.usage import read_usage
from tests.helpers.failing_drive import failing_drive
from tests.helpers.tiny_containers import make_tiny_container

GREEDY = GenerateOptions(max_tokens=40, temperature=0.0)
TALK = [Message("user", "你好, tell me a story")]
FEW = 4  # slots: the fewest that run, so that nearly every use reads


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("faults") / "model")


@pytest.fixture
def model(converted: Path, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(converted, tmp_path / "model"))


def opened(path: Path, cache: Path, use_mmap: bool | None = False) -> Edge0Runtime:
    config = Edge0Config(path, context_tokens=256, threads=1, cache_dir=cache, use_mmap=use_mmap)
    runtime = Edge0Runtime.from_config(config)
    runtime.model.store.shrink(FEW)
    return runtime


@pytest.fixture
def direct(model: Path, tmp_path: Path) -> Iterator[Edge0Runtime]:
    with opened(model, tmp_path / "cache") as runtime:
        yield runtime


@pytest.fixture(scope="module")
def expected(converted: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    with opened(converted, tmp_path_factory.mktemp("cache")) as runtime:
        return answer(runtime)


def answer(runtime: Edge0Runtime) -> str:
    events = runtime.session().reply(TALK, GREEDY)
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_a_file_cut_short_in_the_middle_of_a_reply(
    direct: Edge0Runtime, model: Path, expected: str
) -> None:
    """The text so far stands, the reply ends with an error, the next one is whole."""
    (file,) = model.glob("*.moex")
    whole, session = file.read_bytes(), direct.session()
    text = ""
    with pytest.raises(StorageError, match=r"layer \d, expert \d: the file is too short") as caught:
        for event in session.reply(TALK, GREEDY):
            if isinstance(event, TextDelta):
                text += event.text
                if len(text) > 3:
                    os.truncate(file, 8192)
    assert expected.startswith(text) and len(text) > 3
    assert "Check the drive" in caught.value.next_step
    with pytest.raises(StorageError):
        answer(direct)
    assert not session.busy
    file.write_bytes(whole)
    assert answer(direct) == expected


def test_a_drive_that_is_unplugged_and_comes_back(
    converted: Path, tmp_path: Path, expected: str
) -> None:
    with (
        failing_drive(tmp_path, converted) as drive,
        opened(drive.path, tmp_path / "cache") as runtime,
    ):
        assert answer(runtime) == expected
        drive.unplug()
        with pytest.raises(StorageError, match="Input/output error"):
            answer(runtime)
        drive.plug()
        assert answer(runtime) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps open files in their place")
@pytest.mark.parametrize("use_mmap", [True, False])
@pytest.mark.parametrize("what", ["renamed", "deleted", "replaced"])
def test_a_folder_that_goes_away_is_still_read(
    model: Path, tmp_path: Path, expected: str, what: str, use_mmap: bool
) -> None:
    with opened(model, tmp_path / "cache", use_mmap) as runtime:
        options, session = runtime.default_options, runtime.session()
        if what == "deleted":
            shutil.rmtree(model)
        else:
            model.rename(tmp_path / "elsewhere")
        if what == "replaced":
            other = make_tiny_container(tmp_path / "other", seed=3)
            other.rename(model)
        events = session.reply(TALK, GREEDY)
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == expected
        assert runtime.default_options == options
    if what == "replaced":
        with opened(model, tmp_path / "cache", use_mmap) as runtime:
            assert answer(runtime) != expected


def test_a_full_disk_costs_what_was_learned_and_nothing_else(
    model: Path, tmp_path: Path, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("only Linux has a file that is always full")
    cache = tmp_path / "cache"
    model_id = weights_id(Container.open(model).manifest)
    usage = model_cache(cache, model_id) / "usage.json"
    usage.parent.mkdir(parents=True)
    usage.with_name("usage.json.tmp").symlink_to(full)
    with opened(model, cache) as runtime:
        assert answer(runtime) == expected
        runtime._usage.save()
        assert "The disk is full" in caplog.text and not usage.exists()
        runtime.model.rewind(0)
        assert answer(runtime) == expected
    found = read_usage(usage, model_id, 3, 8)
    assert found is not None and found.tokens > 60  # both replies, once there is room again


def test_many_failures_leave_no_handle_and_no_thread(
    direct: Edge0Runtime, model: Path, expected: str
) -> None:
    (file,) = model.glob("*.moex")
    whole, process = file.read_bytes(), psutil.Process()
    assert answer(direct) == expected
    before = process.num_fds() if sys.platform != "win32" else 0, process.num_threads()
    for size in (4096, 8192, len(whole) // 2):
        os.truncate(file, size)
        direct.model.rewind(0)
        with pytest.raises(StorageError):
            answer(direct)
        file.write_bytes(whole)
        assert answer(direct) == expected
    assert before == (process.num_fds() if sys.platform != "win32" else 0, process.num_threads())
