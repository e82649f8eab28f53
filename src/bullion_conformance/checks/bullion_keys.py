"""Rulings on keys, and on which fault is told first."""

from uuid import uuid4

from bullion_conformance.check import Need, Phase, check
from bullion_conformance.client import OK, body_of, refused
from bullion_conformance.context import Context
from bullion_conformance.samples import all_exchanges
from bullion_conformance.verdict import CheckFailed, expect


@check("bullion.header-twice", refusals=2)
def a_key_is_sent_once(c: Context) -> None:
    client = c.test()
    pair = ("X-API-Key", client.key)
    refused(c.connection.send("GET", f"{client.path}/me", headers=[pair, pair]), "malformed_credential")
    refused(client.me_as(""), "missing_credential")


@check("bullion.indistinct", need=Need.DESK, refusals=2)
def unknown_and_wrong_look_the_same(c: Context) -> None:
    one, other = c.new_client(), c.new_client()
    head, secret = one.key.rsplit(".", 1)
    wrong_secret = f"{head}.{other.key.rsplit('.', 1)[1]}"
    unknown_id = f"{head.rsplit('.', 1)[0]}.{'0' * 16}.{secret}"
    answers = [one.me_as(key) for key in (wrong_secret, unknown_id)]
    for answer in answers:
        refused(answer, "invalid_credential")
    expect(answers[0].text == answers[1].text, "An unknown key and a wrong secret are answered differently.")


@check("bullion.closed-before-body", need=Need.DESK, orders=2)
def closed_production_comes_first(c: Context) -> None:
    client = c.new_client("production", production_trading=False)
    refused(client.send(b"{}"), "production_trading_disabled")
    refused(client.place(quantity=0), "production_trading_disabled")


@check("bullion.gate-before-body", need=Need.DESK, orders=1, refusals=1)
def the_key_comes_first(c: Context) -> None:
    client = c.new_client()
    headers = {"X-API-Key": "not-a-key"}
    refused(
        c.connection.send("POST", f"{client.path}/orders", headers=headers, content=b"{"),
        "malformed_credential",
    )
    reader = c.new_client(key={"scopes": ["orders:read"]})
    refused(reader.send(b"{", str(uuid4())), "insufficient_scope")


@check("bullion.address", need=Need.DESK)
def a_key_for_other_addresses(c: Context) -> None:
    elsewhere = c.new_client(key={"allowed_addresses": ["203.0.113.7"]})
    answer = elsewhere.me()
    expect((answer.status, answer.code) == (403, "address_not_allowed"), f"It was answered {answer.reply}.")


@check("bullion.reads-while-closed", need=Need.DESK)
def production_is_read_while_closed(c: Context) -> None:
    client = c.new_client("production", production_trading=False)
    for answer in (client.me(), client.orders(), client.positions()):
        body_of(answer, OK)


@check("bullion.secrets", phase=Phase.OVER_ALL)
def no_answer_repeats_a_key(c: Context) -> None:
    seen = all_exchanges(c)
    c.connection.current[:] = c.connection.leaks or seen[-1:]
    for exchange in c.connection.leaks:
        raise CheckFailed(f"{exchange.call} repeats the secret of the key that was sent.")
