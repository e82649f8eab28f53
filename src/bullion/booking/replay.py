"""Replays the outcome of a settled idempotency key, or refuses its reuse for another order."""

from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import plain
from bullion.orders.order import Order, PriceMove
from bullion.orders.verdict import Priced, Refusal
from bullion.refusals.catalogue import IDEMPOTENCY_KEY_REUSED, PRICE_MOVED

from .attempt import Booked, Outcome, QueueEntry, Settled


def replay(settled: Settled, entry: QueueEntry) -> Outcome:
    """While the environment is closed, only the exact replay of an order is answered."""
    outcome, verdict = _outcome(settled, entry), entry.verdict
    if isinstance(verdict, Refusal) and verdict.closed and not isinstance(outcome, Booked):
        return verdict
    return outcome


def _outcome(settled: Settled, entry: QueueEntry) -> Outcome:
    attempt, verdict = entry.attempt, entry.verdict
    if settled.asked != attempt.asked:
        return Refusal(IDEMPOTENCY_KEY_REUSED, compared={"settled_by": settled.request_id})
    # After a lost response, this call may find the order that it recorded itself: that is not a replay.
    replayed = settled.request_id != attempt.request_id
    match settled:
        case Order():
            if replayed or not isinstance(verdict, Priced):
                return Booked(settled, replayed)
            return Booked(
                settled,
                instrument=verdict.instrument,
                fineness_e4=verdict.fineness_e4,
                in_book=verdict.in_book,
            )
        case PriceMove():
            return price_moved(settled, replayed=replayed)


def price_moved(move: PriceMove, *, replayed: bool = False) -> Refusal:
    price = rupees_text(move.price_paise)
    percent = plain(move.tolerance_percent_e4, 4).rstrip("0").rstrip(".")
    return Refusal(
        PRICE_MOVED,
        f"The price is {price}, more than {percent} percent from the expected {move.asked.expected_price}. "
        "Nothing was booked; a new order needs a new Idempotency-Key.",
        {"price": price, "expected_price": move.asked.expected_price, "tolerance_percent": percent},
        replayed,
    )
