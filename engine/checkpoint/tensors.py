"""A named tensor of a checkpoint, and how a weight is cut out of it: only the bytes of the wanted
entry and rows are read. Any thread; memory of a read: the piece as stored, and as returned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.checkpoint import decode
from engine.checkpoint.decode import Floats
from engine.checkpoint.files import FETCH_AGAIN, read_columns
from engine.errors import CheckpointError
from engine.formats import BLOCK_COLS, Blocks
from engine.model.weights import Source
from engine.text import Text


@dataclass(frozen=True)
class TensorInfo:
    """What a checkpoint says of a tensor. shape: outermost first, (rows, cols) for a matrix."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int


@dataclass(frozen=True)
class StoredTensor(TensorInfo):
    """Where its bytes are. unit: (values, bytes) of a block of the stored type, (1, 4) for F32."""

    file: Path
    offset: int
    unit: tuple[int, int]


def is_plain_name(name: str) -> bool:
    """Whether a tensor's name is printable and could not be taken for a path."""
    return name.isprintable() and ".." not in name and "/" not in name and "\\" not in name


def read_weight(tensor: StoredTensor, source: Source) -> Blocks | Floats:
    """The weight that `source` cuts out of a tensor. Raises CheckpointError if it does not fit."""
    cut_shape(tensor, source)  # refuses cuts that do not fit
    if source.index is not None:
        tensor = _entry(tensor, source.index)
    if len(tensor.shape) == 2:
        piece = _matrix(tensor, source)
    else:
        whole = _whole(tensor)
        piece = whole[slice(*source.rows)] if source.rows else whole
    if not decode.is_finite(piece):
        text = Text("{0}: tensor {1} holds values that are not numbers.", tensor.file, tensor.name)
        raise CheckpointError(text, FETCH_AGAIN)
    return unpermuted(piece, source.unpermute_heads) if source.unpermute_heads else piece


def cut_shape(tensor: TensorInfo, source: Source) -> tuple[int, ...]:
    """Shape of what `source` cuts out. Raises CheckpointError if the cut does not fit."""
    shape = tensor.shape
    if source.index is not None:
        fits = len(shape) > 1 and 0 <= source.index < shape[0]
        _require(fits, tensor, Text("has no entry {0}", source.index))
        shape = shape[1:]
    if source.transpose:
        _require(len(shape) == 2, tensor, Text("is not a matrix"))
        shape = shape[::-1]
    for axis, span in enumerate((source.rows, source.cols)):
        if span is not None:
            plain = len(shape) == 2 or (len(shape) == 1 and axis == 0)
            fits = plain and 0 <= span[0] < span[1] <= shape[axis]
            _require(fits, tensor, Text("has no cut {0}", span))
            shape = (*shape[:axis], span[1] - span[0], *shape[axis + 1 :])
    heads = source.unpermute_heads
    if heads is not None:
        fits = 1 <= len(shape) <= 2 and heads > 0 and shape[0] % (2 * heads) == 0
        _require(fits, tensor, Text("cannot be cut into {0} rotary heads", heads))
    return shape


def unpermuted(piece: Blocks | Floats, heads: int) -> Blocks | Floats:
    """Rows (or entries of a bias) back in Hugging Face's order.

    llama.cpp stores row 2i + j of a head where the original has row j · head_dim / 2 + i
    (`LlamaModel.permute`: reshape(heads, 2, head_dim / 2, …).swapaxes(1, 2)).
    """
    rows = len(piece.codes) if isinstance(piece, Blocks) else len(piece)
    order = np.arange(rows).reshape(heads, rows // heads // 2, 2).swapaxes(1, 2).reshape(-1)
    if isinstance(piece, Blocks):
        return Blocks(piece.format, piece.codes[order], piece.scales[order])
    turned: Floats = piece[order]
    return turned


def _entry(tensor: StoredTensor, index: int) -> StoredTensor:
    size = tensor.nbytes // tensor.shape[0]
    return replace(tensor, shape=tensor.shape[1:], nbytes=size, offset=tensor.offset + index * size)


def _whole(tensor: StoredTensor) -> Floats:
    """All of a tensor of any rank as float32 in its own shape."""
    rows = int(np.prod(tensor.shape[:-1], dtype=np.int64)) if len(tensor.shape) > 1 else 1
    row_bytes = tensor.nbytes // max(rows, 1)
    raw = read_columns(tensor.file, tensor.offset, rows, row_bytes, (0, row_bytes))
    return decode.to_float(decode.decode(raw, tensor.dtype)).reshape(tensor.shape)


def _matrix(tensor: StoredTensor, source: Source) -> Blocks | Floats:
    """Rows and columns of a matrix; a transposed one is cut as stored, then turned."""
    if not source.transpose:
        return _rectangle(tensor, source.rows, source.cols)
    piece = decode.to_float(_rectangle(tensor, source.cols, source.rows))
    return np.ascontiguousarray(piece.T)


def _rectangle(
    tensor: StoredTensor, rows: tuple[int, int] | None, cols: tuple[int, int] | None
) -> Blocks | Floats:
    height, width = tensor.shape
    (top, bottom), (left, right) = rows or (0, height), cols or (0, width)
    values, size = tensor.unit
    row_bytes = width // values * size
    first, last = left // values, -(-right // values)  # whole blocks that hold the columns
    raw = read_columns(
        tensor.file,
        tensor.offset + top * row_bytes,
        bottom - top,
        row_bytes,
        (first * size, last * size),
    )
    piece = decode.decode(raw, tensor.dtype)
    if isinstance(piece, Blocks):
        whole = left % BLOCK_COLS == 0 and right % BLOCK_COLS == 0
        text = Text("is {0}; columns {1} to {2} split its blocks", tensor.dtype, left, right)
        _require(whole, tensor, text)
        return piece
    if (left, right) == (first * values, last * values):
        return piece
    return np.ascontiguousarray(piece[:, left - first * values : right - first * values])


def _require(fits: bool, tensor: TensorInfo, problem: Text) -> None:
    if not fits:
        raise CheckpointError(
            Text("Tensor {0} of shape {1} {2}.", tensor.name, tensor.shape, problem),
            Text("The file does not match its own description; fetch the model again."),
        )
