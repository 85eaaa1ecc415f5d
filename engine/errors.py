"""Every error a user can meet. One base, few kinds; each says what happened, where, and what to do
next. Texts that people read are made as `Text`, so that a front end can say them in its language.
"""

from __future__ import annotations

from engine.text import Text

_STOPPED = Text("Stopped.")


class Edge0Error(Exception):
    """Base of all engine errors: `message` says what and where, `next_step` what one can do."""

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(f"{message} {next_step}".strip())
        self.message = message
        self.next_step = next_step

    def __reduce__(self) -> tuple[type[Edge0Error], tuple[str, str]]:
        return (type(self), (self.message, self.next_step))


class CheckpointError(Edge0Error):
    """A source model (safetensors folder, GGUF file) is damaged, incomplete or hostile."""


class UnsupportedModelError(Edge0Error):
    """The model's architecture, or one of its tensors, is not one we know."""


class ContainerError(Edge0Error):
    """A converted model folder is damaged, incomplete or hostile."""


class BudgetError(Edge0Error):
    """The memory budget cannot hold this model; `minimum_gb` is the smallest that can."""

    def __init__(self, message: str, next_step: str = "", minimum_gb: float = 0.0) -> None:
        super().__init__(message, next_step)
        self.minimum_gb = minimum_gb

    def __reduce__(self) -> tuple[type[BudgetError], tuple[str, str, float]]:  # type: ignore[override]
        return (type(self), (self.message, self.next_step, self.minimum_gb))


class ContextError(Edge0Error):
    """The prompt does not fit the context window."""


class ChatError(Edge0Error):
    """Tokenizer, chat template or sampling options cannot be used."""


class StorageError(Edge0Error):
    """Reading or writing failed: disk full, drive gone, permission denied, short read."""


class DownloadError(Edge0Error):
    """A download failed in a way retrying did not cure; `page`: where on the web to change that."""

    def __init__(self, message: str, next_step: str = "", page: str = "") -> None:
        super().__init__(message, next_step)
        self.page = page

    def __reduce__(self) -> tuple[type[DownloadError], tuple[str, str, str]]:  # type: ignore[override]
        return (type(self), (self.message, self.next_step, self.page))


class ConfigError(Edge0Error):
    """An option has a value that cannot work."""


class OutputError(Edge0Error):
    """A program's own output cannot be written; without a message, nobody reads on: no fault."""


class Stopped(Edge0Error):
    """The user asked to stop. Not a fault; carries no next step."""

    def __init__(self, message: str = _STOPPED, next_step: str = "") -> None:
        super().__init__(message, next_step)
