"""What an Idempotency-Key promises."""

from decimal import Decimal
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import CREATED, REPLAYED, Client, Literal, body_of, encoded, refused, replayed
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import gold_buy
from bullion_conformance.shapes import value_of
from bullion_conformance.verdict import expect, expect_equal

BODY = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}


def _replays(client: Client) -> None:
    key, body = str(uuid4()), client.order_body()
    order = client.placed(key, **body)
    answer = client.place(key, **body)
    replayed(answer, order)
    for name in ("symbol_code", "trade_type", "quantity", "price", "total", "status"):
        expect_equal(answer.body.get(name), order.get(name), f"`{name}` of the replay")


check("idempotency.replay", orders=2)(lambda c: _replays(c.test()))
check("idempotency.production.replay", need=Need.PRODUCTION, orders=2)(
    lambda c: _replays(c.new_client("production"))
)


@check("idempotency.replay.once", orders=4)
def one_order_however_often_it_is_sent(c: Context) -> None:
    client, key = c.test(), str(uuid4())
    body = client.order_body(client_order_id=f"conformance-{key[:8]}")
    before = client.listed()["total"]
    for _ in range(4):
        client.place(key, **body)
    added = client.listed()["total"] - before
    expect(added == 1, f"One order was sent four times; the account lists {added} more orders.")


@check("idempotency.fresh-not-marked")
def the_first_response_is_not_marked(c: Context) -> None:
    marked = c.once(gold_buy).answer.headers.get(REPLAYED)
    expect(marked != "true", "The first response to an order has Idempotent-Replayed: true.")


def _books_nothing(client: Client) -> Exchange:
    key, body = str(uuid4()), client.order_body()
    client.placed(key, **body)
    before, net = client.listed()["total"], client.position("gold")["net"]
    answer = client.place(key, **{**body, "quantity": Decimal(2) * client.symbol.quantity})
    expect_equal(client.listed()["total"], before, "After a reused key, the number of orders")
    expect_equal(client.position("gold")["net"], net, "After a reused key, `net`")
    return answer


check("idempotency.reused.nothing-booked", orders=2)(lambda c: _books_nothing(c.test()))
check("idempotency.production.reused", need=Need.PRODUCTION, orders=2)(
    lambda c: refused(_books_nothing(c.new_client("production")), "idempotency_key_reused")
)


@check("orders.key.per-account", need=Need.DESK, orders=2)
def a_key_survives_rotation(c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id)
    old, key = c.with_key(issued, login_id), str(uuid4())
    body = old.order_body()
    order = old.placed(key, **body)
    new = c.with_key(c.broker.rotate(issued, overlap_s=60), login_id)
    found = value_of(new.place(key, **body).body or {}, "id")
    expect_equal(found, order["id"], "The order of the new API key")


@check("orders.key.other-account", need=Need.DESK, orders=2)
def another_account_has_its_own_keys(c: Context) -> None:
    key = str(uuid4())
    ids = {value_of(c.new_client().placed(key), "id") for _ in range(2)}
    expect(len(ids) == 2, "Two accounts sent the same Idempotency-Key and got one order.")


@check("idempotency.findable")
def the_list_has_the_reference(c: Context) -> None:
    found = c.once(gold_buy)
    references = {order["id"]: order.get("client_order_id") for order in found.client.everything()}
    shown = references.get(found.order["id"])
    expect_equal(shown, found.sent["client_order_id"], "`client_order_id` of the order in the list")


@check("bullion.key-case", orders=2)
def keys_differ_in_case(c: Context) -> None:
    client, key = c.test(), f"a{uuid4().hex}"
    client.placed(key)
    client.placed(key.upper())


@check("bullion.same-value", need=Need.DESK, orders=4)
def bodies_are_compared_by_value(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    order = body_of(client.send(encoded(BODY), key), CREATED)
    for body in (
        {**BODY, "quantity": Literal("1.0")},
        dict(reversed(BODY.items())),
        {**BODY, "client_order_id": None, "expected_price": None},
    ):
        replayed(client.send(encoded(body), key), order)


@check("bullion.key-environment", need=Need.PRODUCTION, orders=2)
def environments_have_their_own_keys(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    client.placed(key)
    c.new_client("production", client.account).placed(key)


@check("bullion.moved-settles", orders=2)
def price_moved_settles_the_key(c: Context) -> None:
    client, key = c.test(), str(uuid4())
    body = client.order_body(expected_price=1)
    answers = client.place(key, **body), client.place(key, **body)
    for answer in answers:
        refused(answer, "price_moved")
    marked = [answer.headers.get(REPLAYED) for answer in answers]
    expect_equal(marked, [None, "true"], "Idempotent-Replayed of the two responses")


@check("bullion.refusal-frees", orders=2)
def a_refusal_leaves_the_key_free(c: Context) -> None:
    client, key = c.test(), str(uuid4())
    refused(client.place(key, symbol_code=f"NO-{key[:8]}"), "unknown_symbol")
    client.placed(key)


@check("bullion.replay-first", need=Need.DESK, orders=2)
def a_replay_while_halted(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    body = client.order_body()
    order = client.placed(key, **body)
    with c.broker.switched({"halted": False}, halted=True):
        replayed(client.place(key, **body), order)


@check("bullion.replay-while-closed", need=Need.PRODUCTION, orders=2)
def a_replay_while_closed(c: Context) -> None:
    client, key = c.new_client("production"), str(uuid4())
    body = client.order_body()
    order = client.placed(key, **body)
    with c.broker.switched({"production": True}, production=False):
        replayed(client.place(key, **body), order)
        expect_equal(client.read(order["id"])["status"], "open", "While production is closed, `status`")
