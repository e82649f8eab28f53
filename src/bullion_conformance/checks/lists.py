"""GET /orders: pages, totals, filters; and reading one order."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, Client, body_of, refused, value_of, values_of
from bullion_conformance.context import Context
from bullion_conformance.samples import deals, gold_buy, gold_sell, silver_buy, silver_sell, waiting
from bullion_conformance.shapes import STATUSES, instant, orders_in, whole
from bullion_conformance.verdict import NotChecked, expect

PAGE = 50


def _shelf(c: Context) -> Client:
    """An account with a buy and a sell of each metal."""
    for make in (gold_buy, gold_sell, silver_buy, silver_sell):
        c.once(make)
    return c.once(gold_buy).client


@check("list.answers", "list.items")
def a_list_has_items(c: Context) -> None:
    items = values_of(body_of(_shelf(c).orders(limit=3), OK), "items")
    expect(len(list(orders_in(items))) == len(items), "`items` holds something that is no order.")


@check("list.newest-first")
def newest_first(c: Context) -> None:
    _newest_first(_shelf(c), (c.once(gold_buy).order["id"], c.once(silver_sell).order["id"]))


@check("list.production.newest-first", need=Need.PRODUCTION)
def newest_first_in_production(c: Context) -> None:
    found = c.once(deals)
    _newest_first(found.client, (found.open["id"], found.web["id"]))


def _newest_first(client: Client, two: tuple[str, str]) -> None:
    orders = client.everything()
    times = [instant(order["created_at"], "created_at") for order in orders if order.get("created_at")]
    expect(times == sorted(times, reverse=True), "The list is not ordered by `created_at`, newest first.")
    ids = [order["id"] for order in orders]
    older, newer = (ids.index(each) if each in ids else -1 for each in two)
    expect(-1 not in (older, newer), "An order that was just placed is not in the list.")
    expect(newer < older, "An older order stands before a newer one.")


@check("list.total")
def the_total_is_not_the_page(c: Context) -> None:
    _total(_shelf(c), 4)


@check("list.production.total", need=Need.PRODUCTION)
def the_total_in_production(c: Context) -> None:
    _total(c.once(deals).client, 4)


def _total(client: Client, at_least: int) -> None:
    totals = {whole(value_of(client.listed(limit=limit), "total"), "total") for limit in (1, 2, 200)}
    expect(len(totals) == 1, f"`total` depends on the page: {sorted(totals)} for limits of 1, 2 and 200.")
    (total,) = totals
    expect(total >= at_least, f"`total` is {total}; the account has at least {at_least} orders.")


@check("list.limit.default")
def fifty_without_a_limit(c: Context) -> None:
    client = c.test()
    if c.setup.broker is not None:
        # A new key for each ten, so that none of them comes near its budget.
        for _ in range(6):
            other = c.new_client("test", client.account)
            for _ in range(9):
                other.placed()
    page = client.listed()
    if page["total"] <= PAGE:
        raise NotChecked(f"the account has {page['total']} orders, and a page without `limit` holds {PAGE}")
    found = len(page["items"])
    expect(found == PAGE, f"A page without `limit` holds {found} of {page['total']} orders; expected {PAGE}.")


@check("list.limit.range")
def a_limit_is_1_to_200(c: Context) -> None:
    client = c.test()
    for limit in (1, 200):
        body_of(client.orders(limit=limit), OK)
    for wrong in ("0", "201", "-1", "many"):
        _invalid(client, limit=wrong)


def _invalid(client: Client, **parameters: Any) -> None:
    detail = refused(client.orders(**parameters), "invalid_request")
    expect(bool(detail.get("errors")), "invalid_request came without `detail.errors`.")


@check("list.limit.kept")
def a_page_keeps_its_limit(c: Context) -> None:
    client = _shelf(c)
    for limit in (1, 2):
        found = len(client.listed(limit=limit)["items"])
        expect(found == limit, f"A page with limit={limit} holds {found} orders.")


@check("list.offset.range")
def an_offset_is_not_negative(c: Context) -> None:
    client = c.test()
    body_of(client.orders(offset=0), OK)
    for wrong in ("-1", "some"):
        _invalid(client, offset=wrong)


@check("list.offset.skips")
def an_offset_skips(c: Context) -> None:
    client = _shelf(c)
    whole_page = [order["id"] for order in client.listed(limit=4)["items"]]
    parts = [order["id"] for offset in (0, 2) for order in client.listed(limit=2, offset=offset)["items"]]
    expect(parts == whole_page, "Two pages of 2 are not the page of 4: `offset` skips something else.")


def _filtered(name: str, values: Callable[[Context], tuple[str, ...]]) -> Callable[[Context], None]:
    def keeps_what_matches(c: Context) -> None:
        client = _shelf(c)
        everything = client.everything()
        for value in values(c):
            page = client.listed(limit=200, **{name: value})
            others = {order.get(name) for order in page["items"]} - {value}
            expect(not others, f"{name}={value} lists orders with {name} {', '.join(map(repr, others))}.")
            if len(everything) < 200:
                there = sum(order.get(name) == value for order in everything)
                found = (len(page["items"]), page["total"])
                told = f"{name}={value}: {there} match; listed are {found[0]}, and `total` is {found[1]}."
                expect(found == (there, there), told)

    return keeps_what_matches


check("list.symbol_code")(_filtered("symbol_code", lambda c: (c.gold.code, c.silver.code)))
check("list.trade_type")(_filtered("trade_type", lambda _: ("buy", "sell")))


@check("list.symbol_code.length")
def a_symbol_filter_has_32_characters(c: Context) -> None:
    client = c.test()
    body_of(client.orders(symbol_code="X" * 32), OK)
    _invalid(client, symbol_code="X" * 33)


@check("list.trade_type.length")
def a_side_filter_has_8_characters(c: Context) -> None:
    client = c.test()
    body_of(client.orders(trade_type="x" * 8), OK)
    _invalid(client, trade_type="x" * 9)


@check("list.since")
def since_keeps_what_is_newer(c: Context) -> None:
    client = _shelf(c)
    order = c.once(gold_buy).order
    made = instant(value_of(order, "created_at"), "created_at")
    for since, there in ((made - timedelta(seconds=1), True), (made + timedelta(days=1), False)):
        page = client.listed(limit=200, since=since.isoformat())
        told = f"With since={since.isoformat()} an order made at {made.isoformat()}"
        listed = order["id"] in {each["id"] for each in page["items"]}
        expect(listed == there, f"{told} is {'listed' if listed else 'not listed'}.")
        expect(there or page["total"] == 0, f"{told} is counted in `total`.")


@check("list.since.unreadable")
def since_has_to_be_a_time(c: Context) -> None:
    _invalid(c.test(), since="yesterday")


# --- By status ------------------------------------------------------------------------------------------


def _by_status(c: Context) -> dict[str, str]:
    """An order of the account for each status that it has."""
    found = c.once(deals)
    return {
        "open": found.open["id"],
        "closing": found.closing["id"],
        "closed": found.closed["id"],
        "deleted": found.deleted["id"],
        "rejected": str(found.rejection.detail.get("order_id")),
    }


@check("list.status.each", need=Need.PRODUCTION)
def each_status_by_itself(c: Context) -> None:
    client = c.once(deals).client
    for status, order_id in _by_status(c).items():
        page = client.listed(limit=200, status=status)
        shown = {order["status"] for order in page["items"]}
        expect(
            shown == {status},
            f"status={status} lists orders that are {', '.join(sorted(shown)) or 'not there'}.",
        )
        expect(order_id in {order["id"] for order in page["items"]}, f"status={status} leaves out an order.")
        expect(
            page["total"] == len(page["items"]),
            f"status={status} lists {len(page['items'])}, total {page['total']}.",
        )
    waited = {order["status"] for order in c.once(waiting).listed_pending}
    expect(
        waited == {"pending"},
        f"status=pending lists orders that are {', '.join(sorted(waited)) or 'not there'}.",
    )


@check("list.status.all", need=Need.PRODUCTION)
def all_leaves_out_the_deleted(c: Context) -> None:
    _all_but_deleted(c, status="all")


@check("list.status.default", need=Need.PRODUCTION)
def all_is_the_default(c: Context) -> None:
    _all_but_deleted(c)


def _all_but_deleted(c: Context, **parameters: str) -> None:
    ids = {order["id"] for order in c.once(deals).client.everything(**parameters)}
    for status, order_id in _by_status(c).items():
        listed = order_id in ids
        expect(
            listed == (status != "deleted"), f"An order that is {status} is {'' if listed else 'not '}listed."
        )


@check("list.status.deleted", need=Need.PRODUCTION)
def deleted_ones_alone(c: Context) -> None:
    found = c.once(deals)
    ids = [order["id"] for order in found.client.everything(status="deleted")]
    expect(ids == [found.deleted["id"]], f"status=deleted lists {len(ids)} orders; one was deleted.")


@check("list.status.unknown", need=Need.LIVE_KEY)
def another_status_is_refused(c: Context) -> None:
    client = c.live()
    for status in (*STATUSES, "all"):
        body_of(client.orders(status=status), OK)
    _invalid(client, status="filled")


# --- One order ------------------------------------------------------------------------------------------


@check("read.unknown")
def an_unknown_id(c: Context) -> None:
    refused(c.test().order(str(uuid4())), "order_not_found")


@check("read.other-account", need=Need.DESK, orders=1)
def an_order_of_somebody_else(c: Context) -> None:
    order = c.new_client().placed()
    refused(c.new_client().order(order["id"]), "order_not_found")
