"""The system's store of passwords, in three moods."""

from __future__ import annotations


class Works:
    """A store that keeps things."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Forgets(Works):
    """A store that takes and does not give back."""

    def get_password(self, service: str, username: str) -> str | None:
        return None


class Breaks(Works):
    """No store at all."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("no D-Bus")

    set_password = delete_password = get_password  # type: ignore[assignment]
