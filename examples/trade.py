"""Buy gold once, whatever happens on the way, and tell what came of it.

    API=https://trading.example KEY=key_test.… python trade.py [grams]

Run again after a crash, it first finishes what the last run has left open.
"""

import os
import sys
from decimal import Decimal
from pathlib import Path

from bullion_client import (
    BullionError,
    Client,
    Journal,
    MarketRefused,
    NotPlaced,
    Order,
    OrderRejected,
    OrderStatus,
    OutcomeUnknown,
    PriceMoved,
    QuantityRefused,
)


def finish(client: Client, journal: Journal) -> None:
    """Find out about orders of an earlier run. None of them is placed a second time."""
    for intent in journal.unsettled():
        order = client.resume(intent)
        print("left open by an earlier run:", order.id, order.status)


def buy(client: Client, symbol_code: str, wish: Decimal) -> Order:
    """Buy up to the wished weight, in the sizes that the symbol has, near the price that is quoted now."""
    (symbol,) = (each for each in client.symbols() if each.symbol_code == symbol_code)
    quote = client.quote(symbol_code)
    if not quote.tradable or quote.buy is None:
        raise SystemExit(f"Not now: {quote.reason}")
    weight = min(wish, symbol.maximum, client.positions().gold.free) // symbol.step * symbol.step
    if weight < symbol.minimum:
        raise SystemExit(f"{wish} {symbol.unit} is less than can be bought.")
    return client.wait(client.buy(symbol_code, weight, expected_price=quote.buy))


def main(wish: Decimal) -> None:
    journal = Journal(Path("trade.journal"))
    with Client(os.environ["API"], os.environ["KEY"], journal=journal) as client:
        try:
            finish(client, journal)
            order = buy(client, "GOLD", wish)
        except (PriceMoved, OrderRejected, MarketRefused, QuantityRefused) as refusal:
            raise SystemExit(f"Nothing was booked: {refusal}") from refusal
        except NotPlaced as error:
            raise SystemExit(f"Nothing was booked, try again later: {error}") from error
        except OutcomeUnknown as error:
            raise SystemExit(f"It may be booked or not. Run me again, and I find out: {error}") from error
        except BullionError as error:
            raise SystemExit(f"It did not work: {error}") from error
    if order.status == OrderStatus.PENDING:
        print("Taken, but not confirmed yet. Ask later for", order.id)
    else:
        print(order.status, order.quantity, order.unit, "at", order.price)


if __name__ == "__main__":
    main(Decimal(sys.argv[1]) if len(sys.argv) > 1 else Decimal(5))
