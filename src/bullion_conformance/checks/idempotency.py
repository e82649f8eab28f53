"""What an Idempotency-Key promises."""

from decimal import Decimal
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import REPLAYED, Client, refused, replayed, value_of
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import gold_buy
from bullion_conformance.verdict import expect


@check("idempotency.replay", orders=2)
def the_same_again_is_a_replay(c: Context) -> None:
    _replays(c.test())


@check("idempotency.production.replay", need=Need.PRODUCTION, orders=2)
def the_same_again_in_production(c: Context) -> None:
    _replays(c.new_client("production"))


def _replays(client: Client) -> None:
    key, body = str(uuid4()), client.order_body()
    order = client.placed(key, **body)
    answer = client.place(key, **body)
    replayed(answer, order)
    for name in ("symbol_code", "trade_type", "quantity", "price", "total", "status"):
        expect(
            answer.body.get(name) == order.get(name),
            f"The replay has {name} {answer.body.get(name)!r}; the order had {order.get(name)!r}.",
        )


@check("idempotency.replay.once", orders=4)
def one_order_however_often(c: Context) -> None:
    client, key = c.test(), str(uuid4())
    body = client.order_body(client_order_id=f"conformance-{key[:8]}")
    before = client.listed()["total"]
    for _ in range(4):
        client.place(key, **body)
    after = client.listed()["total"]
    expect(
        after == before + 1, f"One order was sent four times; the account lists {after - before} more orders."
    )


@check("idempotency.fresh-not-marked")
def a_first_answer_is_not_marked(c: Context) -> None:
    marked = c.once(gold_buy).answer.headers.get(REPLAYED)
    expect(marked != "true", "The first answer to an order carries Idempotent-Replayed: true.")


@check("idempotency.reused", orders=2)
def another_body_is_refused(c: Context) -> None:
    client, key = c.test(), str(uuid4())
    body = client.order_body()
    client.placed(key, **body)
    refused(client.place(key, **{**body, "client_order_id": "other"}), "idempotency_key_reused")


@check("idempotency.reused.nothing-booked", orders=2)
def another_body_books_nothing(c: Context) -> None:
    _books_nothing(c.test())


@check("idempotency.production.reused", need=Need.PRODUCTION, orders=2)
def another_body_in_production(c: Context) -> None:
    refused(_books_nothing(c.new_client("production")), "idempotency_key_reused")


def _books_nothing(client: Client) -> Exchange:
    key, body = str(uuid4()), client.order_body()
    client.placed(key, **body)
    before, net = client.listed()["total"], client.position("gold")["net"]
    answer = client.place(key, **{**body, "quantity": Decimal(2) * client.symbol.quantity})
    after, moved = client.listed()["total"], client.position("gold")["net"]
    expect(after == before, f"A reused key made {after - before} more orders.")
    expect(moved == net, f"A reused key moved `net` from {net} to {moved}.")
    return answer


@check("orders.key.per-account", need=Need.DESK, orders=2)
def a_key_survives_rotation(c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id)
    old, key = c.with_key(issued, login_id), str(uuid4())
    body = old.order_body()
    order = old.placed(key, **body)
    new = c.with_key(c.broker.rotate(issued, overlap_s=60), login_id)
    found = value_of(new.place(key, **body).body or {}, "id")
    expect(
        found == order["id"], f"The new API key was given order {found}; the old one placed {order['id']}."
    )


@check("orders.key.other-account", need=Need.DESK, orders=2)
def another_account_has_its_own_keys(c: Context) -> None:
    key = str(uuid4())
    ids = {value_of(c.new_client().placed(key), "id") for _ in range(2)}
    expect(len(ids) == 2, "Two accounts sent the same Idempotency-Key and were given one order.")


@check("idempotency.findable")
def an_order_is_found_by_its_reference(c: Context) -> None:
    found = c.once(gold_buy)
    references = {order["id"]: order.get("client_order_id") for order in found.client.everything()}
    shown = references.get(found.order["id"])
    expect(
        shown == found.sent["client_order_id"],
        f"The list has the order with client_order_id {shown!r}; {found.sent['client_order_id']!r} was sent.",
    )
