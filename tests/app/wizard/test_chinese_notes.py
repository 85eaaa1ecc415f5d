"""What became of the weights, and what the source lacks, is told in the interface's language."""

from __future__ import annotations

import shutil
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.commands import Order
from app.i18n import Translation
from app.prepare_job import PrepareJob

SLOW = 60_000


def test_notes_and_warnings_of_a_conversion(qtbot: QtBot, tiny_model: Path, tmp_path: Path) -> None:
    source = Path(shutil.copytree(tiny_model, tmp_path / "源"))
    (source / "tokenizer.json").unlink()
    translation = Translation()
    translation.use("zh")
    try:
        order = Order("local", str(source), tmp_path, calibrate=False)
        job = PrepareJob(order.command())
        job.start()
        qtbot.waitUntil(lambda: job.state in ("done", "failed") and not job.alive, timeout=SLOW)
    finally:
        translation.remove()
    assert job.state == "done", job.error
    told = "\n".join(job.notes)
    assert "F32 → nf4：72 个专家矩阵，已量化" in told
    assert "个小权重，原样保留" in told and "要与此模型聊天，请获取完整的模型" in told
