"""What the wizard asks about a machine: the folder, limits, measured speeds, and what they mean."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import engine
from engine.doctor import survey
from engine.errors import Stopped, StorageError
from engine.hub.speed import MachineSpeed
from engine.machine.cpu import largest_cache
from engine.machine.samples import SystemMemory
from engine.stop import StopFlag
from tests.helpers.tiny_models import make_tiny_checkpoint

GB, MB = 10**9, 10**6
MACHINE = MachineSpeed(20.0, 200.0, 2000.0, 8 * GB)


def test_a_folder_that_does_not_exist_yet_is_surveyed(tmp_path: Path) -> None:
    found = survey.survey(tmp_path / "new" / "模型")
    assert found.memory.total > 0 and found.drive.free_bytes > 0 and found.cpu.threads >= 1
    assert not found.not_writable and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "limited"), [("vfat", True), ("FAT32", True), ("exfat", False), ("NTFS", False)]
)
def test_only_fat_limits_files(name: str, limited: bool) -> None:
    assert (survey.file_limit(name) is not None) == limited


def test_measuring_leaves_nothing_behind(tmp_path: Path) -> None:
    found = survey.measure(tmp_path, StopFlag(), seconds=0.05, test_bytes=8 << 20)
    assert found.speed.drive_mb_s > 0 and found.speed.weights_gb_s > 0
    assert list(tmp_path.iterdir()) == []


def test_measuring_stays_within_a_small_budget(tmp_path: Path) -> None:
    """About 170 MB more than before, in the app's own process, more with a large cache; 90 MB of
    margin."""
    script = (
        "import sys; from pathlib import Path\n"
        "from engine.doctor import survey; from engine.stop import StopFlag\n"
        "from engine.kernels.native import instruction_set\n"
        "from engine.machine.memory import memory_now, peak_working_set\n"
        "instruction_set(); before = memory_now().working_set\n"
        "survey.measure(Path(sys.argv[1]), StopFlag(), seconds=0.2, test_bytes=64 << 20)\n"
        "print(peak_working_set() - before, memory_now().working_set - before)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    root = Path(engine.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=300)
    assert done.returncode == 0, done.stderr
    peak, kept = map(int, done.stdout.split())
    assert peak < max(260 * MB, 2 * largest_cache() + 200 * MB) and kept < 60 * MB


def test_measuring_can_be_stopped_and_leaves_nothing_behind(tmp_path: Path) -> None:
    stop = StopFlag()

    def progress(step: engine.Progress) -> None:
        if step.what.startswith("Reading"):
            stop.set()

    with pytest.raises(Stopped):
        survey.measure(tmp_path, stop, progress, 5.0, 8 << 20)
    assert list(tmp_path.iterdir()) == []


def test_a_full_drive_is_not_filled_further(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="too little room"):
        survey.measure(tmp_path, StopFlag(), seconds=0.01, test_bytes=1 << 60)


def test_a_local_model_is_forecast_and_judged(tmp_path: Path) -> None:
    told = engine.local_forecast(make_tiny_checkpoint("qwen3_moe", tmp_path / "m"))
    assert engine.forecast_from_json(json.loads(json.dumps(asdict(told)))) == told
    memory = SystemMemory(8 * GB, 5 * GB, 8 * GB)
    good = engine.outlook(told, memory, MACHINE)
    assert good.fits and good.speed is not None and good.speed.decode_tok_s.low > 0
    assert engine.outlook(told, memory, None).speed is None
    huge = replace(told, needs=replace(told.needs, dense_bytes=30 * GB))
    bad = engine.outlook(huge, memory, MACHINE)
    assert not bad.fits and bad.speed is not None
