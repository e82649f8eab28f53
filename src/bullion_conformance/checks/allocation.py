"""The weight allocation, with accounts that have just so much of it."""

from bullion_conformance.check import Need, check
from bullion_conformance.checks.positions import amount
from bullion_conformance.client import Client, refused
from bullion_conformance.context import Context
from bullion_conformance.verdict import expect


def _with(c: Context, gold: str, silver: str = "0") -> Client:
    return c.new_client(allocation={"gold": gold, "silver": silver})


@check("allocation.weight", need=Need.DESK, orders=2)
def an_order_as_large_as_the_allocation(c: Context) -> None:
    for symbol in (c.gold, c.silver):
        client = c.new_client(allocation={symbol.metal: "500000"})
        client.placed(trade_type="buy", symbol_code=symbol.code, quantity=500_000)
        free = amount(client, symbol.metal, "free")
        expect(free == 0, f"The whole allocation was bought; `free` is {free}.")


@check("allocation.nets", need=Need.DESK, orders=3)
def buys_and_sells_net_off(c: Context) -> None:
    client = _with(c, "10")
    client.placed(trade_type="buy", quantity=10)
    client.placed(trade_type="sell", quantity=20)
    net = amount(client, "gold", "net")
    expect(net == -10, f"A buy of 10 and a sell of 20 come to `net` {net}; expected -10.")


@check("allocation.past-limit", need=Need.DESK, orders=3)
def not_past_the_limit(c: Context) -> None:
    _not_past(_with(c, "10"), "buy")


@check("allocation.past-limit.short", need=Need.DESK, orders=3)
def not_past_the_limit_by_selling(c: Context) -> None:
    _not_past(_with(c, "10"), "sell")


def _not_past(client: Client, side: str) -> None:
    client.placed(trade_type=side, quantity=9)
    refused(client.place(trade_type=side, quantity=2), "limit_exceeded")
    client.placed(trade_type=side, quantity=1)
    used = amount(client, "gold", "used")
    expect(used == 10, f"After a {side} of 9, one of 2 that was refused, and one of 1, `used` is {used}.")


@check("allocation.reducing", need=Need.DESK, orders=4)
def reducing_is_always_allowed(c: Context) -> None:
    for side, back in (("buy", "sell"), ("sell", "buy")):
        client = _with(c, "10")
        client.placed(trade_type=side, quantity=10)
        c.broker.change(client.account, allocation={"gold": "2"})
        client.placed(trade_type=back, quantity=1)
        used = amount(client, "gold", "used")
        expect(used == 9, f"A reduction from 10 by 1 left `used` at {used}.")


@check("error.limit-message", need=Need.DESK, orders=2)
def the_message_names_the_room(c: Context) -> None:
    client = _with(c, "12", "3")
    client.placed(trade_type="buy", quantity=5)
    for symbol, free, limit in ((c.gold, "7", "12"), (c.silver, "3", "3")):
        detail = refused(
            client.place(symbol_code=symbol.code, trade_type="buy", quantity=20), "limit_exceeded"
        )
        message = str(detail.get("message"))
        for part in (symbol.metal, free, limit, symbol.unit):
            expect(part in message, f"The message does not name {part}: {message!r}")
