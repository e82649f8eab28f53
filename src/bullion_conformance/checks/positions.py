"""GET /positions: what is open, against what may be."""

from decimal import Decimal
from typing import Any

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, Client, body_of, value_of, values_of
from bullion_conformance.context import Context
from bullion_conformance.samples import deals, gold_buy
from bullion_conformance.shapes import decimal
from bullion_conformance.verdict import expect

METALS = {"gold": "g", "silver": "kg"}
ROW = ("symbol_code", "metal", "buy", "sell", "net", "unit")


def amount(client: Client, metal: str, name: str) -> Decimal:
    return decimal(value_of(client.position(metal), name), name)


def _positions(c: Context) -> dict[str, Any]:
    return body_of(c.once(gold_buy).client.positions(), OK)


@check("positions.answers", "positions.metals")
def both_metals_are_there(c: Context) -> None:
    found = c.once(_positions)
    for metal in METALS:
        expect(isinstance(found.get(metal), dict), f"GET /positions has no entry for {metal}.")
        for name in ("net", "limit", "used", "free"):
            decimal(value_of(found[metal], name), name)


@check("positions.net", orders=2)
def net_follows_the_orders(c: Context) -> None:
    client = c.test()
    for side, sign in (("buy", 1), ("sell", -1)):
        before = amount(client, "gold", "net")
        client.placed(trade_type=side)
        moved = amount(client, "gold", "net") - before
        expect(moved == sign * c.gold.quantity, f"A {side} of {c.gold.quantity} moved `net` by {moved}.")


@check("positions.used", orders=1)
def used_is_net_without_its_sign(c: Context) -> None:
    client = c.test()
    for _ in range(2):
        for metal in METALS:
            entry = client.position(metal)
            net, used = decimal(value_of(entry, "net"), "net"), decimal(value_of(entry, "used"), "used")
            expect(used == abs(net), f"`net` of {metal} is {net} and `used` is {used}; expected {abs(net)}.")
        if client.nets:
            break
        client.placed(trade_type="sell")


@check("positions.free")
def free_is_what_is_left(c: Context) -> None:
    for metal in METALS:
        entry = c.once(_positions)[metal]
        limit, used, free = (decimal(value_of(entry, name), name) for name in ("limit", "used", "free"))
        expected = max(limit - used, Decimal(0))
        expect(
            free == expected,
            f"Of {metal}, limit {limit} less used {used} leaves {expected}; `free` is {free}.",
        )


@check("positions.free.never-negative", need=Need.DESK, orders=1)
def free_is_never_below_zero(c: Context) -> None:
    client = c.new_client(allocation={"gold": "10", "silver": "0"})
    client.placed(trade_type="buy", quantity=10)
    c.broker.change(client.account, allocation={"gold": "4"})
    free = amount(client, "gold", "free")
    expect(free == 0, f"With 10 g used of a limit of 4 g `free` is {free}; expected 0.")


@check("positions.unit")
def positions_have_units(c: Context) -> None:
    for metal, unit in METALS.items():
        found = value_of(c.once(_positions)[metal], "unit")
        expect(found == unit, f"`unit` of {metal} is {found!r}; expected {unit!r}.")


@check("positions.test.only-metals")
def nothing_else_in_test(c: Context) -> None:
    found = set(c.once(_positions))
    expect(
        found == set(METALS),
        f"The test path's positions have {', '.join(sorted(found))}; expected the two metals.",
    )


# --- Production -----------------------------------------------------------------------------------------


def _rows(client: Client) -> dict[str, dict[str, Any]]:
    found = values_of(body_of(client.positions(), OK), "symbols")
    codes = [value_of(row, "symbol_code") for row in found]
    expect(len(codes) == len(set(codes)), f"A symbol stands twice in `symbols`: {codes}.")
    return dict(zip(codes, found, strict=True))


@check("positions.symbols", need=Need.PRODUCTION, orders=3)
def a_row_for_each_open_symbol(c: Context) -> None:
    client = c.new_client("production")
    expect(not _rows(client), "An account without orders has rows in `symbols`.")
    client.placed(trade_type="buy")
    client.placed(trade_type="sell", symbol_code=c.silver.code, quantity=c.silver.quantity)
    found = set(_rows(client))
    expect(found == {c.gold.code, c.silver.code}, f"`symbols` has {sorted(found)}; open are gold and silver.")


@check("positions.symbols.fields", need=Need.PRODUCTION)
def rows_have_their_fields(c: Context) -> None:
    row = _rows(c.once(deals).client)[c.gold.code]
    for name in ROW:
        value_of(row, name)
    for name in ("buy", "sell", "net"):
        decimal(row[name], name)
    expect(row["metal"] == "gold", f"`metal` of a gold symbol is {row['metal']!r}.")
    expect(row["unit"] == "g", f"`unit` of a gold symbol is {row['unit']!r}.")


@check("positions.symbols.net", need=Need.PRODUCTION, orders=2)
def a_rows_net_is_bought_less_sold(c: Context) -> None:
    client = c.new_client("production")
    client.placed(trade_type="buy", quantity=5)
    client.placed(trade_type="sell", quantity=2)
    row = _rows(client)[c.gold.code]
    found = [decimal(row[name], name) for name in ("buy", "sell", "net")]
    expect(
        found == [Decimal(5), Decimal(2), Decimal(3)],
        f"After a buy of 5 and a sell of 2 the row has buy, sell, net {found}.",
    )


@check("positions.own-book", "allocation.test-apart", "allocation.real-apart", need=Need.PRODUCTION, orders=2)
def each_path_shows_its_own_book(c: Context) -> None:
    test = c.new_client()
    live = c.new_client("production", test.account)
    test.placed(trade_type="buy", quantity=5)
    real = amount(live, "gold", "net")
    expect(real == 0, f"A test order of 5 g moved the real position to {real}.")
    live.placed(trade_type="sell", quantity=2)
    books = (amount(test, "gold", "net"), amount(live, "gold", "net"))
    expect(
        books == (Decimal(5), Decimal(-2)),
        f"The test book is at {books[0]} and the real one at {books[1]}; expected 5 and -2.",
    )


@check("positions.same-allocation", need=Need.DESK)
def both_books_have_one_allocation(c: Context) -> None:
    test = c.new_client(allocation={"gold": "12", "silver": "3"})
    live = c.new_client("production", test.account)
    for metal in METALS:
        limits = (amount(test, metal, "limit"), amount(live, metal, "limit"))
        expect(
            limits[0] == limits[1],
            f"The limit of {metal} is {limits[0]} in test and {limits[1]} in production.",
        )
