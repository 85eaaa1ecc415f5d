"""`edge0 models`: what is installed, and what is wrong with it."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from engine.cli import output, shared
from engine.library import InstalledModel, list_models, models_dir


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """List the models."""
    models = list_models(options.models_dir)
    if options.json:
        output.say_json([{**asdict(model), "path": str(model.path)} for model in models])
        return 0
    if not models:
        output.note(f"No model in {models_dir(options.models_dir)} yet: run edge0 starter.")
    width = max((len(model.name) for model in models), default=0)
    for model in models:
        output.say(f"{model.name:<{width}}  {_facts(model)}")
    return 0


def _facts(model: InstalledModel) -> str:
    size = f"{output.gigabytes(model.size_bytes):>9}"
    if model.problem:
        state = "damaged" if model.damaged else "cannot be opened"
        return f"{size}  {state}: {model.problem} {model.next_step}".rstrip()
    experts = "dense" if model.dense else f"{model.experts} experts, {model.top_k} a token"
    return f"{size}  {model.model_type}, {model.layers} layers, {experts}, {model.format}"
