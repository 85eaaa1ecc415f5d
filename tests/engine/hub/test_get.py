"""`edge0 get`: from a name to a converted model, whatever happens on the way."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from engine.container.reader import Container
from engine.errors import DownloadError, Stopped, StorageError
from engine.events import Progress
from engine.hub.get import GetOptions, get_model
from engine.hub.policy import DownloadPolicy
from engine.hub.ticket import DOWNLOADS
from engine.hub.unfinished import list_unfinished
from engine.library import list_models
from engine.prepare.prepare import prepare
from engine.stop import StopFlag
from tests.helpers.fake_hub import FakeHub, Fault

ROOT = Path(__file__).parents[3]
NAME = "model-nf4"


@pytest.fixture
def hub(tiny_files: dict[str, bytes]) -> FakeHub:
    with FakeHub({"org/model": tiny_files}) as hub:
        yield hub


def command(hub: FakeHub, models: Path, *more: str) -> list[str]:
    options = ["--endpoint", hub.url, "--models-dir", str(models), "--progress", "json"]
    return ["get", "org/model", *options, "--calibrate", "none", *more]


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def options(hub: FakeHub, quick: DownloadPolicy, **more: Any) -> GetOptions:
    return GetOptions("org/model", endpoint=hub.url, policy=quick, **more)


def records(path: Path) -> dict[str, bytes]:
    """Everything in a container that says what the model computes."""
    return {p.name: p.read_bytes() for p in path.iterdir() if p.suffix in (".moex", ".safetensors")}


@pytest.fixture
def expected(tiny_files: dict[str, bytes], tmp_path: Path) -> dict[str, bytes]:
    source = tmp_path / "by-hand"
    source.mkdir()
    for name, data in tiny_files.items():
        if "/" not in name and not name.endswith((".bin", ".py")):
            (source / name).write_bytes(data)
    return records(prepare(source, tmp_path / "expected").path)


def same_weights(found: dict[str, bytes], expected: dict[str, bytes]) -> bool:
    """The bytes behind the headers, which name the source."""
    return found.keys() == expected.keys() and all(
        found[name][4096:] == data[4096:] for name, data in expected.items()
    )


def test_the_app_sees_stages_and_the_result(
    hub: FakeHub,
    models: Path,
    expected: dict[str, bytes],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(command(hub, models)) == 0
    told = lines(capsys)
    assert told[-1]["finished"] == str(models / NAME)
    assert {line.get("stage") for line in told[:-1]} == {"download", "convert"}
    downloads = [line for line in told if "rate_bytes_s" in line]
    assert downloads[-1]["done"] == downloads[-1]["total"] > 0
    assert same_weights(records(models / NAME), expected)
    assert (models / NAME / "LICENSE").read_bytes() == b"Apache"
    assert [model.name for model in list_models(models) if not model.problem] == [NAME]
    assert [path.name for path in (models / DOWNLOADS).iterdir()] == [f"{NAME}.json"]
    assert not hub.body_bytes(".bin") + hub.body_bytes(".py") + hub.body_bytes("original")


def test_what_is_there_is_not_fetched_again_even_offline(
    hub: FakeHub, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(hub, models)) == 0
    hub.requests.clear()
    lines(capsys)
    assert main(command(hub, models)) == 0
    assert lines(capsys)[-1]["already"] is True
    assert not hub.requests


def test_keep_source_keeps_it(hub: FakeHub, models: Path, quick: DownloadPolicy) -> None:
    get_model(options(hub, quick, keep_source=True), models)
    source = next(path for path in (models / DOWNLOADS).iterdir() if path.is_dir())
    assert (source / "config.json").is_file()
    before = hub.body_bytes()
    get_model(options(hub, quick, quant="int8"), models)  # only headers are asked for again
    assert hub.body_bytes("shard") == 0
    assert hub.body_bytes() - before < 2 * before
    assert {m.format for m in list_models(models)} == {"nf4", "int8"}
    assert not source.exists()


def test_a_gguf_file_is_got_too(quick: DownloadPolicy, models: Path, tmp_path: Path) -> None:
    from tests.helpers.tiny_gguf import write_tiny_gguf
    from tests.helpers.tiny_models import make_tiny_checkpoint

    source = make_tiny_checkpoint("mixtral", tmp_path / "source")
    body = write_tiny_gguf(source, tmp_path / "tiny.gguf").read_bytes()
    files = {"Q4/tiny-Q4.gguf": body, "tiny-Q8.gguf": b"GGUF"}
    with FakeHub({"org/model": files}) as hub:
        made = get_model(options(hub, quick, gguf="q4", name="小模型 int8", quant="int8"), models)
    assert made.path == models / "小模型 int8"
    with closing(Container.open(made.path)) as container:
        assert container.shape.model_type == "mixtral"


def test_an_order_goes_on_with_its_commit_after_the_branch_moved(
    hub: FakeHub, models: Path, quick: DownloadPolicy, expected: dict[str, bytes]
) -> None:
    stop = StopFlag()

    def stop_while_converting(progress: Progress) -> None:
        if progress.what.startswith("experts of layer 2"):
            stop.set()

    with pytest.raises(Stopped):
        get_model(options(hub, quick), models, stop_while_converting, stop)
    [waiting] = list_unfinished(models)
    assert (waiting.name, waiting.order.model) == (NAME, "org/model")
    assert waiting.done == waiting.total > 0
    hub.requests.clear()
    made = get_model(options(hub, quick), models)
    assert not hub.requests, "everything was here: no network is needed"
    assert same_weights(records(made.path), expected)
    assert not list_unfinished(models)


def test_a_mirror_can_take_over(hub: FakeHub, models: Path, quick: DownloadPolicy) -> None:
    hub.faults = [Fault("status", "model-00003", times=-1, after=1, status=500)]
    with pytest.raises(DownloadError):
        get_model(options(hub, quick), models)
    with FakeHub(hub.models) as mirror:
        get_model(options(mirror, quick), models)
        assert not [r for r in mirror.requests if "/api/" in r.path]
        assert mirror.body_bytes("model-00001") == 0
    assert not list_models(models)[0].problem


def test_a_taken_name_is_told_before_the_download(
    hub: FakeHub, models: Path, quick: DownloadPolicy
) -> None:
    (models / NAME).mkdir(parents=True)
    with pytest.raises(StorageError, match="made from another source"):
        get_model(options(hub, quick), models)
    assert not hub.requests


def test_a_dry_run_only_looks(
    hub: FakeHub, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(hub, models, "--dry-run")) == 0
    told = lines(capsys)[-1]["forecast"]
    assert told["download"] > told["output"] > 0
    assert told["smallest_budget"] < told["token_budget"] <= told["whole_budget"]
    assert not models.exists()
    assert main([*command(hub, models, "--dry-run"), "--progress", "text"]) == 0
    assert "qwen3_moe" in capsys.readouterr().out


def test_an_error_is_one_line_of_json(
    hub: FakeHub, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(hub, models, "--revision", "v9")) == 1
    assert lines(capsys)[-1]["error"] == "org/model has no such revision."


def test_a_token_comes_on_stdin_and_stays_away_from_a_mirror(
    hub: FakeHub,
    models: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hf_secretsecret\n"))
    assert main(command(hub, models, "--token-stdin")) == 0
    assert {request.authorization for request in hub.requests} == {None}
    assert "hf_secret" not in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(command(hub, models, "--token-stdin")) == 1
    assert "No token came on stdin" in lines(capsys)[-1]["error"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_killed_at_any_time_it_goes_on(
    tiny_files: dict[str, bytes], models: Path, expected: dict[str, bytes]
) -> None:
    rng = random.Random(3)
    with FakeHub({"org/model": tiny_files}, bytes_per_s=2_000_000) as hub:
        run = [sys.executable, "-m", "engine.cli", *command(hub, models)]
        codes = []
        for _ in range(3):
            process = subprocess.Popen(run, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            wanted = rng.choice(["download", "convert"])
            for line in process.stdout:
                if json.loads(line).get("stage") == wanted:
                    break
            time.sleep(rng.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            process.stdout.close()
            codes.append(process.wait())
            for model in list_models(models):
                assert model.problem or same_weights(records(model.path), expected)
        hub.bytes_per_s = 0
        done = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert -9 in codes
    assert json.loads(done.stdout.splitlines()[-1])["finished"] == str(models / NAME)
    assert same_weights(records(models / NAME), expected)
    assert os.listdir(models / DOWNLOADS) == [f"{NAME}.json"]
