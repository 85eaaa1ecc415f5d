"""A model on a hub as a `Checkpoint` for planning: names, shapes and types of all tensors, from the
headers of its files, before anything is downloaded. Weights cannot be read from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.files import SMALL_FILE, parse_json, refuse_pointer
from engine.checkpoint.gguf import HEAD, GgufCheckpoint, merged
from engine.checkpoint.gguf_header import GgufHeader
from engine.checkpoint.gguf_header import parse_header as parse_gguf
from engine.checkpoint.safetensors import INDEX, MAX_HEADER, SINGLE, parse_header, refuse_types
from engine.checkpoint.stored import StoredCheckpoint
from engine.checkpoint.tensors import StoredTensor, TensorInfo
from engine.errors import CheckpointError
from engine.events import Progress
from engine.hub import choose, names
from engine.hub.access import Access
from engine.hub.lane import Transport
from engine.hub.plan import DownloadPlan, RemoteFile, Repository
from engine.hub.policy import DownloadPolicy
from engine.hub.remote_reader import Reader, read_all
from engine.model.families import registry
from engine.model.families.registry import Family
from engine.model.shape import ModelShape
from engine.model.weights import Source, WeightSpec
from engine.stop import StopFlag
from engine.text import Text

FIRST_READ = 512 << 10  # holds most headers whole
GGUF_READ = 1 << 20
MAX_GGUF_HEADER = 256 << 20
MAX_CONFIG = 16 << 20
_CHOOSE = Text("Choose another version of the model.")

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class RemoteModel:
    """What would be downloaded, and what is in it."""

    plan: DownloadPlan
    checkpoint: Checkpoint


def examine(
    repository: Repository,
    gguf: str = "",
    access: Access | None = None,
    progress: OnProgress = lambda _: None,
    stop: StopFlag | None = None,
    policy: DownloadPolicy | None = None,
) -> RemoteModel:
    """Read the headers of a model. `gguf` picks one of several GGUF models by a part of its name.

    Raises DownloadError, UnsupportedModelError, CheckpointError, Stopped.
    """
    policy, stop = policy or DownloadPolicy(), stop or StopFlag()
    transport = Transport(access or Access(), policy.connect_timeout_s, policy.stall_s)
    look = _Look(repository, transport, policy, progress, stop)
    if gguf:
        return look.gguf(gguf)
    if choose.has_safetensors(repository):
        return look.safetensors()
    choices = choose.gguf_choices(repository)
    if len(choices) != 1:
        choose.refuse_unusable(repository)
    return look.gguf(choices[0].name)


class _Look:
    """One examination."""

    def __init__(
        self,
        repository: Repository,
        transport: Transport,
        policy: DownloadPolicy,
        progress: OnProgress,
        stop: StopFlag,
    ) -> None:
        self._repository = repository
        self._run = partial(read_all, repository, transport, policy, stop)
        self._progress = progress

    def safetensors(self) -> RemoteModel:
        """Configuration first: an unknown family is told before a header is read."""
        config = self._json("config.json", MAX_CONFIG)
        model_type = config.get("model_type")
        if not isinstance(model_type, str):
            raise CheckpointError(
                Text("{0} of {1} names no model_type.", "config.json", self._repository.id),
                _CHOOSE,
            )
        family = registry.by_model_type(model_type)
        shape = family.shape_from_config(config)
        index = self._json(INDEX, SMALL_FILE) if self._repository.find(INDEX) else None
        plan = choose.safetensors_plan(self._repository, index)
        shards = [file for file in plan.files if names.is_weights(file.name)]
        found = self._run([partial(_safetensors_header, file) for file in shards], self._report)
        headers = {file.name: header for file, header in zip(shards, found, strict=True)}
        tensors = _placed(headers, index, self._repository.id)
        refuse_types(tensors)
        return RemoteModel(plan, RemoteSafetensors(plan.folder_name, tensors, family, shape))

    def gguf(self, name: str) -> RemoteModel:
        """Every part's header; the tokenizer inside makes them a few MB."""
        plan = choose.gguf_plan(self._repository, name)
        parts = [file for file in plan.files if names.is_gguf(file.name)]
        headers = self._run([partial(_gguf_header, file) for file in parts], self._report)
        return RemoteModel(plan, RemoteGguf(parts[0].name, headers))

    def _json(self, name: str, limit: int) -> dict[str, object]:
        file = self._repository.find(name)
        if file is None:
            raise CheckpointError(Text("{0} has no {1}.", self._repository.id, name), _CHOOSE)
        return self._run([partial(_json_file, file, limit)], self._report)[0]

    def _report(self, done: int, total: int) -> None:
        self._progress(Progress(done, total, Text("reading what is in the model")))


class RemoteSafetensors(StoredCheckpoint):
    """A safetensors model on a hub."""

    def __init__(
        self, name: str, tensors: dict[str, StoredTensor], family: Family, shape: ModelShape
    ) -> None:
        super().__init__("safetensors", Path(name), tensors)
        self.family, self.shape = family, shape

    @property
    def tensors(self) -> Mapping[str, StoredTensor]:
        """Every tensor, with the file and the place where the hub has it."""
        return self._tensors

    def names(self) -> Mapping[str, TensorInfo]:
        """Every tensor by name; none of them lies on this disk."""
        return _described(self._tensors)

    def source(self, spec: WeightSpec) -> Source:
        """Where a weight is."""
        return spec.hf

    def side_files(self) -> dict[str, bytes]:
        """None: they are not here yet."""
        return {}


class RemoteGguf(GgufCheckpoint):
    """A GGUF model on a hub. Rotary factors, which are weights, are left out of its shape."""

    def __init__(self, name: str, headers: list[GgufHeader]) -> None:
        self.metadata = headers[0].metadata
        StoredCheckpoint.__init__(self, "gguf", Path(name), merged(headers))
        if self.metadata.get("split.count", 1) not in (len(headers), 0):
            raise CheckpointError(Text("{0} and its parts do not belong together.", name), _CHOOSE)
        self.family = registry.by_gguf(self.metadata)
        shape = self.family.shape_from_gguf(self.metadata)
        self.shape = replace(shape, tied_embeddings=HEAD not in self._tensors)

    def names(self) -> Mapping[str, TensorInfo]:
        """Every tensor by name; none of them lies on this disk."""
        return _described(self._tensors)


class _RemoteStream:
    """A remote file from its start, read in growing steps."""

    def __init__(self, reader: Reader, file: RemoteFile) -> None:
        self._reader, self._file = reader, file
        self._data, self._position = bytearray(), 0

    def read(self, count: int, /) -> bytes:
        end = self._position + count
        if end > MAX_GGUF_HEADER:
            raise CheckpointError(Text("{0} has a header without end.", self._file.path), _CHOOSE)
        while len(self._data) < min(end, self._file.size):
            step = max(end - len(self._data), GGUF_READ, len(self._data))
            self._data += self._reader.piece(self._file, len(self._data), step)
        piece = bytes(self._data[self._position : end])
        self._position += len(piece)
        return piece


def _described(tensors: Mapping[str, StoredTensor]) -> dict[str, TensorInfo]:
    return {t.name: TensorInfo(t.name, t.shape, t.dtype, t.nbytes) for t in tensors.values()}


def _json_file(file: RemoteFile, limit: int, reader: Reader) -> dict[str, object]:
    return parse_json(reader.whole(file, limit), file.path)


def _safetensors_header(file: RemoteFile, reader: Reader) -> dict[str, StoredTensor]:
    """One read, a second one for a long header."""
    start = reader.piece(file, 0, FIRST_READ)
    refuse_pointer(start[:8], Path(file.name))
    length = int.from_bytes(start[:8], "little")
    if file.size < 8 or length > min(MAX_HEADER, file.size - 8):
        problem = Text("{0}: the header does not fit into the file.", file.path)
        raise CheckpointError(problem, _CHOOSE)
    text = start[8 : 8 + length]
    if len(text) < length:
        text += reader.piece(file, 8 + len(text), length - len(text))
    return parse_header(text, Path(file.name), file.size)


def _gguf_header(file: RemoteFile, reader: Reader) -> GgufHeader:
    return parse_gguf(Path(file.name), _RemoteStream(reader, file), file.size)


def _placed(
    headers: Mapping[str, dict[str, StoredTensor]], index: Mapping[str, object] | None, model: str
) -> dict[str, StoredTensor]:
    """Tensors where the index says they are; without an index, all of the one file."""
    if index is None:
        return headers[SINGLE]
    places = index["weight_map"]
    found = {}
    for name, file in places.items() if isinstance(places, dict) else ():
        if name not in headers[file]:
            text = Text("{0} of {1} lacks the tensor {2}.", file, model, f"{name!r:.200}")
            raise CheckpointError(text, _CHOOSE)
        found[name] = headers[file][name]
    return found
