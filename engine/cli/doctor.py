"""`edge0 doctor`: the findings, one a paragraph or as JSON. Exit code 1 when something fails."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from engine.cli import output, shared
from engine.doctor import DoctorOptions, Finding, run_doctor
from engine.library import find_model

_MARKS = {"ok": "ok   ", "info": "note ", "warn": "WARN ", "fail": "FAIL "}


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    shared.add_name(parser, optional=True, purpose="check this model, too")
    shared.add_budget(parser, "memory budget to plan with")
    parser.add_argument("--probe", action="store_true", help="measure the model's drive for 3 s")
    parser.add_argument("--deep", action="store_true", help="read the whole model, compare hashes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """Check and report."""
    progress = output.TextProgress()
    model = find_model(options.model, options.models_dir) if options.model else None
    findings = run_doctor(
        DoctorOptions(
            model=model,
            models_dir=options.models_dir,
            probe=options.probe,
            deep=options.deep,
            budget_gb=options.budget,
            progress=progress,
        )
    )
    progress.end()
    if options.json:
        output.say_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            output.say(render(finding))
    return 1 if any(finding.status == "fail" for finding in findings) else 0


def render(finding: Finding) -> str:
    """A finding in lines for a terminal."""
    lines = [f"{_MARKS[finding.status]}{finding.title}: {finding.evidence}"]
    if finding.advice:
        lines.append(f"     → {finding.advice}")
    return "\n".join(lines)
