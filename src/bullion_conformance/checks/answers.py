"""What holds for every answer: these checks look at all that the run has seen."""

from collections.abc import Callable, Iterator

from bullion_conformance.check import Phase, check
from bullion_conformance.codes import CODES, STATUS, WITH_RETRY_AFTER
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import all_exchanges
from bullion_conformance.shapes import AMOUNTS, STATUSES, TIMES, decimal, fields_in, instant, orders_in, text
from bullion_conformance.verdict import CheckFailed, NotChecked, expect

REASONS = ("deploy", "global", "account")
_CALLS = ("/me", "/orders", "/positions")

Look = Callable[[Exchange], None]
Which = Callable[[Exchange], bool]


def over_all(*ids: str, of: Which, what: str) -> Callable[[Look], Look]:
    """Look at each answer of the run that `of` picks; the first that breaks the rule decides."""

    def register(look: Look) -> Look:
        def over_all_answers(c: Context) -> None:
            looked = None
            for exchange in _of_the_calls(all_exchanges(c)):
                if of(exchange):
                    looked = exchange
                    try:
                        look(exchange)
                    except CheckFailed as broken:
                        c.connection.current[:] = [exchange]
                        raise CheckFailed(f"{exchange.call} answered {exchange.reply}: {broken}") from None
            if looked is None:
                raise NotChecked(f"this run was answered no {what}")
            c.connection.current[:] = [looked]

        check(*ids, phase=Phase.OVER_ALL)(over_all_answers)
        return look

    return register


def _of_the_calls(seen: list[Exchange]) -> Iterator[Exchange]:
    """Those of the specification's own calls, by their right methods: what is wrong is another matter."""
    for exchange in list(seen):
        path = exchange.target.partition("?")[0].partition("/v1")[2]
        named = path in _CALLS or (path.startswith("/orders/") and path.count("/") == 2 and len(path) > 8)
        right = exchange.method == "GET" or (exchange.method == "POST" and path == "/orders")
        if exchange.environment and named and right:
            yield exchange


def _any(_: Exchange) -> bool:
    return True


def _refusal(exchange: Exchange) -> bool:
    return exchange.status >= 400


def _coded(exchange: Exchange) -> bool:
    return exchange.code is not None


def has(names: set[str]) -> Which:
    """Answers with one of these fields that is not null."""
    return lambda exchange: any(
        name in names and value is not None for name, value in fields_in(exchange.body)
    )


def _test_order(exchange: Exchange) -> bool:
    judged = exchange.status < 300 or exchange.code is not None
    return exchange.method == "POST" and exchange.environment == "test" and judged


@over_all("conventions.json.answers", of=_any, what="call at all")
def answers_are_json(exchange: Exchange) -> None:
    kind = exchange.headers.get("content-type", "").partition(";")[0].strip()
    expect(kind == "application/json", f"its Content-Type is {kind!r}; expected application/json.")
    expect(exchange.body is not None, "its body is not JSON.")


@over_all("conventions.strings-out", of=has(AMOUNTS), what="amount")
def amounts_are_strings(exchange: Exchange) -> None:
    for name, value in fields_in(exchange.body):
        if name in AMOUNTS and value is not None:
            decimal(value, name)


@over_all("conventions.times", of=has(TIMES), what="time")
def times_have_an_offset(exchange: Exchange) -> None:
    for name, value in fields_in(exchange.body):
        if name in TIMES and value is not None:
            instant(value, name)


@over_all("conventions.refusals", "error.code", "error.message", of=_refusal, what="refusal")
def refusals_have_their_shape(exchange: Exchange) -> None:
    body = exchange.body
    if not isinstance(body, dict) or not isinstance(body.get("detail"), dict):
        raise CheckFailed("its body is not an object with a `detail` object in it.")
    for name in ("code", "message"):
        expect(name in body["detail"], f"`detail` has no `{name}`.")
        expect(bool(text(body["detail"][name], name)), f"`detail.{name}` is empty.")


@over_all("error.reason", of=_coded, what="code")
def a_reason_where_it_belongs(exchange: Exchange) -> None:
    reason = exchange.detail.get("reason")
    if exchange.code == "production_trading_disabled":
        expect(reason in REASONS, f"`detail.reason` is {reason!r}; expected {' or '.join(REASONS)}.")
    else:
        expect(
            "reason" not in exchange.detail,
            "`detail.reason` is on another code than production_trading_disabled.",
        )


@over_all("error.order", of=_coded, what="code")
def an_order_where_it_belongs(exchange: Exchange) -> None:
    order = exchange.detail.get("order")
    if exchange.code == "order_rejected":
        if not isinstance(order, dict):
            raise CheckFailed("`detail.order` is missing.")
        expect(order.get("id") == exchange.detail.get("order_id"), "`detail.order_id` is not the order's id.")
        expect(order.get("status") == "rejected", f"`detail.order` is {order.get('status')!r}, not rejected.")
    else:
        there = {"order", "order_id"} & exchange.detail.keys()
        expect(not there, f"`detail` has {', '.join(sorted(there))} on another code than order_rejected.")


@over_all("error.errors", of=_coded, what="code")
def errors_where_they_belong(exchange: Exchange) -> None:
    errors = exchange.detail.get("errors")
    if exchange.code == "invalid_request":
        expect(isinstance(errors, list) and bool(errors), "`detail.errors` is not an array of problems.")
    else:
        expect("errors" not in exchange.detail, "`detail.errors` is on another code than invalid_request.")


@over_all("errors.statuses", of=lambda exchange: exchange.code in STATUS, what="code of the table")
def codes_have_their_status(exchange: Exchange) -> None:
    expected = STATUS[exchange.code or ""]
    expect(exchange.status == expected, f"the table gives {exchange.code} the status {expected}.")


@over_all(
    "errors.retry-after", of=lambda exchange: exchange.code in WITH_RETRY_AFTER, what="refusal of that kind"
)
def waits_are_told(exchange: Exchange) -> None:
    found = exchange.headers.get("retry-after")
    expect(found is not None, "it carries no Retry-After.")
    expect(
        bool(found and found.isascii() and found.isdigit()),
        f"Retry-After is {found!r}; expected whole seconds.",
    )


def _has_production_order(exchange: Exchange) -> bool:
    return exchange.environment == "production" and any(orders_in(exchange.body))


@over_all("states.production.names", of=_has_production_order, what="production order")
def production_has_six_statuses(exchange: Exchange) -> None:
    for order in orders_in(exchange.body):
        expect(order.get("status") in STATUSES, f"an order has the status {order.get('status')!r}.")


@over_all("orders.test.never-202", of=_test_order, what="test order")
def never_202_in_test(exchange: Exchange) -> None:
    expect(exchange.status != 202, "a test order is never pending.")


@over_all("orders.test.never-rejected", of=_test_order, what="test order")
def never_rejected_in_test(exchange: Exchange) -> None:
    expect(exchange.code != "order_rejected", "no hedge can refuse a test order.")


@over_all("orders.test.never-booking", of=_test_order, what="test order")
def never_booking_in_test(exchange: Exchange) -> None:
    of_production = {code.name for code in CODES if not code.in_test}
    expect(exchange.code not in of_production, "the table has this code for production alone.")
    expect(not (exchange.code or "").startswith("booking_"), "a test order is not booked.")
