"""Downloads and converts a model shard by shard, deleting each shard once it is converted.

Owns the shards that were downloaded into the order's folder. The plan is made from headers read on
the hub, before a shard is there; one that comes with another header is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from engine.checkpoint.safetensors import read_file_header
from engine.checkpoint.side_files import hugging_face_files
from engine.checkpoint.stored import StoredCheckpoint
from engine.container.files import storage_errors
from engine.errors import CheckpointError, ConfigError
from engine.hub import names
from engine.hub.marker import verified_files, verified_line
from engine.hub.plan import DownloadPlan
from engine.hub.progress import DownloadProgress, OnDownload
from engine.hub.remote_model import RemoteModel, RemoteSafetensors
from engine.machine.disk import folder_bytes
from engine.model.weights import Source, WeightSpec
from engine.prepare.by_shard import prepare_by_shard
from engine.prepare.prepare import PrepareSummary, Report
from engine.stop import StopFlag
from engine.text import Text

Fetch = Callable[[DownloadPlan, OnDownload, int], None]  # files, progress, bytes to leave free


class ShardedCheckpoint(StoredCheckpoint):
    """A safetensors model in `folder` whose shards come and go."""

    def __init__(self, remote: RemoteSafetensors, folder: Path) -> None:
        tensors = {t.name: replace(t, file=folder / t.file.name) for t in remote.tensors.values()}
        super().__init__("safetensors", folder, tensors)
        self.family, self.shape = remote.family, remote.shape

    @property
    def places(self) -> dict[str, str]:
        """In which file each tensor lies."""
        return {tensor.name: tensor.file.name for tensor in self._tensors.values()}

    def source(self, spec: WeightSpec) -> Source:
        """Where a weight is."""
        return spec.hf

    def side_files(self) -> dict[str, bytes]:
        """The small files beside the weights."""
        files, self.warnings = hugging_face_files(self.path)
        return files

    def check(self, file: str) -> None:
        """That a file holds what the plan was made for. Raises CheckpointError."""
        found = read_file_header(self.path / file)
        expected = [t for t in self._tensors.values() if t.file.name == file]
        if any(found.get(tensor.name) != tensor for tensor in expected):
            raise CheckpointError(
                Text("{0} holds other tensors than the hub told.", self.path / file),
                Text("Cancel this download and start it again, perhaps from another hub address."),
            )


class ShardSupply:
    """Downloads a shard when it is wanted; deletes it when it is not wanted any more."""

    def __init__(
        self, plan: DownloadPlan, checkpoint: ShardedCheckpoint, fetch: Fetch, progress: OnDownload
    ) -> None:
        self._plan, self._checkpoint = plan, checkpoint
        self._download, self._progress = fetch, progress
        self._folder = checkpoint.path

    def fetch(self, files: Sequence[str], reserve_bytes: int) -> None:
        """Download what is not there; check what came."""
        fetch_files(self._plan, files, self._folder, self._download, self._progress, reserve_bytes)
        for file in files:
            self._checkpoint.check(file)

    def holds(self, file: str) -> bool:
        """Whether a shard is there."""
        return (self._folder / file).exists()

    def release(self, file: str) -> None:
        """Delete a shard that was downloaded; where it is a link, what it leads to stays."""
        path = self._folder / file
        with storage_errors(path):
            path.unlink(missing_ok=True)


def get_by_shard(
    model: RemoteModel,
    folder: Path,
    out: Path,
    quant: str,
    fetch: Fetch,
    progress: Report,
    stop: StopFlag,
) -> PrepareSummary:
    """Download into `folder` and convert into `out`; run again after any interruption to go on.

    Raises what `download` and `prepare` raise.
    """
    if not isinstance(model.checkpoint, RemoteSafetensors):
        raise ConfigError(
            Text("{0} is a GGUF model, which is converted as a whole.", model.plan.repository.id),
            Text("Leave --shard-by-shard out."),
        )
    plan = model.plan
    small = [file.name for file in plan.files if not names.is_weights(file.name)]
    fetch_files(plan, small, folder, fetch, progress, 0)
    with closing(ShardedCheckpoint(model.checkpoint, folder)) as checkpoint:
        supply = ShardSupply(plan, checkpoint, fetch, progress)
        return prepare_by_shard(
            checkpoint, checkpoint.places, out, supply, quant, plan.identity, progress, stop
        )


def fetch_files(
    plan: DownloadPlan,
    files: Sequence[str],
    folder: Path,
    fetch: Fetch,
    progress: OnDownload,
    reserve_bytes: int,
) -> None:
    """Some of a plan's files; what is reported is how far the whole plan is."""
    wanted = tuple(file for file in plan.files if file.name in files)
    before = fetched_bytes(plan, folder) - fetched_bytes(replace(plan, files=wanted), folder)

    def report(part: DownloadProgress) -> None:
        done, rate = before + part.done, part.rate_bytes_s
        eta = None if part.eta_s is None or not rate else (plan.total - done) / rate
        progress(replace(part, done=done, total=plan.total, eta_s=eta))

    fetch(replace(plan, files=wanted), report, reserve_bytes)


def fetched_bytes(plan: DownloadPlan, folder: Path) -> int:
    """Bytes of the plan's files that were fetched whole, whether they are still there or not."""
    verified = verified_files(folder)
    return sum(file.size for file in plan.files if verified_line(file) in verified)


def begun_bytes(plan: DownloadPlan, folder: Path) -> int:
    """Bytes of the plan that need not be fetched again, roughly."""
    return min(plan.total, fetched_bytes(plan, folder) + folder_bytes(folder, "*.part"))
