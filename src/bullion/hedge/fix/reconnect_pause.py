"""How long a line waits before it connects again: longer after each failure, and spread by chance."""

import random

from .profile import Profile
from .session_effects import Close

_PAUSE_S, _PAUSE_S_MAX = 0.5, 30.0
_STEADY_US = 10_000_000
"""A line that was logged on for this long begins with the shortest pause again."""


class ReconnectPause:
    def __init__(self, profile: Profile, chance: random.Random | None = None) -> None:
        self._profile = profile
        self._chance = chance or random.Random()  # noqa: S311 - spreads reconnects, keeps no secret
        self._failures = 0

    def shorten(self) -> None:
        """The next pause is the shortest one."""
        self._failures = 0

    def after_s(self, close: Close, logged_on_us: int) -> float:
        """The pause after a connection that was logged on for so long; 0 if it never was."""
        self._failures = 0 if logged_on_us >= _STEADY_US else min(self._failures + 1, 10)
        pause_s = min(_PAUSE_S_MAX, _PAUSE_S * (1 << max(0, self._failures - 1)))
        pause_s *= 1 - self._chance.random() / 4
        if self._profile.is_rate_logout(close.reason):
            pause_s = max(pause_s, self._profile.rate_logout_s)
        return pause_s
