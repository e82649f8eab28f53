"""Rulings on what is answered: shapes, lists, paths, headers; and the calls that Bullion adds."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, Phase, check
from bullion_conformance.checks.answers import has, over_all
from bullion_conformance.checks.bullion_orders import places, whole_account
from bullion_conformance.client import OK, body_of, refused, value_of, values_of
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import gold_buy
from bullion_conformance.shapes import AMOUNTS, TIMES, WEIGHTS, decimal, decimals, fields_in, instant
from bullion_conformance.verdict import expect

_UTC = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}\+00:00")


def _any(_: Exchange) -> bool:
    return True


@over_all("bullion.decimals", of=has(AMOUNTS), what="amount")
def four_decimals_or_two(exchange: Exchange) -> None:
    for name, value in fields_in(exchange.body):
        if name in AMOUNTS and value is not None:
            expected = 4 if name in WEIGHTS else 2
            number = decimal(value, name)
            expect(decimals(value) == expected, f"`{name}` is {value}; expected {expected} decimals.")
            expect(number != 0 or not value.startswith("-"), f"`{name}` is {value}.")


@over_all("bullion.times", of=has(TIMES), what="time")
def times_in_utc(exchange: Exchange) -> None:
    for name, value in fields_in(exchange.body):
        if name in TIMES and value is not None:
            expect(bool(_UTC.fullmatch(value)), f"`{name}` is {value}; expected UTC with microseconds.")


@over_all("bullion.request-id", of=_any, what="call at all")
def answers_have_an_id(exchange: Exchange) -> None:
    expect(bool(exchange.headers.get("x-request-id")), "it has no X-Request-Id.")


@over_all("bullion.retry-after", of=lambda exchange: exchange.status == 503, what="503")
def each_503_says_how_long_to_wait(exchange: Exchange) -> None:
    found = exchange.headers.get("retry-after", "")
    expect(
        bool(re.fullmatch("[1-9][0-9]*", found)),
        f"Retry-After is {found!r}; expected whole seconds, at least 1.",
    )


# --- Lists ----------------------------------------------------------------------------------------------


@check("bullion.order-ids")
def an_id_that_is_no_uuid(c: Context) -> None:
    client = c.test()
    answers = [client.order(order_id) for order_id in ("1", "not-a-uuid", str(uuid4()))]
    for answer in answers:
        refused(answer, "order_not_found")
    expect(len({answer.text for answer in answers}) == 1, "The bodies of order_not_found differ.")


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
        found = client.listed(since=since)["total"]
        expect(found == total, f"since={since} finds {found} orders; expected {total}.")


@check("bullion.empty-parameters")
def empty_or_repeated_parameters(c: Context) -> None:
    client = c.test()
    for name, value in (("limit", "1"), ("offset", "0"), ("since", "2026-01-01")):
        for wrong in ("", [value, value]):
            found = places(client.orders(**{name: wrong}))
            expect(found == [["query", name]], f"A wrong {name} is told at {found}.")


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
        expect((page["items"], page["total"]) == ([], 0), f"{parameters} lists {page['total']} orders.")


@check("bullion.client-order-id-filter", need=Need.DESK)
def a_filter_by_reference(c: Context) -> None:
    page = c.once(whole_account).listed(client_order_id="order-1")
    found = [order["client_order_id"] for order in page["items"]]
    expect((found, page["total"]) == (["order-1"], 1), f"client_order_id=order-1 lists {found}.")


# --- Paths, methods, headers ----------------------------------------------------------------------------


@check("bullion.paths")
def paths_that_are_not_there(c: Context) -> None:
    client = c.test()
    for path in ("/orders/", "/nothing", "/me/"):
        answer = client.call("GET", path)
        expect(
            (answer.status, answer.body) == (404, {"detail": "Not Found"}),
            f"{answer.call} answered {answer.text}",
        )


@check("bullion.methods")
def methods_that_are_not_there(c: Context) -> None:
    client = c.test()
    for method, path in (
        ("DELETE", "/orders"),
        ("POST", "/positions"),
        ("HEAD", "/me"),
        ("OPTIONS", "/orders"),
    ):
        answer = client.call(method, path)
        expect(answer.status == 405, f"{answer.call} answered {answer.reply}; expected 405.")
        expect(bool(answer.headers.get("allow")), f"{answer.call} answered 405 without Allow.")
        expect(
            method == "HEAD" or answer.code == "method_not_allowed",
            f"{answer.call} answered {answer.reply}.",
        )


@check("bullion.rate-headers", orders=1)
def budgets_are_told(c: Context) -> None:
    client = c.test()
    for answer in (client.me(), client.place(symbol_code="NOWHERE")):
        for name in ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"):
            expect(
                answer.headers.get(name, "").isdigit(), f"{answer.call} has no {name} with a whole number."
            )


@check("bullion.refused-uncounted", need=Need.DESK, phase=Phase.BURNS, orders=4)
def a_429_counts_nothing(c: Context) -> None:
    client = c.new_client()
    with c.budgets(orders_per_10_seconds=1):
        client.placed()
        resets = [refused_reset(client.place()) for _ in range(3)]
        expect(resets == sorted(resets, reverse=True), f"Refused orders put the end off: resets {resets}.")


def refused_reset(answer: Exchange) -> int:
    refused(answer, "rate_limited")
    return int(answer.headers["ratelimit-reset"])


# --- What Bullion adds ----------------------------------------------------------------------------------


def _item(body: dict[str, Any], code: str) -> dict[str, Any]:
    found = [item for item in values_of(body, "items") if item.get("symbol_code") == code]
    expect(len(found) == 1, f"{code} stands {len(found)} times in the list.")
    item: dict[str, Any] = found[0]
    return item


@check("bullion.symbols")
def symbols_are_listed(c: Context) -> None:
    item = _item(body_of(c.test().call("GET", "/symbols"), OK), c.gold.code)
    for name in ("quoted_weight", "minimum", "maximum", "step"):
        decimal(value_of(item, name), name)
    expect((item.get("metal"), item.get("unit")) == ("gold", "g"), f"{c.gold.code} is {item}.")
    expect(set(values_of(item, "sides")) <= {"buy", "sell"}, f"`sides` are {item['sides']}.")
    expect(isinstance(value_of(item, "trading"), bool), f"`trading` is {item['trading']!r}.")


@check("bullion.quotes", orders=1)
def quotes_are_told(c: Context) -> None:
    client = c.test()
    item = _item(body_of(client.call("GET", "/quotes", symbol_code=c.gold.code), OK), c.gold.code)
    expect((item.get("tradable"), item.get("reason")) == (True, None), f"The quote says {item}.")
    if value_of(item, "at") is not None:
        instant(item["at"], "at")
    buy, sell = decimal(value_of(item, "buy"), "buy"), decimal(value_of(item, "sell"), "sell")
    expect(buy >= sell > Decimal(0), f"Clients buy at {buy} and sell at {sell}.")


@check("bullion.description", need=Need.NOTHING)
def the_interface_is_described(c: Context) -> None:
    described = c.connection.send("GET", "/openapi.json", headers={})
    version = body_of(described, OK).get("info", {}).get("version")
    expect(version == "1.0.0", f"/openapi.json describes version {version!r}; expected '1.0.0'.")
    page = c.connection.send("GET", "/docs", headers={})
    expect(page.status == OK, f"GET /docs answered {page.reply}; expected 200.")
