"""Faults that a service could have: each spoils one behaviour, and breaks these requirements alone."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs

from bullion_conformance.requirement import Profile
from tests.conformance.spoiling_proxy import Ask, Passing, Spoil

WEIGHTS = ("quantity", "price", "total")
CLOSING = ("close_price", "realized_pnl", "closed_at")


@dataclass(frozen=True)
class Fault:
    name: str
    spoil: Spoil
    only: tuple[str, ...]
    """Which requirements are looked at."""
    breaks: frozenset[str]
    """Of those, the ones that have to fail."""
    ask: Ask | None = None
    """What it does to requests, if its fault is not in the responses."""

    @property
    def profile(self) -> Profile:
        own = any(pattern.startswith("bullion.") for pattern in self.only)
        return Profile.BULLION if own else Profile.SPECIFICATION


FAULTS: list[Fault] = []


def fault(*breaks: str, only: tuple[str, ...]) -> Callable[[Spoil], Spoil]:
    def register(spoil: Spoil) -> Spoil:
        FAULTS.append(Fault(spoil.__name__, spoil, only, frozenset(breaks)))
        return spoil

    return register


def deaf(*breaks: str, only: tuple[str, ...]) -> Callable[[Ask], Ask]:
    """A fault in how requests are read."""

    def register(ask: Ask) -> Ask:
        FAULTS.append(Fault(ask.__name__, lambda _passing: None, only, frozenset(breaks), ask))
        return ask

    return register


# --- Values ---------------------------------------------------------------------------------------------


@fault(
    "conventions.strings-out",
    "order.quantity",
    only=("conventions.strings-out", "order.quantity", "order.id"),
)
def quantities_are_json_numbers(passing: Passing) -> None:
    for order in passing.orders():
        order["quantity"] = float(order["quantity"])


@fault("order.price", only=("order.price", "order.total", "conventions.strings-out"))
def prices_have_three_decimals(passing: Passing) -> None:
    for order in passing.orders():
        if order.get("price"):
            order["price"] += "0"


@fault(
    "conventions.times", "order.created_at", only=("conventions.times", "order.created_at", "order.status")
)
def times_have_no_zone(passing: Passing) -> None:
    for order in passing.orders():
        order["created_at"] = order["created_at"].removesuffix("+00:00")


@fault("order.unit", "overview.units", only=("order.unit", "overview.units", "positions.unit"))
def silver_is_in_grams(passing: Passing) -> None:
    for order in passing.orders():
        order["unit"] = "g"


@fault("order.id", only=("order.id", "order.symbol_code"))
def ids_are_numbers(passing: Passing) -> None:
    for order in passing.orders():
        if passing.placing:
            order["id"] = int(order["id"].replace("-", ""), 16)


@fault(
    "order.client_order_id", "idempotency.findable", only=("order.client_order_id", "idempotency.findable")
)
def references_are_lost(passing: Passing) -> None:
    for order in passing.orders():
        order["client_order_id"] = None


@fault("test-order.deal_label", "test-order.no-deal-number", only=("test-order",))
def test_orders_have_deal_numbers(passing: Passing) -> None:
    for order in passing.orders():
        if "deal_label" in order:
            order["deal_no"] = int(order.pop("deal_label").removeprefix("T-"))


@fault("positions.free.never-negative", only=("positions.free", "positions.used"))
def free_goes_below_zero(passing: Passing) -> None:
    if passing.path.endswith("/positions") and passing.status == 200:
        for metal in (passing.body["gold"], passing.body["silver"]):
            metal["free"] = str(Decimal(metal["limit"]) - Decimal(metal["used"]))


@fault(
    "account.available",
    "account.available.same",
    "account.available.open",
    "account.available.closed-for-all",
    "account.available.closed-for-one",
    only=("account",),
)
def availability_is_a_word(passing: Passing) -> None:
    if passing.path.endswith("/me") and passing.status == 200:
        passing.body["production_trading_available"] = "yes"


# --- Answers to orders ----------------------------------------------------------------------------------


@fault("idempotency.replay", only=("idempotency.*", "orders.key.per-account"))
def replays_are_not_marked(passing: Passing) -> None:
    if "/test/" in passing.path:
        passing.headers.pop("idempotent-replayed", None)


@fault(
    "idempotency.replay", "idempotency.production.replay", only=("idempotency.*replay", "idempotency.reused")
)
def a_replay_is_created(passing: Passing) -> None:
    if passing.placing and passing.status == 200:
        passing.status = 201


@fault(
    "orders.test.never-202",
    "orders.test.created",
    "states.test.created-filled",
    "overview.place-and-read",
    only=("orders.test", "states.test", "overview.place-and-read"),
)
def test_orders_are_202(passing: Passing) -> None:
    if passing.placing and passing.status == 201 and "/test/" in passing.path:
        passing.status = 202


@fault("idempotency.reused", "errors.statuses", only=("idempotency.reused", "errors.statuses"))
def a_reused_key_is_400(passing: Passing) -> None:
    if passing.code == "idempotency_key_reused":
        passing.status = 400


@fault(
    "orders.trade_type.values",
    "errors.test.invalid_side",
    only=("orders.trade_type", "errors.test.invalid_*"),
)
def a_wrong_side_is_an_invalid_request(passing: Passing) -> None:
    if passing.code == "invalid_side":
        passing.status = 422
        passing.body["detail"] |= {"code": "invalid_request", "errors": [{}]}


@fault(
    "orders.client_order_id.length", only=("orders.client_order_id", "orders.symbol_code", "orders.quantity")
)
def long_references_are_taken(passing: Passing) -> None:
    if passing.placing and passing.status == 422 and b"client_order_id" in passing.sent:
        passing.status, passing.body = 201, {"client_order_id": "x"}


# --- Lists ----------------------------------------------------------------------------------------------


@fault(
    "list.total",
    "list.symbol_code",
    "list.trade_type",
    only=("list.total", "list.symbol_code", "list.trade_type"),
)
def the_total_is_the_page(passing: Passing) -> None:
    if passing.listing:
        passing.body["total"] = len(passing.body["items"]) + ("symbol_code" in passing.query)
        if "trade_type" in passing.query:
            passing.body["total"] = 0


@fault(
    "list.newest-first",
    "list.production.newest-first",
    only=("list.newest-first", "list.production.newest-first"),
)
def the_oldest_comes_first(passing: Passing) -> None:
    if passing.listing:
        passing.body["items"].reverse()


@fault("list.limit.kept", "list.limit.default", "list.offset.skips", only=("list.limit", "list.offset"))
def a_page_holds_three(passing: Passing) -> None:
    if passing.listing:
        passing.body["items"] = (passing.body["items"] * 3)[:3]


@fault("list.status.each", only=("list.status.each", "list.status.deleted", "list.total"))
def the_filter_by_status_is_ignored(passing: Passing) -> None:
    if passing.listing and parse_qs(passing.query).get("status") == ["closing"]:
        passing.body["items"].append({**passing.body["items"][0], "status": "open"})


@fault("list.limit.range", only=("list.limit.range", "list.limit.kept", "list.offset.range"))
def any_limit_goes(passing: Passing) -> None:
    if passing.path.endswith("/orders") and "limit=201" in passing.query:
        passing.status, passing.body = 200, {"items": [], "total": 0}


@fault("conventions.since-utc", only=("conventions.since-utc", "list.since"))
def since_is_read_as_local_time(passing: Passing) -> None:
    since = parse_qs(passing.query).get("since", [""])[0]
    if passing.listing and since and "+00:00" not in since:
        passing.body = {"items": [], "total": 0}


# --- Refusals -------------------------------------------------------------------------------------------


@fault(
    "conventions.refusals",
    "error.code",
    "error.message",
    only=("conventions.refusals", "error.code", "error.message"),
)
def the_detail_is_a_string(passing: Passing) -> None:
    if passing.code == "order_not_found":
        passing.body = {"detail": "There is no such order."}


@fault(
    "read.unknown",
    "errors.test.order_not_found",
    "errors.statuses",
    only=("read.unknown", "errors.test.order_*", "errors.statuses"),
)
def an_unknown_order_is_403(passing: Passing) -> None:
    if passing.code == "order_not_found":
        passing.status = 403


@fault(
    "errors.retry-after",
    "limits.reads",
    "limits.retry",
    only=("errors.retry-after", "limits.reads", "limits.retry"),
)
def nobody_says_how_long_to_wait(passing: Passing) -> None:
    passing.headers.pop("retry-after", None)


@fault("errors.wrong-path", only=("errors.wrong-path", "read.unknown"))
def wrong_paths_have_a_code(passing: Passing) -> None:
    if passing.status == 404 and passing.code is None:
        passing.body = {"detail": {"code": "not_found", "message": "There is nothing here."}}


@fault("error.limit-message", only=("error.limit-message", "allocation.past-limit"))
def the_limit_is_not_named(passing: Passing) -> None:
    if passing.code == "limit_exceeded":
        passing.body["detail"]["message"] = "Too much."


@fault("error.errors", only=("error.errors", "error.reason"))
def errors_are_everywhere(passing: Passing) -> None:
    if passing.code is not None:
        passing.body["detail"]["errors"] = []


@fault("allocation.reducing", only=("allocation.reducing", "allocation.nets"))
def reducing_is_refused_above_the_limit(passing: Passing) -> None:
    if passing.placing and passing.status == 201 and passing.sent.endswith(b'"quantity": 1}'):
        passing.status = 400
        passing.body = {"detail": {"code": "limit_exceeded", "message": "Above the limit."}}


@fault(
    "overview.key-needed.test",
    "errors.test.missing_credential",
    only=("overview.key-needed", "errors.test.missing_credential"),
)
def without_a_key_it_is_403(passing: Passing) -> None:
    if passing.code == "missing_credential" and "/test/" in passing.path:
        passing.status = 403


@fault("auth.scopes", "endpoints.scope.me", only=("auth.scopes", "endpoints.scope"))
def any_key_may_ask_who_it_is(passing: Passing) -> None:
    if passing.path.endswith("/me") and passing.code == "insufficient_scope":
        passing.status, passing.body = 200, {"login_id": "somebody"}


# --- Production -----------------------------------------------------------------------------------------


@fault(
    "states.closed.fields",
    "states.closed.profit",
    "states.closed.times",
    only=("states.closed", "states.open", "production-order.close-nulls"),
)
def closings_are_not_told(passing: Passing) -> None:
    for order in passing.orders():
        order.update(dict.fromkeys(CLOSING))


@fault(
    "production-order.source.other",
    "visibility.channels",
    only=("production-order.source", "visibility.channels"),
)
def every_order_is_from_the_api(passing: Passing) -> None:
    for order in passing.orders():
        if "source" in order:
            order["source"] = "api"


@fault("transitions.refused.replay", only=("transitions.refused.answer", "transitions.refused.replay"))
def a_second_refusal_has_another_order(passing: Passing) -> None:
    if passing.code == "order_rejected" and passing.headers.get("idempotent-replayed"):
        detail: dict[str, Any] = passing.body["detail"]
        detail["order"]["created_at"] = None


@fault(
    "positions.symbols",
    "positions.symbols.fields",
    "positions.symbols.net",
    only=("positions.symbols", "positions.metals"),
)
def production_has_no_symbols(passing: Passing) -> None:
    if passing.path.endswith("/positions"):
        passing.body.pop("symbols", None)


@fault(
    "errors.reason.account",
    "error.reason",
    only=("errors.reason.global", "errors.reason.account", "error.reason"),
)
def the_reason_is_unknown(passing: Passing) -> None:
    detail = passing.body.get("detail") if isinstance(passing.body, dict) else None
    if isinstance(detail, dict) and detail.get("reason") == "account":
        detail["reason"] = "closed"


_CLOSED = ("states.closed.*", "production-order.close-nulls")


@fault("states.closed.profit", only=_CLOSED)
def profits_are_losses(passing: Passing) -> None:
    for order in passing.orders():
        if order.get("realized_pnl"):
            order["realized_pnl"] = f"{-Decimal(order['realized_pnl'])}"


@fault("bullion.realized-pnl", only=("bullion.realized-pnl", "states.closed.*"))
def profits_are_for_a_single_gram(passing: Passing) -> None:
    for order in passing.orders():
        if order.get("realized_pnl"):
            order["realized_pnl"] = f"{Decimal(order['realized_pnl']) / Decimal(order['quantity']) * 2:.2f}"


@fault("states.closed.times", only=_CLOSED)
def orders_are_closed_before_they_are_made(passing: Passing) -> None:
    for order in passing.orders():
        if order.get("closed_at"):
            order["closed_at"] = f"2020{order['closed_at'][4:]}"


@fault("production-order.deal_no.own", only=("production-order.deal_no*", "production-order.status"))
def every_deal_has_the_same_number(passing: Passing) -> None:
    for order in passing.orders():
        if order.get("deal_no") is not None:
            order["deal_no"] = 7


# --- Headers --------------------------------------------------------------------------------------------

_HEADERS = ("bullion.rate-headers*", "bullion.retry-after")


def _is_counted(passing: Passing) -> bool:
    return passing.status != 429 and "ratelimit-reset" in passing.headers


@fault("bullion.rate-headers.remaining", only=_HEADERS)
def there_is_always_room_for_two(passing: Passing) -> None:
    if _is_counted(passing):
        passing.headers["ratelimit-remaining"] = "2"


@fault("bullion.rate-headers", "bullion.rate-headers.remaining", only=_HEADERS)
def the_call_itself_is_not_counted(passing: Passing) -> None:
    if _is_counted(passing):
        passing.headers["ratelimit-remaining"] = str(int(passing.headers["ratelimit-remaining"]) + 1)


@fault("bullion.rate-headers.reset", only=_HEADERS)
def every_budget_is_for_a_minute(passing: Passing) -> None:
    if _is_counted(passing):
        passing.headers["ratelimit-reset"] = "60"


@fault("bullion.rate-headers.reset", only=_HEADERS)
def the_reset_stands_still(passing: Passing) -> None:
    if _is_counted(passing):
        passing.headers["ratelimit-reset"] = "10" if passing.placing else "60"


@fault(
    "bullion.retry-after",
    "bullion.scenarios.wait",
    only=("bullion.retry-after", "bullion.scenarios*", "errors.test.stale_rate"),
)
def a_503_does_not_say_how_long_to_wait(passing: Passing) -> None:
    if passing.status == 503:
        passing.headers.pop("retry-after", None)


# --- Events ---------------------------------------------------------------------------------------------

_IN_TEST = (
    *("bullion.events.data", "bullion.events.pages", "bullion.events.gone", "bullion.events.bounds"),
    *("bullion.events.hidden", "bullion.stream.resume", "bullion.stream.now"),
)


def _events(passing: Passing) -> list[dict[str, Any]]:
    listed = passing.path.endswith("/events") and passing.status == 200
    found: list[dict[str, Any]] = passing.body["items"] if listed else []
    return found


@fault("bullion.events.life", "bullion.events.hidden", only=("bullion.events.life", *_IN_TEST))
def numbers_have_a_gap(passing: Passing) -> None:
    for event in _events(passing):
        event["number"] += event["number"] > 4


@fault("bullion.events.data", only=_IN_TEST)
def events_have_the_order_without_its_reference(passing: Passing) -> None:
    for event in _events(passing):
        event["data"]["client_order_id"] = None


@fault("bullion.events.pages", "bullion.events.gone", only=("bullion.events.pages", "bullion.events.gone"))
def the_newest_event_is_left_out(passing: Passing) -> None:
    if len(_events(passing)) > 2:
        passing.body["items"].pop()


@fault("bullion.events.gone", only=_IN_TEST)
def nothing_is_ever_gone(passing: Passing) -> None:
    if passing.code == "events_gone" and passing.path.endswith("/events"):
        passing.status, passing.body = 200, {"items": [], "next_after": 4, "has_more": False}


@fault("bullion.events.life", only=("bullion.events.life", "bullion.events.hidden"))
def orders_of_the_web_are_told_at_once(passing: Passing) -> None:
    for event in _events(passing):
        if event["data"].get("source") == "web":
            event["type"] = "order.created"


@deaf("bullion.events.wait", only=("bullion.events.wait", *_IN_TEST))
def nobody_is_made_to_wait(target: str, _headers: dict[str, str]) -> str:
    return target.replace("&wait=", "&hurry=")


@fault("bullion.stream", "bullion.stream.resume", only=("bullion.stream", "bullion.stream.resume"))
def a_stream_loses_an_event(passing: Passing) -> None:
    if passing.raw is not None and passing.raw.startswith(b"id: 3\n"):
        passing.raw = b""


@deaf("bullion.stream.resume", only=("bullion.stream.resume", "bullion.events.pages"))
def a_stream_begins_anew(target: str, headers: dict[str, str]) -> str:
    for name in headers:
        if name.lower() == "last-event-id" and headers[name] == "2":
            headers[name] = "0"
    return target


@fault("bullion.stream.end", only=("bullion.stream.end", "bullion.events.gone"))
def a_stream_ends_without_a_word(passing: Passing) -> None:
    if passing.raw is not None and b"event: end" in passing.raw:
        passing.raw = b""


@fault("bullion.stream.limit", only=("bullion.stream.limit", "bullion.events.gone"))
def too_many_streams_have_no_wait(passing: Passing) -> None:
    if passing.code == "too_many_streams":
        passing.headers.pop("retry-after")


# --- Webhooks -------------------------------------------------------------------------------------------


@fault("bullion.webhooks.secret", only=("bullion.webhooks.secret", "bullion.webhooks.scope"))
def secrets_are_shown_again(passing: Passing) -> None:
    if "/webhooks/" in passing.path and passing.status == 200:
        passing.body["secret"] = "whsec_c2VjcmV0"


@fault("bullion.webhooks.scope", only=("bullion.webhooks.secret", "bullion.webhooks.scope"))
def any_key_may_manage_webhooks(passing: Passing) -> None:
    if passing.path.endswith("/webhooks") and passing.code == "insufficient_scope":
        passing.status, passing.body = 200, {"items": []}


@fault("bullion.webhooks.inside", only=("bullion.webhooks.scope", "bullion.webhooks.inside"))
def webhooks_may_lead_to_the_metadata_of_a_cloud(passing: Passing) -> None:
    if passing.code == "webhook_url_refused" and b"169.254" in passing.sent:
        passing.status, passing.body = 201, {"id": "wh_1", "secret": "whsec_c2VjcmV0"}
