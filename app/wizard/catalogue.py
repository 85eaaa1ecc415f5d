"""The models we suggest: resources/catalogue.json. Sizes are for looking; a look-up is exact."""

from __future__ import annotations

import json
from dataclasses import dataclass

from app.resources import resource


@dataclass(frozen=True)
class CatalogueModel:
    """GB are 10^9 bytes. converted_gb: as nf4. memory_gb: RAM of a machine it suits."""

    id: str
    name: str
    license: str
    family: str
    parameters_b: float
    active_b: float
    download_gb: float
    converted_gb: float
    memory_gb: int
    about: dict[str, str]
    gguf: str = ""

    @property
    def dense(self) -> bool:
        """Whether all of it is used for every token."""
        return self.parameters_b == self.active_b


def read_catalogue() -> list[CatalogueModel]:
    """Every suggestion, in the order to show them."""
    text = resource("catalogue.json").read_text(encoding="utf-8")
    return [CatalogueModel(**model) for model in json.loads(text)["models"]]
