"""GET /positions, and the weight allocation."""

from decimal import Decimal
from typing import Any

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, Client, body_of, refused
from bullion_conformance.context import Context
from bullion_conformance.samples import deals, gold_buy
from bullion_conformance.shapes import decimal_of, value_of, values_of
from bullion_conformance.verdict import expect, expect_equal

METALS = {"gold": "g", "silver": "kg"}


def _amount(client: Client, metal: str, name: str) -> Decimal:
    return decimal_of(client.position(metal), name)


def _positions(c: Context) -> dict[str, Any]:
    return body_of(c.once(gold_buy).client.positions(), OK)


@check("positions.answers", "positions.metals")
def both_metals_are_present(c: Context) -> None:
    found = c.once(_positions)
    for metal in METALS:
        expect(isinstance(found.get(metal), dict), f"GET /positions has no entry for {metal}.")
        for name in ("net", "limit", "used", "free"):
            decimal_of(found[metal], name)


@check("positions.net", orders=2)
def net_follows_the_orders(c: Context) -> None:
    client = c.test()
    for side, sign in (("buy", 1), ("sell", -1)):
        before = _amount(client, "gold", "net")
        client.placed(trade_type=side)
        moved = _amount(client, "gold", "net") - before
        expect(moved == sign * c.gold.quantity, f"A {side} of {c.gold.quantity} moved `net` by {moved}.")


@check("positions.used", orders=1)
def used_is_the_absolute_net(c: Context) -> None:
    client = c.test()
    for _ in range(2):
        for metal in METALS:
            entry = client.position(metal)
            net = decimal_of(entry, "net")
            expect_equal(decimal_of(entry, "used"), abs(net), f"With `net` {net}, `used` of {metal}")
        if client.nets:
            break
        client.placed(trade_type="sell")


@check("positions.free")
def free_is_limit_less_used(c: Context) -> None:
    for metal in METALS:
        limit, used, free = (
            decimal_of(c.once(_positions)[metal], name) for name in ("limit", "used", "free")
        )
        what = f"With a limit of {limit} and {used} used, `free` of {metal}"
        expect_equal(free, max(limit - used, Decimal(0)), what)


@check("positions.free.never-negative", need=Need.DESK, orders=1)
def free_is_never_negative(c: Context) -> None:
    client = c.new_client(allocation={"gold": "10", "silver": "0"})
    client.placed(trade_type="buy", quantity=10)
    c.broker.change(client.account, allocation={"gold": "4"})
    expect_equal(_amount(client, "gold", "free"), Decimal(0), "With 10 g used of a limit of 4 g, `free`")


@check("positions.unit")
def positions_have_units(c: Context) -> None:
    for metal, unit in METALS.items():
        expect_equal(value_of(c.once(_positions)[metal], "unit"), unit, f"`unit` of {metal}")


@check("positions.test.only-metals")
def only_the_metals_in_test(c: Context) -> None:
    expect_equal(sorted(c.once(_positions)), sorted(METALS), "The list of fields on the test path")


# --- Production -----------------------------------------------------------------------------------------


def _rows(client: Client) -> dict[str, dict[str, Any]]:
    found = values_of(body_of(client.positions(), OK), "symbols")
    codes = [value_of(row, "symbol_code") for row in found]
    expect(len(codes) == len(set(codes)), f"A symbol appears twice in `symbols`: {codes}.")
    return dict(zip(codes, found, strict=True))


@check("positions.symbols", need=Need.PRODUCTION, orders=3)
def a_row_for_each_open_symbol(c: Context) -> None:
    client = c.new_client("production")
    expect(not _rows(client), "An account without orders has rows in `symbols`.")
    client.placed(trade_type="buy")
    client.placed(trade_type="sell", symbol_code=c.silver.code, quantity=c.silver.quantity)
    expect_equal(sorted(_rows(client)), sorted((c.gold.code, c.silver.code)), "The list of open symbols")


@check("positions.symbols.fields", need=Need.PRODUCTION)
def rows_have_their_fields(c: Context) -> None:
    row = _rows(c.once(deals).client)[c.gold.code]
    for name in ("buy", "sell", "net"):
        decimal_of(row, name)
    for name, expected in (("metal", "gold"), ("unit", "g")):
        expect_equal(value_of(row, name), expected, f"`{name}` of a gold symbol")


@check("positions.symbols.net", need=Need.PRODUCTION, orders=2)
def net_of_a_row_is_bought_less_sold(c: Context) -> None:
    client = c.new_client("production")
    client.placed(trade_type="buy", quantity=5)
    client.placed(trade_type="sell", quantity=2)
    row = _rows(client)[c.gold.code]
    for name, expected in (("buy", 5), ("sell", 2), ("net", 3)):
        expect_equal(decimal_of(row, name), Decimal(expected), f"After a buy of 5 and a sell of 2, `{name}`")


@check("positions.own-book", "allocation.test-apart", "allocation.real-apart", need=Need.PRODUCTION, orders=2)
def each_path_has_its_own_book(c: Context) -> None:
    test = c.new_client()
    live = c.new_client("production", test.account)
    test.placed(trade_type="buy", quantity=5)
    expect_equal(_amount(live, "gold", "net"), Decimal(0), "After a test order, the real position")
    live.placed(trade_type="sell", quantity=2)
    expect_equal(_amount(test, "gold", "net"), Decimal(5), "After a real order, the test position")
    expect_equal(_amount(live, "gold", "net"), Decimal(-2), "After a sell of 2, the real position")


@check("positions.same-allocation", need=Need.DESK)
def both_books_have_one_allocation(c: Context) -> None:
    test = c.new_client(allocation={"gold": "12", "silver": "3"})
    live = c.new_client("production", test.account)
    for metal in METALS:
        what = f"The production limit of {metal}"
        expect_equal(_amount(live, metal, "limit"), _amount(test, metal, "limit"), what)


# --- The allocation -------------------------------------------------------------------------------------


def _allocated(c: Context, gold: str, silver: str = "0") -> Client:
    return c.new_client(allocation={"gold": gold, "silver": silver})


@check("overview.allocation", "positions.limit", need=Need.DESK)
def the_operator_sets_the_allocation(c: Context) -> None:
    client = _allocated(c, "7", "3.5")
    for gold in ("7", "9"):
        c.broker.change(client.account, allocation={"gold": gold})
        for metal, limit in (("gold", gold), ("silver", "3.5")):
            expect_equal(_amount(client, metal, "limit"), Decimal(limit), f"The limit of {metal}")


@check("allocation.weight", need=Need.DESK, orders=2)
def an_order_of_the_whole_allocation(c: Context) -> None:
    for symbol in (c.gold, c.silver):
        client = c.new_client(allocation={symbol.metal: "500000"})
        client.placed(trade_type="buy", symbol_code=symbol.code, quantity=500_000)
        free = _amount(client, symbol.metal, "free")
        expect_equal(free, Decimal(0), "After a buy of the whole allocation, `free`")


@check("allocation.nets", need=Need.DESK, orders=3)
def buys_and_sells_net_off(c: Context) -> None:
    client = _allocated(c, "10")
    client.placed(trade_type="buy", quantity=10)
    client.placed(trade_type="sell", quantity=20)
    expect_equal(_amount(client, "gold", "net"), Decimal(-10), "After a buy of 10 and a sell of 20, `net`")


def _is_limited(client: Client, side: str) -> None:
    client.placed(trade_type=side, quantity=9)
    refused(client.place(trade_type=side, quantity=2), "limit_exceeded")
    client.placed(trade_type=side, quantity=1)
    what = f"After a {side} of 9, one of 2 that was refused, and one of 1, `used`"
    expect_equal(_amount(client, "gold", "used"), Decimal(10), what)


check("allocation.past-limit", need=Need.DESK, orders=3)(lambda c: _is_limited(_allocated(c, "10"), "buy"))
check("allocation.past-limit.short", need=Need.DESK, orders=3)(
    lambda c: _is_limited(_allocated(c, "10"), "sell")
)


@check("allocation.reducing", need=Need.DESK, orders=4)
def reducing_is_always_allowed(c: Context) -> None:
    for side, back in (("buy", "sell"), ("sell", "buy")):
        client = _allocated(c, "10")
        client.placed(trade_type=side, quantity=10)
        c.broker.change(client.account, allocation={"gold": "2"})
        client.placed(trade_type=back, quantity=1)
        expect_equal(_amount(client, "gold", "used"), Decimal(9), "After a reduction from 10 by 1, `used`")


@check("bullion.reducing-across", need=Need.DESK, orders=3)
def a_reduction_may_cross_zero(c: Context) -> None:
    client = _allocated(c, "10")
    client.placed(trade_type="buy", quantity=10)
    c.broker.change(client.account, allocation={"gold": "2"})
    refused(client.place(trade_type="sell", quantity=20), "limit_exceeded")
    client.placed(trade_type="sell", quantity=19)


@check("error.limit-message", need=Need.DESK, orders=2)
def the_message_names_free_weight_and_limit(c: Context) -> None:
    client = _allocated(c, "12", "3")
    client.placed(trade_type="buy", quantity=5)
    for symbol, free, limit in ((c.gold, "7", "12"), (c.silver, "3", "3")):
        answer = client.place(symbol_code=symbol.code, trade_type="buy", quantity=20)
        message = str(refused(answer, "limit_exceeded").get("message"))
        for part in (symbol.metal, free, limit, symbol.unit):
            expect(part in message, f"The message does not name {part}: {message!r}")
