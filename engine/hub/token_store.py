"""Keeps the hub token in the system's own store (Keychain, Credential Manager, Secret Service).

Where there is none, or it fails, the token lives until the program ends. Never in a file of ours.
Any thread; the system may ask the user to unlock its store, so not on the window's thread.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

SERVICE = "Edge0"
ACCOUNT = "huggingface.co"


class Keyring(Protocol):
    """What we need of a store."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


class TokenStore:
    """One token. `keyring`: another store than the system's."""

    def __init__(self, keyring: Keyring | None = None) -> None:
        self._keyring = keyring
        self._session = ""

    def load(self) -> str:
        """The token, or ""."""
        if self._session:
            return self._session
        with suppress(Exception):  # a store may fail in ways of its own: D-Bus, policies
            self._session = self._system().get_password(SERVICE, ACCOUNT) or ""
        return self._session

    def save(self, token: str) -> bool:
        """Keep the token; False when the system would not, and it is forgotten at the end."""
        self._session = token
        try:
            self._system().set_password(SERVICE, ACCOUNT, token)
            return self._system().get_password(SERVICE, ACCOUNT) == token
        except Exception:
            return False

    def forget(self) -> None:
        """Remove the token everywhere."""
        self._session = ""
        with suppress(Exception):  # there was none
            self._system().delete_password(SERVICE, ACCOUNT)

    def _system(self) -> Keyring:
        if self._keyring is None:
            import keyring

            self._keyring = keyring.get_keyring()
        return self._keyring
