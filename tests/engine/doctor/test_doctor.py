"""The whole examination on a tiny real model, and the model's own checks."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine import doctor
from engine.cli import main
from engine.container.reader import Container
from engine.doctor import DoctorOptions, Finding, model_checks, run_doctor
from engine.errors import Stopped
from engine.prepare.compact import WORK_NAME
from engine.stop import StopFlag
from engine.store.budget import MemoryPlan
from engine.store.probe import ProbePoint, ProbeResult
from tests.helpers.damage import damage
from tests.helpers.tiny_containers import make_tiny_container

PROBE = ProbeResult(1_000_000, True, (ProbePoint(1, 500.0, 1), ProbePoint(2, 1000.0, 1)))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_container(tmp_path_factory.mktemp("模型") / "tiny")


def by_id(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.id: finding for finding in findings}


def plan(slots: int, cycle: int = 384, total: int = 6144) -> MemoryPlan:
    return MemoryPlan(9, 1, 1, 1, 1, slots, slots * 2_500_000, 0, total, cycle)


def test_a_machine_alone(tmp_path: Path) -> None:
    found = by_id(run_doctor(DoctorOptions(models_dir=tmp_path)))
    assert {"kernels", "memory", "models-folder", "disk-space", "drive"} <= found.keys()
    assert "model" not in found


def test_a_model_with_probe_and_hashes(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_checks, "probe_reads", lambda *_, **__: PROBE)
    options = DoctorOptions(model=model, models_dir=model.parent, probe=True, deep=True)
    found = by_id(run_doctor(options))
    assert found["model"].status == "ok" and "qwen3_moe" in found["model"].evidence
    assert found["drive-speed"].status == "ok"
    assert found["memory-plan"].status == "ok" and found["hit-rate"].status == "ok"
    assert found["io-mode"].evidence == "Mapped: the whole model fits into the memory budget."
    assert found["model-hashes"].status == "ok"


def test_a_flipped_byte_is_found_by_deep_only(tmp_path: Path) -> None:
    path = make_tiny_container(tmp_path / "m")
    (file,) = path.glob("*.moex")
    damage(file, 9000)
    shallow = by_id(run_doctor(DoctorOptions(model=path, models_dir=tmp_path)))
    deep = by_id(run_doctor(DoctorOptions(model=path, models_dir=tmp_path, deep=True)))
    assert "model-hashes" not in shallow and shallow["model"].status == "ok"
    assert deep["model-hashes"].status == "fail"
    assert "layer 0, expert" in deep["model-hashes"].evidence


def test_the_doctor_knows_whether_damage_would_have_been_noticed(tmp_path: Path) -> None:
    path = make_tiny_container(tmp_path / "m")

    def told(**more: bool) -> dict[str, Finding]:
        return by_id(run_doctor(DoctorOptions(model=path, models_dir=tmp_path, **more)))

    assert told()["model-verified"].status == "info"
    assert "--deep" in told()["model-verified"].advice
    assert "model-verified" not in told(deep=True)
    assert told()["model-verified"].status == "ok"
    (file,) = path.glob("*.moex")
    os.utime(file, (1e9, 1e9))
    changed = told()["model-verified"]
    assert changed.status == "warn" and str(path) in changed.advice


def test_a_model_that_cannot_be_opened(tmp_path: Path) -> None:
    found = by_id(run_doctor(DoctorOptions(model=tmp_path, models_dir=tmp_path)))
    assert found["model"].status == "fail" and "manifest.json" in found["model"].evidence
    assert "memory" in found and "memory-plan" not in found


def test_a_budget_too_small_names_one_that_works(model: Path) -> None:
    options = DoctorOptions(model=model, models_dir=model.parent, budget_gb=0.01)
    finding = by_id(run_doctor(options))["memory-plan"]
    assert finding.status == "fail" and "Set the memory budget to" in finding.advice


def test_a_dense_model_gets_an_honest_word(tmp_path: Path) -> None:
    path = make_tiny_container(tmp_path / "dense", family="llama", quant="int8")
    finding = model_checks.opened(Container.open(path))
    assert finding.status == "info" and "Every token uses all of it" in finding.advice


def test_what_a_killed_compaction_left_behind_is_told(tmp_path: Path) -> None:
    container = Container.open(make_tiny_container(tmp_path / "m"))
    assert not list(model_checks.leftovers(container))
    (container.path / "experts-1-00001.moex").write_bytes(bytes(5_000_000))
    work = container.path / WORK_NAME
    work.mkdir()
    (work / "journal.jsonl").write_bytes(bytes(2_000_000))
    (finding,) = model_checks.leftovers(container)
    assert finding.status == "warn" and "7 MB" in finding.evidence
    assert f'compact "{container.path}"' in finding.advice


def test_the_hit_rate_cliff() -> None:
    assert model_checks.hit_rate(plan(6144)).title == "The whole model fits into memory"
    assert model_checks.hit_rate(plan(384)).status == "ok"
    cliff = model_checks.hit_rate(plan(383))
    assert cliff.status == "warn" and "one token uses 384" in cliff.evidence


def test_the_floor_of_speed() -> None:
    evidence = model_checks.cold_speed(plan(500), PROBE).evidence
    assert "960 MB of experts" in evidence and "1.0 tokens a second" in evidence


def test_one_check_that_breaks_does_not_take_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise OSError("sensor gone")

    monkeypatch.setattr(doctor.machine_checks, "check_all", broken)
    found = by_id(run_doctor(DoctorOptions(models_dir=tmp_path)))
    assert found["machine"].evidence == "sensor gone" and "models-folder" in found


def test_stop_ends_it(model: Path) -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        run_doctor(DoctorOptions(model=model, models_dir=model.parent, deep=True, stop=stop))


def test_the_command_as_text_and_json(
    model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = ["--models-dir", str(model.parent)]
    assert main(["doctor", "tiny", *folder, "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {"id", "status", "title", "evidence", "advice", "title_text"} <= findings[0].keys()
    assert main(["doctor", str(model), *folder, "--budget", "0.01"]) == 1
    out = capsys.readouterr().out
    assert "FAIL The model does not fit the memory budget" in out and "     → Set" in out
