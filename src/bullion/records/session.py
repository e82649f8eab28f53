"""Sessions of the console, as the store keeps them."""

from dataclasses import dataclass
from enum import StrEnum

from .second_factor import FactorRule
from .token import Role, Token


@dataclass(frozen=True, slots=True)
class Session:
    session_hash: str
    user_id: str
    """See Actor.user_id."""
    broker: str
    role: Role
    """At log-in. The session ends when the token gets another role."""
    created_at_us: int
    used_at_us: int
    expires_at_us: int
    idle_us: int
    """It also ends when it was not used for so long."""
    first_token_hash: str | None = None
    """Of the first token, so that its sessions end when it is replaced. None for other users."""
    second_factor: bool = False
    """Whether the user has entered a code of the second factor in this session."""

    def is_over(self, now_us: int) -> bool:
        return now_us >= self.expires_at_us or now_us - self.used_at_us >= self.idle_us


class Stage(StrEnum):
    """What the user of a session has to do first."""

    OPEN = "open"
    """Nothing: the console is open."""
    CODE = "code"
    """Enter a code of the second factor."""
    ENROL = "enrol"
    """Set up a second factor."""


@dataclass(frozen=True, slots=True)
class SessionState:
    session: Session
    token: Token | None
    """The user's token as it is now. None for the first token, and for a token that cannot be read."""
    now_us: int
    """By the store's clock."""
    has_factor: bool = False
    """Whether the user has a second factor now."""
    rule: FactorRule = FactorRule.OFF
    """Who needs one at the session's broker now."""

    @property
    def stage(self) -> Stage:
        if self.has_factor:
            return Stage.OPEN if self.session.second_factor else Stage.CODE
        return Stage.ENROL if self.rule.requires(self.session.role) else Stage.OPEN
