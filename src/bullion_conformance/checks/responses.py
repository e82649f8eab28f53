"""What holds for every response: these checks look at all calls of the run."""

import re
from collections.abc import Callable, Iterator

from bullion_conformance.check import Phase, check
from bullion_conformance.codes import CODES, STATUS, WITH_RETRY_AFTER
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import all_exchanges
from bullion_conformance.shapes import (
    AMOUNTS,
    STATUSES,
    TIMES,
    WEIGHTS,
    decimal,
    decimals,
    fields_in,
    instant,
    orders_in,
    text_of,
)
from bullion_conformance.verdict import CheckFailed, NotChecked, expect, expect_equal

REASONS = ("deploy", "global", "account")
_CALLS = ("/me", "/orders", "/positions")
_UTC = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}\+00:00")
_ONLY_IN_PRODUCTION = {code.name for code in CODES if not code.in_test}

Look = Callable[[Exchange], None]
Which = Callable[[Exchange], bool]


def over_all(*ids: str, of: Which, what: str) -> Callable[[Look], Look]:
    """Look at each response of the run that `of` selects; the first that breaks the rule decides."""

    def register(look: Look) -> Look:
        def look_at_all(c: Context) -> None:
            looked = None
            for exchange in _specified_calls(all_exchanges(c)):
                if of(exchange):
                    looked = exchange
                    try:
                        look(exchange)
                    except CheckFailed as broken:
                        c.connection.current[:] = [exchange]
                        raise CheckFailed(f"{exchange.call} answered {exchange.reply}: {broken}") from None
            if looked is None:
                raise NotChecked(f"this run had no {what}")
            c.connection.current[:] = [looked]

        check(*ids, phase=Phase.OVER_ALL)(look_at_all)
        return look

    return register


def _specified_calls(seen: list[Exchange]) -> Iterator[Exchange]:
    """The specification's own calls with their own methods, except for made-up responses.

    The rules for others differ.
    """
    for exchange in list(seen):
        path = exchange.target.partition("?")[0].partition("/v1")[2]
        named = path in _CALLS or (path.startswith("/orders/") and path.count("/") == 2 and len(path) > 8)
        right = exchange.method == "GET" or (exchange.method == "POST" and path == "/orders")
        if exchange.environment and named and right and not exchange.made_up:
            yield exchange


def _any(_: Exchange) -> bool:
    return True


def _coded(exchange: Exchange) -> bool:
    return exchange.code is not None


def _values(exchange: Exchange, names: set[str]) -> list[tuple[str, str]]:
    """The fields of these names that are not null."""
    fields = fields_in(exchange.body)
    return [(name, value) for name, value in fields if name in names and value is not None]


def _with_amount(exchange: Exchange) -> bool:
    return bool(_values(exchange, AMOUNTS))


def _with_time(exchange: Exchange) -> bool:
    return bool(_values(exchange, TIMES))


@over_all("conventions.json.answers", of=_any, what="calls")
def responses_are_json(exchange: Exchange) -> None:
    kind = exchange.headers.get("content-type", "").partition(";")[0].strip()
    expect_equal(kind, "application/json", "its Content-Type")
    expect(exchange.body is not None, "its body is not JSON.")


@over_all("conventions.strings-out", of=_with_amount, what="amount")
def amounts_are_strings(exchange: Exchange) -> None:
    for name, value in _values(exchange, AMOUNTS):
        decimal(value, name)


@over_all("bullion.decimals", of=_with_amount, what="amount")
def amounts_have_four_or_two_decimals(exchange: Exchange) -> None:
    for name, value in _values(exchange, AMOUNTS):
        number = decimal(value, name)
        expected = 4 if name in WEIGHTS else 2
        expect(decimals(value) == expected, f"`{name}` is {value}; expected {expected} decimals.")
        expect(number != 0 or not value.startswith("-"), f"`{name}` is {value}.")


@over_all("conventions.times", of=_with_time, what="time")
def times_have_an_offset(exchange: Exchange) -> None:
    for name, value in _values(exchange, TIMES):
        instant(value, name)


@over_all("bullion.times", of=_with_time, what="time")
def times_are_in_utc(exchange: Exchange) -> None:
    for name, value in _values(exchange, TIMES):
        expect(bool(_UTC.fullmatch(value)), f"`{name}` is {value}; expected UTC with microseconds.")


@over_all("bullion.request-id", of=_any, what="calls")
def responses_have_an_id(exchange: Exchange) -> None:
    expect(bool(exchange.headers.get("x-request-id")), "it has no X-Request-Id.")


@over_all(
    "conventions.refusals",
    "error.code",
    "error.message",
    of=lambda exchange: exchange.status >= 400,
    what="refusal",
)
def refusals_have_code_and_message(exchange: Exchange) -> None:
    body = exchange.body
    if not isinstance(body, dict) or not isinstance(body.get("detail"), dict):
        raise CheckFailed("its body is not an object with a `detail` object in it.")
    for name in ("code", "message"):
        expect(bool(text_of(body["detail"], name)), f"`detail.{name}` is empty.")


@over_all("error.reason", of=_coded, what="code")
def reason_is_on_its_code_only(exchange: Exchange) -> None:
    reason = exchange.detail.get("reason")
    if exchange.code == "production_trading_disabled":
        expect(reason in REASONS, f"`detail.reason` is {reason!r}; expected {' or '.join(REASONS)}.")
    else:
        other = "`detail.reason` is on another code than production_trading_disabled."
        expect("reason" not in exchange.detail, other)


@over_all("error.order", of=_coded, what="code")
def order_is_on_its_code_only(exchange: Exchange) -> None:
    if exchange.code == "order_rejected":
        rejected_order(exchange)
    else:
        present = {"order", "order_id"} & exchange.detail.keys()
        expect(not present, f"`detail` has {', '.join(sorted(present))} on another code than order_rejected.")


def rejected_order(exchange: Exchange) -> dict[str, object]:
    """The order of an order_rejected."""
    order = exchange.detail.get("order")
    if not isinstance(order, dict):
        raise CheckFailed("order_rejected came without `detail.order`.")
    expect_equal(exchange.detail.get("order_id"), order.get("id"), "`detail.order_id`")
    expect_equal(order.get("status"), "rejected", "`status` of `detail.order`")
    return order


@over_all("error.errors", of=_coded, what="code")
def errors_are_on_their_code_only(exchange: Exchange) -> None:
    errors = exchange.detail.get("errors")
    if exchange.code == "invalid_request":
        expect(isinstance(errors, list) and bool(errors), "`detail.errors` is not an array of problems.")
    else:
        expect("errors" not in exchange.detail, "`detail.errors` is on another code than invalid_request.")


@over_all("errors.statuses", of=lambda exchange: exchange.code in STATUS, what="code of the table")
def codes_have_their_status(exchange: Exchange) -> None:
    expect_equal(exchange.status, STATUS[exchange.code or ""], f"the status of {exchange.code}")


@over_all(
    "errors.retry-after", of=lambda exchange: exchange.code in WITH_RETRY_AFTER, what="refusal of that kind"
)
def retry_after_is_in_seconds(exchange: Exchange) -> None:
    found = exchange.headers.get("retry-after", "")
    expect(found.isascii() and found.isdigit(), f"Retry-After is {found!r}; expected whole seconds.")


@over_all("bullion.retry-after", of=lambda exchange: exchange.status == 503, what="503")
def each_503_has_retry_after(exchange: Exchange) -> None:
    found = exchange.headers.get("retry-after", "")
    whole = bool(re.fullmatch("[1-9][0-9]*", found))
    expect(whole, f"Retry-After is {found!r}; expected whole seconds, at least 1.")


def _has_production_order(exchange: Exchange) -> bool:
    return exchange.environment == "production" and any(orders_in(exchange.body))


@over_all("states.production.names", of=_has_production_order, what="production order")
def production_has_six_statuses(exchange: Exchange) -> None:
    for order in orders_in(exchange.body):
        expect(order.get("status") in STATUSES, f"an order has the status {order.get('status')!r}.")


def _test_order(exchange: Exchange) -> bool:
    decided = exchange.status < 300 or exchange.code is not None
    return exchange.method == "POST" and exchange.environment == "test" and decided


@over_all("orders.test.never-202", of=_test_order, what="test order")
def never_202_in_test(exchange: Exchange) -> None:
    expect(exchange.status != 202, "a test order is never pending.")


@over_all("orders.test.never-rejected", of=_test_order, what="test order")
def never_rejected_in_test(exchange: Exchange) -> None:
    expect(exchange.code != "order_rejected", "no hedge can refuse a test order.")


@over_all("orders.test.never-booking", of=_test_order, what="test order")
def never_a_production_code_in_test(exchange: Exchange) -> None:
    expect(exchange.code not in _ONLY_IN_PRODUCTION, "this code is only for production.")
    expect(not (exchange.code or "").startswith("booking_"), "a test order is not booked.")


@check("bullion.secrets", phase=Phase.OVER_ALL)
def no_response_repeats_a_key(c: Context) -> None:
    seen = all_exchanges(c)
    c.connection.current[:] = c.connection.leaks or seen[-1:]
    for exchange in c.connection.leaks:
        raise CheckFailed(f"{exchange.call} repeats the secret of the key that was sent.")
