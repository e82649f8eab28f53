"""Second factors of the desk's users."""

import secrets
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from .token import Role

RECOVERY_CODES = 10
_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without those that look alike."""
_CODE_LETTERS = 10


class FactorRule(StrEnum):
    """Who needs a second factor in the console of a broker."""

    OFF = "off"
    ADMINS = "admins"
    ALL = "all"

    def requires(self, role: Role) -> bool:
        return self is FactorRule.ALL or (self is FactorRule.ADMINS and role is Role.ADMIN)


@dataclass(frozen=True, slots=True)
class SecondFactor:
    user_id: str
    encrypted_secret: str
    secret_id: str
    """Names the deployment's secret that it was encrypted with."""
    confirmed_at_us: int | None
    """None: the user has not entered a code yet, and needs none to log in."""


def new_recovery_codes() -> list[str]:
    """Such as 7KQ2M-XW9TB."""
    made = ["".join(secrets.choice(_LETTERS) for _ in range(_CODE_LETTERS)) for _ in range(RECOVERY_CODES)]
    return [f"{code[:5]}-{code[5:]}" for code in made]


def recovery_code_hash(code: str, factor_secret: bytes) -> str:
    """Keyed with the secret of the factor, which is encrypted: who reads the store cannot try all codes."""
    plain = "".join(each for each in code.upper() if each.isascii() and each.isalnum())
    return blake2b(plain.encode("ascii"), key=factor_secret, digest_size=32, person=b"recovery").hexdigest()
