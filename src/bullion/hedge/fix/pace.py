"""A token bucket in whole numbers: how many messages may be sent to a venue, and when the next one may."""

import msgspec

_US_PER_S = 1_000_000


class Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At most `count` messages in any `per_s` seconds, on average; `burst` of them at once."""

    count: int
    per_s: int = 1
    burst: int = 0
    """0: as many as `count`."""


class Pace:
    """Starts full. A `count` of 0 sets no limit."""

    def __init__(self, rate: Rate, now_us: int) -> None:
        self._rate = rate
        self._cost = rate.per_s * _US_PER_S
        """Each microsecond adds `count`, so that nothing is ever rounded."""
        self._full = self._cost * (rate.burst or rate.count)
        self._level = self._full
        self._at_us = now_us

    def wait_us(self, now_us: int) -> int:
        """How long until a message may be sent; 0 if one may be sent now."""
        if not self._rate.count:
            return 0
        if now_us > self._at_us:
            self._level = min(self._full, self._level + (now_us - self._at_us) * self._rate.count)
        self._at_us = now_us  # If the clock was put back, the time from then on counts.
        return max(0, -((self._level - self._cost) // self._rate.count))

    def take(self, now_us: int) -> int:
        """Count a message, if it may be sent now. Otherwise how long to wait before the next call."""
        wait_us = self.wait_us(now_us)
        if not wait_us and self._rate.count:
            self._level -= self._cost
        return wait_us
