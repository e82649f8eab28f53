"""GET /orders: pages, totals and filters; and reading one order."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, Client, body_of, error_places, invalid, refused
from bullion_conformance.context import Context
from bullion_conformance.samples import (
    deals,
    gold_buy,
    gold_sell,
    silver_buy,
    silver_sell,
    waiting,
    whole_account,
)
from bullion_conformance.shapes import STATUSES, instant, orders_in, time_of, value_of, values_of, whole
from bullion_conformance.verdict import NotChecked, expect, expect_equal

PAGE = 50


def _shelf(c: Context) -> Client:
    """An account with a buy and a sell of each metal."""
    for make in (gold_buy, gold_sell, silver_buy, silver_sell):
        c.once(make)
    return c.once(gold_buy).client


@check("list.answers", "list.items")
def a_list_has_items(c: Context) -> None:
    items = values_of(body_of(_shelf(c).orders(limit=3), OK), "items")
    expect(len(list(orders_in(items))) == len(items), "`items` holds something that is not an order.")


def _is_newest_first(client: Client, older_id: str, newer_id: str) -> None:
    orders = client.everything()
    times = [instant(order["created_at"], "created_at") for order in orders if order.get("created_at")]
    expect(times == sorted(times, reverse=True), "The list is not ordered by `created_at`, newest first.")
    ids = [order["id"] for order in orders]
    older, newer = (ids.index(each) if each in ids else -1 for each in (older_id, newer_id))
    expect(-1 not in (older, newer), "An order that was just placed is not in the list.")
    expect(newer < older, "An older order comes before a newer one.")


@check("list.newest-first")
def newest_first(c: Context) -> None:
    _is_newest_first(_shelf(c), c.once(gold_buy).order["id"], c.once(silver_sell).order["id"])


@check("list.production.newest-first", need=Need.PRODUCTION)
def newest_first_in_production(c: Context) -> None:
    found = c.once(deals)
    _is_newest_first(found.client, found.open["id"], found.web["id"])


def _counts_all(client: Client) -> None:
    totals = {whole(value_of(client.listed(limit=limit), "total"), "total") for limit in (1, 2, 200)}
    expect(len(totals) == 1, f"`total` depends on the page: {sorted(totals)} for limits of 1, 2 and 200.")
    expect(min(totals) >= 4, f"`total` is {min(totals)}; the account has at least 4 orders.")


check("list.total")(lambda c: _counts_all(_shelf(c)))
check("list.production.total", need=Need.PRODUCTION)(lambda c: _counts_all(c.once(deals).client))


@check("list.limit.default")
def fifty_without_a_limit(c: Context) -> None:
    client = c.test()
    if c.setup.broker is not None:
        # A new key for each nine orders, so that no key comes near its budget.
        for _ in range(6):
            other = c.new_client("test", client.account)
            for _ in range(9):
                other.placed()
    page = client.listed()
    if page["total"] <= PAGE:
        raise NotChecked(f"the account has {page['total']} orders, and a page without `limit` holds {PAGE}")
    expect_equal(len(page["items"]), PAGE, "The number of orders on a page without `limit`")


def _is_bounded(name: str, valid: tuple[object, ...], wrong: tuple[object, ...], c: Context) -> None:
    client = c.test()
    for value in valid:
        body_of(client.orders(**{name: value}), OK)
    for value in wrong:
        invalid(client.orders(**{name: value}))


for _id, _name, _valid, _wrong in (
    ("list.limit.range", "limit", (1, 200), ("0", "201", "-1", "many")),
    ("list.offset.range", "offset", (0,), ("-1", "some")),
    ("list.symbol_code.length", "symbol_code", ("X" * 32,), ("X" * 33,)),
    ("list.trade_type.length", "trade_type", ("x" * 8,), ("x" * 9,)),
    ("list.since.unreadable", "since", (), ("yesterday",)),
):
    check(_id)(partial(_is_bounded, _name, _valid, _wrong))


@check("list.limit.kept")
def a_page_keeps_its_limit(c: Context) -> None:
    for limit in (1, 2):
        page = _shelf(c).listed(limit=limit)
        expect_equal(len(page["items"]), limit, f"The number of orders on a page with limit={limit}")


@check("list.offset.skips")
def an_offset_skips(c: Context) -> None:
    client = _shelf(c)
    whole_page = [order["id"] for order in client.listed(limit=4)["items"]]
    parts = [order["id"] for offset in (0, 2) for order in client.listed(limit=2, offset=offset)["items"]]
    expect(parts == whole_page, "Two pages of 2 are not the page of 4: `offset` skips something else.")


def _is_filtered(name: str, values: Callable[[Context], tuple[str, ...]], c: Context) -> None:
    client = _shelf(c)
    everything = client.everything()
    for value in values(c):
        page = client.listed(limit=200, **{name: value})
        others = {order.get(name) for order in page["items"]} - {value}
        expect(not others, f"{name}={value} lists orders with {name} {', '.join(map(repr, others))}.")
        if len(everything) < 200:
            matching = sum(order.get(name) == value for order in everything)
            found = (len(page["items"]), page["total"])
            expect_equal(found, (matching, matching), f"With {name}={value}, the number of items and `total`")


check("list.symbol_code")(partial(_is_filtered, "symbol_code", lambda c: (c.gold.code, c.silver.code)))
check("list.trade_type")(partial(_is_filtered, "trade_type", lambda _: ("buy", "sell")))


@check("list.since")
def since_keeps_what_is_newer(c: Context) -> None:
    client, order = _shelf(c), c.once(gold_buy).order
    made = time_of(order, "created_at")
    for since, expected in ((made - timedelta(seconds=1), True), (made + timedelta(days=1), False)):
        page = client.listed(limit=200, since=since.isoformat())
        listed = order["id"] in {each["id"] for each in page["items"]}
        what = f"With since={since.isoformat()}, whether an order of {made.isoformat()} is listed"
        expect_equal(listed, expected, what)
        expect(expected or page["total"] == 0, f"`total` with since={since.isoformat()} is {page['total']}.")


@check("conventions.since-utc")
def since_without_a_zone_is_utc(c: Context) -> None:
    found = c.once(gold_buy)
    made = time_of(found.order, "created_at")
    for shift, expected in ((timedelta(seconds=-1), True), (timedelta(seconds=1), False)):
        since = (made + shift).replace(tzinfo=None).isoformat()
        listed = {order["id"] for order in found.client.everything(since=since)}
        what = f"With since={since}, whether an order of {made.isoformat()} is listed"
        expect_equal(found.order["id"] in listed, expected, what)


@check("bullion.since-forms", need=Need.DESK)
def forms_of_since(c: Context) -> None:
    client = c.once(whole_account)
    newest, *_ = client.everything()
    made = instant(newest["created_at"], "created_at")
    for since, total in (
        (newest["created_at"], 1),
        (f"{made.date()}", 3),
        (f"{made.date() + timedelta(days=1)}", 0),
        (made.isoformat().replace("+00:00", "Z"), 1),
    ):
        expect_equal(client.listed(since=since)["total"], total, f"`total` with since={since}")


@check("bullion.empty-parameters")
def empty_or_repeated_parameters(c: Context) -> None:
    client = c.test()
    for name, value in (("limit", "1"), ("offset", "0"), ("since", "2026-01-01")):
        for wrong in ("", [value, value]):
            places = error_places(client.orders(**{name: wrong}))
            expect_equal(places, [["query", name]], f"The place of a wrong {name}")


@check("bullion.ignored-parameters")
def ignored_parameters(c: Context) -> None:
    client = c.once(gold_buy).client
    expected = client.listed(limit=3)["items"]
    for parameters in ({"status": "nonsense"}, {"colour": "red"}):
        found = client.listed(limit=3, **parameters)["items"]
        expect(found == expected, f"{parameters} changed the list.")


@check("bullion.no-match")
def nothing_matches(c: Context) -> None:
    client = c.once(gold_buy).client
    for parameters in ({"symbol_code": "NOWHERE"}, {"trade_type": "hold"}):
        page = client.listed(**parameters)
        expect_equal((page["items"], page["total"]), ([], 0), f"The list with {parameters}")


@check("bullion.client-order-id-filter", need=Need.DESK)
def a_filter_by_reference(c: Context) -> None:
    page = c.once(whole_account).listed(client_order_id="order-1")
    found = [order["client_order_id"] for order in page["items"]]
    expect_equal((found, page["total"]), (["order-1"], 1), "The list with client_order_id=order-1")


# --- By status ------------------------------------------------------------------------------------------


def _by_status(c: Context) -> dict[str, str]:
    """An order of the account in each status, except pending."""
    found = c.once(deals)
    ids = {status: getattr(found, status)["id"] for status in ("open", "closing", "closed", "deleted")}
    return {**ids, "rejected": str(found.rejection.detail.get("order_id"))}


@check("list.status.each", need=Need.PRODUCTION)
def each_status_by_itself(c: Context) -> None:
    client = c.once(deals).client
    for status, order_id in _by_status(c).items():
        page = client.listed(limit=200, status=status)
        expect_equal({order["status"] for order in page["items"]}, {status}, f"`status` with status={status}")
        expect(order_id in {order["id"] for order in page["items"]}, f"status={status} leaves out an order.")
        expect_equal(page["total"], len(page["items"]), f"`total` with status={status}")
    waited = {order["status"] for order in c.once(waiting).listed_pending}
    expect_equal(waited, {"pending"}, "`status` with status=pending")


def _leaves_out_deleted(c: Context, **parameters: str) -> None:
    ids = {order["id"] for order in c.once(deals).client.everything(**parameters)}
    for status, order_id in _by_status(c).items():
        expect_equal(order_id in ids, status != "deleted", f"Whether an order that is {status} is listed")


check("list.status.all", need=Need.PRODUCTION)(lambda c: _leaves_out_deleted(c, status="all"))
check("list.status.default", need=Need.PRODUCTION)(_leaves_out_deleted)


@check("list.status.deleted", need=Need.PRODUCTION)
def only_deleted_orders(c: Context) -> None:
    found = c.once(deals)
    ids = [order["id"] for order in found.client.everything(status="deleted")]
    expect_equal(ids, [found.deleted["id"]], "The list with status=deleted")


@check("list.status.unknown", need=Need.LIVE_KEY)
def another_status_is_refused(c: Context) -> None:
    client = c.live()
    for status in (*STATUSES, "all"):
        body_of(client.orders(status=status), OK)
    invalid(client.orders(status="filled"))


# --- One order ------------------------------------------------------------------------------------------


@check("read.other-account", need=Need.DESK, orders=1)
def an_order_of_another_account(c: Context) -> None:
    order = c.new_client().placed()
    refused(c.new_client().order(order["id"]), "order_not_found")


@check("bullion.order-ids")
def an_id_that_is_not_a_uuid(c: Context) -> None:
    answers = [c.test().order(order_id) for order_id in ("1", "not-a-uuid", str(uuid4()))]
    for answer in answers:
        refused(answer, "order_not_found")
    expect(len({answer.text for answer in answers}) == 1, "The bodies of order_not_found differ.")
