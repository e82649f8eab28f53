"""A tick: what an instrument was quoted at, and when."""

import msgspec

PLACES = 6


class Tick(msgspec.Struct, frozen=True):
    """Bid and ask in millionths: rupees for what is traded here, dollars or rupees a dollar for the rest."""

    instrument: str
    bid_e6: int
    ask_e6: int
    at_us: int
    moved_at_us: int
    """When bid or ask last changed."""
    pinned_until_us: int | None = None
    """Until when a rate of the desk holds against newer ones of the feed; None: not at all."""

    @property
    def holds_until_us(self) -> int:
        """The time from which it ages, and a newer tick of the feed replaces it."""
        pinned_us = self.pinned_until_us
        return self.at_us if pinned_us is None or pinned_us < self.at_us else pinned_us
