"""What was ordered: begun and perhaps to go on after a restart, or made: one small file. No Qt.

A note that cannot be read is dropped: what lies on the disk is listed without it, too.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.commands import Order
from app.json_file import read_json, write_json

MOST = 200


class Orders:
    """`begun`: from start to end. `made`: what became of them, newest last."""

    def __init__(self, file: Path) -> None:
        self._file = file
        found = read_json(file)
        self.begun, self.made = _orders(found.get("orders")), _orders(found.get("made"))

    def begin(self, order: Order) -> None:
        """Note an order before its work starts. Raises OSError."""
        self._write([*_without(self.begun, order), order], self.made)

    def end(self, order: Order) -> None:
        """It is done: from now on a receipt. Raises OSError."""
        made = [*_without(self.made, order), order][-MOST:]
        self._write(_without(self.begun, order), made)

    def drop(self, order: Order) -> None:
        """Forget an order. Raises OSError."""
        self._write(_without(self.begun, order), self.made)

    def moved(self, old: Path, new: Path) -> None:
        """A model lies elsewhere now. Raises OSError."""
        made = [replace(o, models=new.parent) if _is(o, old) else o for o in self.made]
        self._write(self.begun, made)

    def receipt(self, model: Path) -> Order | None:
        """The order that a model was made from, if it was made here."""
        return next((order for order in reversed(self.made) if _is(order, model)), None)

    def _write(self, begun: list[Order], made: list[Order]) -> None:
        if (begun, made) == (self.begun, self.made):
            return
        self.begun, self.made = begun, made
        lists = {"orders": [_entry(o) for o in begun], "made": [_entry(o) for o in made]}
        write_json(self._file, {"version": 1, **lists})


def _is(order: Order, model: Path) -> bool:
    return order.models / order.name == model


def _without(orders: list[Order], order: Order) -> list[Order]:
    return [o for o in orders if (o.models, o.name) != (order.models, order.name)]


def _entry(order: Order) -> dict[str, Any]:
    return {**asdict(order), "models": str(order.models)}


def _orders(entries: Any) -> list[Order]:
    listed = entries if isinstance(entries, list) else []
    return [order for entry in listed if (order := _order(entry)) is not None]


def _order(entry: Any) -> Order | None:
    try:
        order = Order(**{**entry, "models": Path(entry["models"])})
    except (TypeError, KeyError):
        return None
    texts = (order.kind, order.source, order.gguf, order.quant, order.endpoint)
    return order if all(isinstance(text, str) for text in texts) else None
