"""`edge0 get`: downloads a model from a hub and converts it, printing where it is.

Ctrl-C and SIGTERM stop it; the same command goes on. With --progress json it prints one object a
line, for the app, which runs it as a process of its own. A token is read from stdin, never from the
command line, where every program could see it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace

from engine.cli import hot_first, output, shared, typed
from engine.cli.prepare import stop_on_signals
from engine.errors import ConfigError, Edge0Error
from engine.events import Progress
from engine.hub.access import OFFICIAL, Access, checked_endpoint
from engine.hub.download import check_connections
from engine.hub.forecast import Forecast
from engine.hub.get import GetOptions, GetSummary, get_model, look_up
from engine.hub.progress import DownloadProgress
from engine.hub.token_store import TokenStore
from engine.library import models_dir
from engine.machine import background
from engine.stop import StopFlag
from engine.text import Text

_MAX_TOKEN = 600

Report = Callable[[Progress], None]


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    text = shared.words  # an empty one comes from a script's variable that is not set
    parser.add_argument("model", type=text, metavar="HUB_ID", help="owner/name on the hub")
    parser.add_argument(
        "--revision", type=text, default="main", metavar="REV", help="branch, tag or commit"
    )
    parser.add_argument(
        "--endpoint", type=text, default=OFFICIAL, metavar="URL", help="a hub or its mirror"
    )
    parser.add_argument("--gguf", type=text, metavar="PART", help="which GGUF file, by its name")
    parser.add_argument("--quant", default="nf4", choices=("nf4", "int4", "int8", "bf16"))
    parser.add_argument("--name", type=text, help="folder of the result; default: NAME-QUANT")
    parser.add_argument("--keep-source", action="store_true", help="keep what was downloaded")
    parser.add_argument(
        "--shard-by-shard",
        action="store_true",
        help="convert each source file as it comes and delete it: needs far less disk",
    )
    connections = shared.number(int, check_connections)
    parser.add_argument("--connections", type=connections, default=4, metavar="N", help="1 to 16")
    parser.add_argument("--proxy", type=text, metavar="URL", help="default: the system's")
    parser.add_argument("--token-stdin", action="store_true", help="read a hub token from stdin")
    parser.add_argument(
        "--calibrate",
        choices=("built-in", "none"),
        help="lay hot experts first, which needs disk for the model twice; default: built-in,"
        " with --shard-by-shard none",
    )
    parser.add_argument("--dry-run", action="store_true", help="only tell what it would take")
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    shared.add_folder(parser)


def run(options: argparse.Namespace) -> int:
    """Get the model, yielding to all other work: a chat goes on at its speed."""
    background.yield_to_others()
    if options.progress == "json":
        return _run_json(options)
    line = output.TextProgress()
    try:
        with stop_on_signals() as stop:
            result = _work(options, lambda progress: line(_with_rate(progress)), stop)
    finally:
        line.end()
    _tell(result)
    return 0


def _run_json(options: argparse.Namespace) -> int:
    """One JSON object a line, the last one `finished`, `forecast` or `error`."""
    try:
        with stop_on_signals() as stop:
            result = _work(options, _report_json, stop)
    except Edge0Error as error:
        return output.say_json_error(error)
    output.say_json(_fields(result))
    return 0


def _work(options: argparse.Namespace, report: Report, stop: StopFlag) -> GetSummary | Forecast:
    wanted = _options(options)
    if options.dry_run:
        return look_up(wanted, report, stop)[1]
    summary = get_model(wanted, models_dir(options.models_dir), report, stop)
    if (options.calibrate or ("none" if summary.by_shard else "built-in")) == "none":
        return summary
    notes = hot_first.after_conversion(summary.path, None, report, stop)
    return replace(summary, notes=(*summary.notes, *notes))


def _options(options: argparse.Namespace) -> GetOptions:
    endpoint = checked_endpoint(options.endpoint)
    return GetOptions(
        model=options.model,
        revision=options.revision,
        endpoint=endpoint,
        gguf=options.gguf or "",
        quant=options.quant,
        name=options.name or "",
        keep_source=options.keep_source,
        by_shard=options.shard_by_shard,
        connections=options.connections,
        access=Access(_token(options.token_stdin, endpoint), options.proxy or ""),
    )


def _token(from_stdin: bool, endpoint: str) -> str:
    """The token of this run, or the saved one; a mirror needs none and gets none."""
    if from_stdin:
        token = typed.read_line(_MAX_TOKEN).strip()
        if not token:
            raise ConfigError(
                Text("No token came on stdin."), Text("Write it there, ended by a new line.")
            )
        return token
    return TokenStore().load() if endpoint == OFFICIAL else ""


def _report_json(progress: Progress) -> None:
    """What the conversion reports has fewer fields than what the download does."""
    stage = "download" if isinstance(progress, DownloadProgress) else "convert"
    output.say_json({"stage": stage, **asdict(progress)})


def _with_rate(progress: Progress) -> Progress:
    """Rate, time left and trouble in the line for people."""
    if not isinstance(progress, DownloadProgress):
        return progress
    parts = [progress.what]
    if progress.state == "running" and progress.rate_bytes_s:
        parts.append(f"{progress.rate_bytes_s / 1e6:.1f} MB/s")
    elif progress.state != "running":
        parts.append(progress.state)
    if progress.eta_s is not None and progress.state == "running":
        parts.append(f"{_duration(progress.eta_s)} left")
    if progress.detail:
        parts.append(progress.detail)
    return Progress(progress.done, progress.total, ", ".join(part for part in parts if part))


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _fields(result: GetSummary | Forecast) -> dict[str, object]:
    if isinstance(result, GetSummary):
        told = {"notes": result.notes, "warnings": result.warnings, "already": result.already}
        return {"finished": str(result.path), "bytes": result.bytes, **told}
    budgets = {
        name: getattr(result, name)
        for name in ("resident", "smallest_budget", "token_budget", "whole_budget")
    }
    return {"forecast": {**asdict(result), **budgets}}


def _tell(result: GetSummary | Forecast) -> None:
    if isinstance(result, GetSummary):
        for note in (*result.notes, *result.warnings):
            output.note(f"  {note}")
        output.say(str(result.path))
        return
    gb = output.gigabytes
    kind = "dense: all of it is used for every token" if result.dense else "experts on the SSD"
    output.say(f"{result.model}: {result.model_type}, {result.parameters / 1e9:.1f} B ({kind})")
    output.say(f"download {gb(result.download)}, converted ({result.quant}) {gb(result.output)}")
    output.say(f"disk while converting {gb(result.disk_peak)}, afterwards {gb(result.output)}")
    if result.disk_peak_by_shard < result.disk_peak:
        output.say(f"  with --shard-by-shard {gb(result.disk_peak_by_shard)}")
    for note in result.notes:
        output.say(f"  {note}")
    output.say(
        f"memory from {gb(result.smallest_budget)}, better from {gb(result.token_budget)},"
        f" whole {gb(result.whole_budget)}"
    )
