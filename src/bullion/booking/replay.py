"""The answer to a key that is settled: its outcome again, or a refusal to use it for something else."""

from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import plain
from bullion.orders.order import Order, PriceMove
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Refusal
from bullion.refusals.catalogue import IDEMPOTENCY_KEY_REUSED, PRICE_MOVED

from .placing import Booked, Outcome, Settled


def replay(settled: Settled, asked: PlaceOrder, request_id: str) -> Outcome:
    if settled.asked != asked:
        return Refusal(IDEMPOTENCY_KEY_REUSED, compared={"settled_by": settled.request_id})
    # An order that this very call recorded, found again after its answer was lost, is not a replay.
    replayed = settled.request_id != request_id
    match settled:
        case Order():
            return Booked(settled, replayed)
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
