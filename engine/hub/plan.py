"""What to download: a repository's files at one commit, and the ones chosen. Plain data.

A plan is pinned: every file has its size and a hash, so no answer of a server has to be believed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from urllib.parse import quote

from engine.hub.access import OFFICIAL


@dataclass(frozen=True)
class RemoteFile:
    """path: in the repository; name: on our disk. Large files have sha256, small ones git_sha1."""

    path: str
    name: str
    size: int
    sha256: str = ""
    git_sha1: str = ""


@dataclass(frozen=True)
class Repository:
    """What a hub said of a model: its commit (40 hex digits) and the files we could use."""

    id: str
    commit: str
    endpoint: str = OFFICIAL
    files: tuple[RemoteFile, ...] = ()
    gated: bool = False
    licence: str = ""
    pickles: tuple[str, ...] = ()  # weights that could run code: never taken, but told

    def url(self, path: str) -> str:
        """Where a file's bytes are."""
        return f"{self.endpoint}/{self.id}/resolve/{self.commit}/{quote(path)}"

    def find(self, name: str) -> RemoteFile | None:
        """A file of the top folder by its name."""
        return next((f for f in self.files if f.path == f.name == name), None)


@dataclass(frozen=True)
class DownloadPlan:
    """The files to fetch, small ones first. Two plans with one `identity` give the same folder."""

    repository: Repository = field(repr=False)
    files: tuple[RemoteFile, ...]

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def identity(self) -> str:
        """Names the content; the same for every mirror."""
        files = sorted(self.files, key=lambda file: file.name)
        fields = [self.repository.id, self.repository.commit, [asdict(file) for file in files]]
        return hashlib.sha256(json.dumps(fields).encode("ascii")).hexdigest()

    @property
    def folder_name(self) -> str:
        """A folder name for the download: model and commit."""
        return f"{self.repository.id.replace('/', '--')}-{self.repository.commit[:12]}"

    def url(self, file: RemoteFile) -> str:
        """Where a file's bytes are."""
        return self.repository.url(file.path)
