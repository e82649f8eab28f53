"""Sessions of the console, as the store keeps them."""

from dataclasses import dataclass

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

    def is_over(self, now_us: int) -> bool:
        return now_us >= self.expires_at_us or now_us - self.used_at_us >= self.idle_us


@dataclass(frozen=True, slots=True)
class SessionState:
    session: Session
    token: Token | None
    """The user's token as it is now. None for the first token, and for a token that cannot be read."""
    now_us: int
    """By the store's clock."""
