"""Samples that many checks use: test orders, and production orders in every state."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bullion_conformance.client import ACCEPTED, CREATED, Client, body_of
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.shapes import value_of
from bullion_conformance.verdict import CheckFailed, expect

_ENOUGH = 40
SHARED_ORDERS = 4
"""The number of orders in the samples of the test environment."""


@dataclass(frozen=True, slots=True)
class Sample:
    client: Client
    sent: dict[str, Any]
    answer: Exchange
    order: dict[str, Any]


def sample(client: Client, **fields: Any) -> Sample:
    sent = client.order_body(**fields)
    answer = client.place(**sent)
    return Sample(client, sent, answer, body_of(answer, CREATED))


def gold_buy(c: Context) -> Sample:
    client = c.new_client() if c.setup.broker is not None else c.test()
    return sample(client, trade_type="buy", client_order_id=f"conformance-{uuid4().hex[:8]}")


def gold_sell(c: Context) -> Sample:
    return sample(c.once(gold_buy).client, trade_type="sell")


def silver_buy(c: Context) -> Sample:
    symbol = {"symbol_code": c.silver.code, "quantity": c.silver.quantity}
    return sample(c.once(gold_buy).client, trade_type="buy", **symbol)


def silver_sell(c: Context) -> Sample:
    symbol = {"symbol_code": c.silver.code, "quantity": c.silver.quantity}
    return sample(c.once(silver_buy).client, trade_type="sell", **symbol)


def whole_account(c: Context) -> Client:
    """A new account with three orders, all of the kit."""
    client = c.new_client()
    for number in range(3):
        client.placed(trade_type="buy", quantity=number + 1, client_order_id=f"order-{number}")
    return client


def all_exchanges(c: Context) -> list[Exchange]:
    """Every call so far. If the run has few, some are made."""
    if len(c.connection.seen) < _ENOUGH:
        # If a sample fails, its own checks report that; here its responses count.
        for make in (gold_sell, _read_calls, deals):
            if make is not deals or c.setup.production_open:
                with suppress(CheckFailed):
                    c.once(make)
    c.connection.current.clear()
    return c.connection.seen


def _read_calls(c: Context) -> None:
    client = c.once(gold_buy).client
    client.me()
    client.orders(limit=5)
    client.positions()
    client.orders(limit=0)
    client.order(str(uuid4()))


# --- Production -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Deals:
    """An account with orders in every state except `pending`, as they were read through the API."""

    login_id: str
    client: Client
    open: dict[str, Any]
    sent: dict[str, Any]
    opening: Exchange
    closing: dict[str, Any]
    closed: dict[str, Any]
    """With a profit."""
    lost: dict[str, Any]
    """Closed with a loss."""
    was_closing: dict[str, Any]
    """The closed order before its closing was completed."""
    deleted: dict[str, Any]
    web: dict[str, Any]
    rejection: Exchange
    rejection_again: Exchange
    web_rejected: str
    net_around_rejection: tuple[str, str]
    """Before the hedge refused orders, and after."""


def deals(c: Context) -> Deals:
    broker, login_id = c.broker, c.broker.account(firm_name="Conformance Kit")
    client = c.new_client("production", login_id)
    sent = client.order_body(trade_type="buy", client_order_id="conformance-open", quantity=c.gold.quantity)
    opening = client.place(**sent)
    opened = body_of(opening, CREATED)
    others = [
        client.placed(trade_type="buy", client_order_id=name)
        for name in ("closing", "closed", "lost", "deleted")
    ]
    closing, closed, lost, deleted = (value_of(order, "id") for order in others)
    broker.act(closing, "close")
    broker.act(closed, "close")
    was_closing = client.read(closed)
    broker.act(closed, "complete", close_price="71300.00")
    broker.act(lost, "close")
    broker.act(lost, "complete", close_price="71000.00")
    broker.act(deleted, "delete", reason="conformance kit")
    web = broker.place_from_web(login_id, client_order_id="web").json()["id"]
    broker.hedge("refuse")
    try:
        before = client.position("gold")["net"]
        key = str(uuid4())
        rejection = client.place(key, trade_type="buy", client_order_id="rejected")
        web_rejected = broker.place_from_web(login_id).json()["detail"]["order_id"]
        again = client.place(key, trade_type="buy", client_order_id="rejected")
        after = client.position("gold")["net"]
    finally:
        broker.hedge("fill")
    return Deals(
        login_id,
        client,
        client.read(opened["id"]),
        sent,
        opening,
        client.read(closing),
        client.read(closed),
        client.read(lost),
        was_closing,
        client.read(deleted),
        client.read(web),
        rejection,
        again,
        web_rejected,
        (before, after),
    )


@dataclass(slots=True)
class Waiting:
    """An account whose orders waited for the hedge: as they were read meanwhile and afterwards."""

    client: Client
    placing: Exchange
    pending: dict[str, Any]
    listed: list[dict[str, Any]]
    listed_pending: list[dict[str, Any]]
    web_id: str
    web_meanwhile: Exchange
    net_meanwhile: str
    beyond: Exchange
    """An order that exceeds the allocation only because of the pending orders."""
    deleted: dict[str, Any]
    opened: dict[str, Any]
    web_opened: Exchange
    listed_afterwards: list[dict[str, Any]]
    closing: dict[str, Any]
    closed: dict[str, Any]


def waiting(c: Context) -> Waiting:
    """Place three orders that stay pending, with an allocation for exactly these."""
    broker = c.broker
    login_id = broker.account(allocation={"gold": "3", "silver": "0"})
    client = c.new_client("production", login_id)
    broker.hedge("hold")
    try:
        with ThreadPoolExecutor(3) as pool:
            placing = [pool.submit(client.place, trade_type="buy", quantity=1) for _ in range(2)]
            web = pool.submit(broker.place_from_web, login_id)
            first, second = (each.result() for each in placing)
            web_id = web.result().json()["id"]
        pending = client.read(body_of(first, ACCEPTED)["id"])
        listed, listed_pending = client.everything(), client.everything(status="pending")
        web_meanwhile, net = client.order(web_id), client.position("gold")["net"]
        beyond = client.place(trade_type="buy", quantity=1)
        broker.act(body_of(second, ACCEPTED)["id"], "delete", reason="conformance kit")
        deleted = client.read(second.body["id"])
    finally:
        broker.hedge("fill")
    opened = becomes(c, client, pending["id"], "open")
    hidden = "An order from the web was confirmed, but the API still hides it."
    c.until(lambda: client.order(web_id).status == 200, hidden)
    web_opened, afterwards = client.order(web_id), client.everything()
    broker.act(opened["id"], "close")
    closing = client.read(opened["id"])
    broker.act(opened["id"], "complete", close_price="71000.00")
    closed = client.read(opened["id"])
    return Waiting(
        client,
        first,
        pending,
        listed,
        listed_pending,
        web_id,
        web_meanwhile,
        net,
        beyond,
        deleted,
        opened,
        web_opened,
        afterwards,
        closing,
        closed,
    )


@dataclass(slots=True)
class RefusedLater:
    """An order that was pending before the hedge refused it."""

    client: Client
    pending: dict[str, Any]
    rejected: dict[str, Any]
    replay: Exchange


def refused_later(c: Context) -> RefusedLater:
    client, key = c.new_client("production"), str(uuid4())
    c.broker.hedge("hold")
    try:
        pending = body_of(client.place(key, trade_type="buy"), ACCEPTED)
        c.broker.hedge("refuse")
        rejected = becomes(c, client, pending["id"], "rejected")
        replay = client.place(key, trade_type="buy")
    finally:
        c.broker.hedge("fill")
    return RefusedLater(client, pending, rejected, replay)


def becomes(c: Context, client: Client, order_id: str, status: str) -> dict[str, Any]:
    """Poll until the order is in that state."""
    seen: list[str] = []

    def there() -> bool:
        seen.append(str(client.read(order_id).get("status")))
        return seen[-1] == status

    try:
        c.until(there, "")
    except CheckFailed:
        raise CheckFailed(f"Order {order_id} stayed {seen[-1]}; expected it to become {status}.") from None
    return client.read(order_id)


def nothing_listed(client: Client, what: str) -> None:
    total = client.listed()["total"]
    expect(total == 0, f"After {what} the account lists {total} orders; expected none.")
