"""The note of what was ordered: it pins an unfinished download to its commit and files, so that it
goes on after a restart, an update of the app or without asking the hub; later it is the receipt.

Owns `.downloads/<name>.json` in the models folder. A damaged note counts as none.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.container.files import storage_errors, write_durably
from engine.hub import names
from engine.hub.plan import DownloadPlan, RemoteFile, Repository

DOWNLOADS = ".downloads"
VERSION = 1
_MAX_BYTES = 8 << 20


@dataclass(frozen=True)
class Order:
    """What a person asked for."""

    model: str
    revision: str
    gguf: str
    quant: str


@dataclass(frozen=True)
class Ticket:
    """An order and its plan. output: bytes of the converted model; done: it is there.

    by_shard: each source file is deleted as soon as it is converted.
    """

    name: str
    order: Order
    plan: DownloadPlan
    output: int
    done: bool = False
    by_shard: bool = False


def read_ticket(models: Path, name: str) -> Ticket | None:
    """The ticket for the model that is to be named `name`, if there is a sound one."""
    try:
        with open(models / DOWNLOADS / f"{name}.json", "rb") as file:
            fields = json.loads(file.read(_MAX_BYTES))
        return _ticket(name, fields)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def write_ticket(models: Path, ticket: Ticket) -> None:
    """Keep a ticket. Raises StorageError."""
    repository = ticket.plan.repository
    fields = {
        "version": VERSION,
        "order": asdict(ticket.order),
        "commit": repository.commit,
        "files": [asdict(file) for file in ticket.plan.files],
        "output": ticket.output,
        "done": ticket.done,
        "by_shard": ticket.by_shard,
    }
    folder = models / DOWNLOADS
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_durably(folder / f"{ticket.name}.json", json.dumps(fields).encode("ascii"))


def remove_ticket(models: Path, name: str) -> None:
    """Forget an order."""
    with storage_errors(models):
        (models / DOWNLOADS / f"{name}.json").unlink(missing_ok=True)


def tickets(models: Path) -> list[Ticket]:
    """All tickets, by name."""
    found: list[Ticket] = []
    with suppress(OSError):
        for path in sorted((models / DOWNLOADS).glob("*.json")):
            ticket = read_ticket(models, path.stem)
            if ticket is not None:
                found.append(ticket)
    return found


def at(ticket: Ticket, endpoint: str) -> Ticket:
    """The same order from another hub address: the content is the same."""
    repository = replace(ticket.plan.repository, endpoint=endpoint)
    return replace(ticket, plan=replace(ticket.plan, repository=repository))


def _ticket(name: str, fields: dict[str, object]) -> Ticket:
    """Raises what a wrong type raises."""
    order, files, output = fields["order"], fields["files"], fields["output"]
    if fields["version"] != VERSION or not isinstance(order, dict) or type(output) is not int:
        raise ValueError("another version")
    wanted = Order(**{key: _text(value) for key, value in order.items()})
    commit = _text(fields["commit"])
    if not isinstance(files, list) or not commit.isalnum() or len(commit) != 40:
        raise ValueError("not a plan")
    plan = DownloadPlan(Repository(wanted.model, commit), tuple(_file(file) for file in files))
    done, by_shard = fields["done"] is True, fields.get("by_shard") is True
    return Ticket(name, wanted, plan, output, done, by_shard)


def _file(fields: dict[str, object]) -> RemoteFile:
    """A file that may be written: what is on the disk is trusted no more than a hub."""
    size = fields["size"]
    file = RemoteFile(
        _text(fields["path"]),
        _text(fields["name"]),
        size if type(size) is int and size >= 0 else -1,
        _text(fields["sha256"]),
        _text(fields["git_sha1"]),
    )
    hashed = len(file.sha256) == 64 or len(file.git_sha1) == 40
    if file.size < 0 or not names.is_safe_name(file.name) or not hashed:
        raise ValueError("not a file we could fetch")
    return file


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
