"""Whether a broker is in this store, or was moved to another one.

Whoever changes something of a broker asks in the same transaction, and the move waits for those that asked.
Bookings need not ask: they depend on the version of the catalogue, which the move raises.
"""

from bullion.faults import StoreUnavailable

from .engine import Transaction

MARK_STEP = 27
"""The schema step of the mark. Older code ignores it, so no older code may use a store of a moved broker."""


async def moved_to(transaction: Transaction, broker: str) -> str | None:
    """The address of the store that it was moved to. None: it is here, and stays so in this transaction."""
    row = await transaction.one("broker_place", broker)
    return None if row is None else row["moved_to"]


async def require_account_here(transaction: Transaction, account_id: int) -> None:
    """May raise StoreUnavailable, which a client takes as a reason to try again."""
    row = await transaction.one("broker_place_of_account", account_id)
    if row is not None and row["moved_to"] is not None:
        raise StoreUnavailable("the broker was moved to another store")
