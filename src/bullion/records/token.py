"""Desk tokens, roles and actors."""

import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from bullion.keys.text import new_secret

FIRST_USER = "first"
"""The user of the deployment's first token, which is no row of the store."""


class Role(StrEnum):
    """Each role includes the ones before it."""

    VIEWER = "viewer"
    DEALER = "dealer"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)


@dataclass(frozen=True, slots=True)
class Token:
    token_id: str
    broker: str
    name: str
    role: Role
    secret_hash: bytes
    created_at_us: int
    deleted_at_us: int | None = None


@dataclass(frozen=True, slots=True)
class UsedToken:
    token: Token
    used_at_us: int | None
    """When it was last used, to the minute. None: never."""
    sessions: int
    """Sessions of the console that it has open."""
    second_factor: bool = False
    """Whether its user needs a code to log in to the console."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who performs an action, as named in the audit trail."""

    name: str
    role: Role
    broker: str
    first: bool = False
    """The deployment's first token: it may create brokers, and tokens for any of them."""
    token_id: str | None = None
    """None for the first token and the command line."""

    @property
    def user_id(self) -> str:
        """Names the user of a session: the id of the token, or FIRST_USER."""
        return self.token_id or FIRST_USER


_TEXT = re.compile(r"desk\.([0-9a-f]{16})\.([0-9A-Za-z]{51})")


def new_token_id() -> str:
    return secrets.token_hex(8)


def new_token_secret() -> str:
    return new_secret()


def write_token(token_id: str, secret: str) -> str:
    return f"desk.{token_id}.{secret}"


def read_token(text: str) -> tuple[str, str] | None:
    """The id and secret of a token's text, if it is one."""
    match = _TEXT.fullmatch(text)
    return (match[1], match[2]) if match else None
