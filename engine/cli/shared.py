"""Options that several subcommands have in common, and opening a model with them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from engine.config import Edge0Config
from engine.errors import ConfigError
from engine.library import find_model, list_models
from engine.starter import STARTER_NAME
from engine.text import Text

N = TypeVar("N", int, float)
_USE_MMAP = {"auto": None, "mapped": True, "direct": False}


def number(kind: type[N], check: Callable[[N], object]) -> Callable[[str], N]:
    """An argparse type: a number that `check` accepts; its error becomes one of usage."""

    def read(text: str) -> N:
        try:
            value = kind(text)
        except ValueError:
            wanted = "whole number" if kind is int else "number"
            raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a {wanted}.") from None
        try:
            check(value)
        except ConfigError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return value

    return read


def at_least_one(count: int) -> None:
    """For `number`: a count of things to do. Raises ConfigError."""
    if count < 1:
        raise ConfigError(Text("{0} is not a count.", count), Text("Give 1 or more."))


def words(text: str) -> str:
    """An argparse type: a name or a place. Refused when blank, which could mean anything."""
    if not text.strip():
        raise argparse.ArgumentTypeError(
            str(ConfigError(Text("The text is empty."), Text("Give a name or a place.")))
        )
    return text


def folder(text: str) -> Path:
    """An argparse type: a path, refused when blank."""
    return Path(words(text))


def add_folder(parser: argparse.ArgumentParser) -> None:
    """--models-dir: where models are kept."""
    parser.add_argument("--models-dir", type=folder, metavar="DIR", help="where models are kept")


def add_model(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """The model to open and how. optional: left out, the only installed one or the starter."""
    add_name(parser, optional)
    add_budget(parser, "memory budget; default: chosen")
    parser.add_argument(
        "--io", choices=tuple(_USE_MMAP), default="auto", help="how to read experts"
    )
    threads = number(int, lambda count: Edge0Config("", threads=count))
    context = number(int, lambda count: Edge0Config("", context_tokens=count))
    parser.add_argument("--threads", type=threads, metavar="N", help="compute threads")
    parser.add_argument(
        "--context", type=context, metavar="TOKENS", help="length of the KV cache; default: 4096"
    )
    parser.add_argument(
        "--kv", choices=("fp16", "int8"), default="fp16", help="number format of the KV cache"
    )
    add_folder(parser)


def add_name(
    parser: argparse.ArgumentParser,
    optional: bool = False,
    purpose: str = "a model's name, or its folder",
) -> None:
    """Which converted model."""
    nargs = "?" if optional else None
    parser.add_argument("model", nargs=nargs, type=words, metavar="NAME_OR_DIR", help=purpose)


def add_budget(parser: argparse.ArgumentParser, purpose: str) -> None:
    """--budget: GB of memory."""
    budget = number(float, lambda gb: Edge0Config("", gb))
    parser.add_argument("--budget", type=budget, metavar="GB", help=purpose)


def config(options: argparse.Namespace, context: int | None = None) -> Edge0Config:
    """The engine's options from the command line; `context` where the command knows it better."""
    return Edge0Config(
        model_path=find_model(options.model or default_model(options), options.models_dir),
        memory_budget_gb=options.budget,
        use_mmap=_USE_MMAP[options.io],
        context_tokens=context if options.context is None else options.context,
        threads=options.threads,
        kv_format=options.kv,
    )


def default_model(options: argparse.Namespace) -> str:
    """The model meant when none is named. Raises ConfigError."""
    models = list_models(options.models_dir)
    names = [model.name for model in models if not model.problem]
    if models and not names:
        raise ConfigError(
            Text("None of the installed models can be opened."), Text("See why: edge0 models")
        )
    if not names:
        raise ConfigError(
            Text("No model is installed."), Text("Fetch the starter with: edge0 starter")
        )
    if len(names) > 1 and STARTER_NAME not in names:
        raise ConfigError(
            Text("Several models are installed."), Text("Name one: {0}.", ", ".join(names))
        )
    return names[0] if len(names) == 1 else STARTER_NAME
