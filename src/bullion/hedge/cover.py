"""A cover of a hedge book: a deal of the house in a contract, and its states."""

import msgspec

from bullion.metals.metal import Metal

from .contract import Contract

SUGGESTED, SENT, FILLED, PARTLY = "suggested", "sent", "filled", "partly"
REFUSED, DROPPED = "refused", "dropped"
STATES = (SUGGESTED, SENT, FILLED, PARTLY, REFUSED, DROPPED)
OPEN = "open"
"""In a list: those that are suggested or sent."""


class BookCover(msgspec.Struct, frozen=True):
    """A cover of a hedge book."""

    id: str
    broker: str
    metal: Metal
    contract: Contract
    """As it was when the cover was made."""
    side: str
    quantity_e8: int
    fine_mg: int
    rule: str
    """The rule that planned it, or `by_hand`."""
    made_by: str
    idempotency_key: str | None
    state: str
    """suggested, sent, filled, partly, refused or dropped."""
    created_at_us: int
    words: str | None = None
    """The venue's message, or the reason of a dealer."""
    finished_at_us: int | None = None
    sent_at_us: int | None = None
    sent_by: str | None = None
    """The user, or the rule, that sent it."""
    tries: int = 0
    """How many calls to the venue ended without a final answer."""
    execution_id: str | None = None
    reference_e6: int | None = None
    """The market's price when it was sent; None before."""
    dollar_e6: int | None = None
    """What a dollar cost then; 0 for a contract in rupees."""
    sent_to: str | None = None
    """The venue that a node sent it to, by its name in the settings."""
    claimed_until_us: int | None = None
    """Until when a node may be asking the venue for it; None if no node is."""
    settled_by: str | None = None
    """The dealer who settled it by hand, because the venue did not answer."""
