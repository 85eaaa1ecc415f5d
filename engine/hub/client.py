"""What a hub says of a model: commit, files with sizes and hashes. Over `huggingface_hub`'s HfApi.

Metadata only; bytes go through `lane`. Nothing implicit: no saved token, no telemetry, no settings
from the environment. The library keeps one HTTP client per process: listings take turns.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError, DownloadError, Edge0Error, UnsupportedModelError
from engine.hub import names
from engine.hub.access import OFFICIAL, USER_AGENT, Access, checked_endpoint, shown
from engine.hub.lane import Transport
from engine.hub.plan import RemoteFile, Repository
from engine.hub.refusals import refusal
from engine.stop import StopFlag
from engine.text import Text

if TYPE_CHECKING:
    from huggingface_hub import HfApi

MAX_ENTRIES = 20_000
MAX_BYTES = 1 << 45  # 35 TB
TIMEOUT_S = 15.0
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9][\w./-]{0,199}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_TURN = threading.Lock()


class HubClient:
    """Asks one hub. `endpoint` may be a mirror; the token is then not sent."""

    def __init__(
        self, endpoint: str = OFFICIAL, access: Access | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.endpoint = checked_endpoint(endpoint)
        self.access = access or Access()
        self._transport = Transport(self.access)
        self._timeout_s = timeout_s

    def repository(
        self, model: str, revision: str = "main", stop: StopFlag | None = None
    ) -> Repository:
        """The model's files at the commit that `revision` names now.

        Raises DownloadError, UnsupportedModelError, ConfigError, Stopped.
        """
        _check_names(model, revision)
        stop = stop or StopFlag()
        with self._errors(model), self._session(stop) as hub:
            info = hub.model_info(model, revision=revision, timeout=self._timeout_s)
            commit = _commit(info.sha, self.endpoint)
            tree = hub.list_repo_tree(model, revision=commit, recursive=True)
            entries = list(islice(tree, MAX_ENTRIES + 1))
            return _repository(model, commit, self.endpoint, info, entries)

    @contextmanager
    def _session(self, stop: StopFlag) -> Iterator[HfApi]:
        """The library, all of whose requests go through a client of ours."""
        from huggingface_hub import HfApi, close_session, set_client_factory

        from engine.hub.hub_session import new_client

        headers = {"user-agent": USER_AGENT, "accept-encoding": "identity"}
        token = self.access.token if self.access.trusts(self.endpoint) else ""
        with _TURN:
            set_client_factory(
                lambda: new_client(self._transport, self.endpoint, self._timeout_s, stop)
            )
            try:
                yield HfApi(endpoint=self.endpoint, token=token or False, headers=headers)
            finally:
                close_session()

    @contextmanager
    def _errors(self, model: str) -> Iterator[None]:
        """Whatever the library or the server does wrong becomes one of our errors."""
        from huggingface_hub.errors import HfHubHTTPError

        try:
            yield
        except Edge0Error:
            raise
        except HfHubHTTPError as error:
            answer = error.response
            url = str(answer.request.url)
            raise refusal(answer.status_code, answer.headers, url, model, self.access) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DownloadError(
                Text("{0} gave an answer we cannot read.", shown(self.endpoint)),
                Text("Check the hub's address, and whether the network asks for a login first."),
            ) from error


def _check_names(model: str, revision: str) -> None:
    if not _ID.fullmatch(model) or ".." in model or "--" in model:
        raise ConfigError(
            Text("{0} is not the name of a model on a hub.", repr(model[:100])),
            Text("Give owner/name, such as {0}.", "Qwen/Qwen3-30B-A3B"),
        )
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise ConfigError(
            Text("{0} is not a revision.", repr(revision[:100])),
            Text("Give a branch, a tag or a commit."),
        )


def _commit(value: object, endpoint: str) -> str:
    if isinstance(value, str) and _COMMIT.fullmatch(value):
        return value
    raise ValueError(f"{endpoint} named no commit")


def _repository(
    model: str, commit: str, endpoint: str, info: Any, entries: list[Any]
) -> Repository:
    if len(entries) > MAX_ENTRIES:
        raise UnsupportedModelError(
            Text("{0} has more than {1} files.", model, MAX_ENTRIES),
            Text("Choose another version of the model."),
        )
    files, pickles = [], []
    for entry in entries:
        path, size = entry.path, getattr(entry, "size", None)
        if size is None:  # a folder
            continue
        name = path.rsplit("/", 1)[-1]
        if name.lower().endswith(_PICKLES):
            pickles.append(path)
        elif names.is_weights(name) or names.is_gguf(name) or names.is_side_file(name):
            files.append(_file(model, entry, name))
    return Repository(
        model,
        commit,
        endpoint,
        tuple(sorted(files, key=lambda file: file.path)),
        gated=bool(getattr(info, "gated", False)),
        licence=_licence(info),
        pickles=tuple(sorted(pickles)[:100]),
    )


def _file(model: str, entry: Any, name: str) -> RemoteFile:
    """One entry, checked: it decides where we write and how much."""
    if not names.is_safe_path(entry.path):
        raise UnsupportedModelError(
            Text(
                "{0} holds a file named {1}, which is not safe to store.",
                model,
                repr(entry.path[:100]),
            ),
            Text("Choose another version of the model."),
        )
    sha256 = entry.lfs.sha256 if entry.lfs else ""
    sha1 = "" if entry.lfs else entry.blob_id
    hashed = _SHA256.fullmatch(sha256) if entry.lfs else _COMMIT.fullmatch(sha1)
    if type(entry.size) is not int or not 0 <= entry.size < MAX_BYTES or not hashed:
        raise ValueError(f"{entry.path} has no size or hash")
    return RemoteFile(entry.path, name, entry.size, sha256, sha1)


def _licence(info: Any) -> str:
    with suppress(AttributeError, TypeError):
        licence = info.card_data.license
        if isinstance(licence, str):
            return licence[:100]
    return ""
