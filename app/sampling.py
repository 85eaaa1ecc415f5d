"""What the user wants of sampling; what is left out follows the open model. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine import GenerateOptions


@dataclass(frozen=True)
class Sampling:
    """Fields of GenerateOptions; None is the model's own value (a seed: another one each time).

    Raises ConfigError for a value the engine refuses.
    """

    max_tokens: int = 1024
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        self.over(GenerateOptions())

    def over(self, own: GenerateOptions) -> GenerateOptions:
        """The model's own options with the user's values in their place."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        return replace(own, **given)
