"""The budgets: how many calls are taken, and what comes after. These use budgets up, so they run last."""

from collections.abc import Callable
from uuid import uuid4

from bullion_conformance.check import Need, Phase, check
from bullion_conformance.checks.errors import used_up
from bullion_conformance.client import Client, refused
from bullion_conformance.connection import TOO_MANY
from bullion_conformance.context import WIDE, Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.verdict import expect

READS, ORDERS, ORDERS_IN_TEN, OF_ACCOUNT, FAILURES = 300, 60, 10, 60, 20
_SURELY_COUNTED_S, _MINUTE_S = 45, 61


def _taken(call: Callable[[], Exchange], most: int) -> int:
    """How many calls are taken before one is refused for its budget; it tries one more than `most`."""
    for number in range(most + 1):
        answer = call()
        if answer.status == TOO_MANY:
            refused(answer, "rate_limited")
            _told_when(answer)
            return number
    return most + 1


def _told_when(answer: Exchange) -> None:
    found = answer.headers.get("retry-after")
    expect(found is not None, f"{answer.call} answered {answer.reply} without Retry-After.")


def _expect_budget(found: int, default: int, what: str) -> None:
    more = "more than " if found > default else ""
    expect(
        found == default, f"By default {default} {what} are taken; here it was {more}{min(found, default)}."
    )


def _not_of(answer: Exchange) -> None:
    """The budget is the key's: another key of the account has its own."""
    expect(answer.status != TOO_MANY, f"One key used its budget up, and another was answered {answer.reply}.")


@check("limits.reads", need=Need.DESK, phase=Phase.BURNS)
def reads_a_minute(c: Context) -> None:
    client = c.new_client()
    with c.budgets():
        _expect_budget(_taken(client.me, READS), READS, "reads a minute")
        _not_of(c.new_client("test", client.account).me())


@check("limits.orders.ten-seconds", need=Need.DESK, phase=Phase.BURNS, orders=11)
def orders_in_ten_seconds(c: Context) -> None:
    client = c.new_client()
    with c.budgets():
        _expect_budget(_taken(_cheap(client), ORDERS_IN_TEN), ORDERS_IN_TEN, "orders in ten seconds")
        _not_of(c.new_client("test", client.account).place())


@check("limits.orders.minute", need=Need.DESK, phase=Phase.BURNS, orders=61)
def orders_a_minute(c: Context) -> None:
    client = c.new_client()
    with c.budgets(orders_per_10_seconds=WIDE):
        _expect_budget(_taken(_cheap(client), ORDERS), ORDERS, "orders a minute")


@check("limits.orders.account", need=Need.PRODUCTION, phase=Phase.BURNS, orders=61)
def orders_of_all_keys_a_minute(c: Context) -> None:
    login_id = c.broker.account()
    clients = [c.new_client("production", login_id) for _ in range(2)]
    turns = iter(range(OF_ACCOUNT + 1))

    def in_turn() -> Exchange:
        return _cheap(clients[next(turns) % 2])()

    with c.budgets(orders_per_10_seconds=WIDE):
        _expect_budget(_taken(in_turn, OF_ACCOUNT), OF_ACCOUNT, "orders a minute from an account's two keys")


def _cheap(client: Client) -> Callable[[], Exchange]:
    """An order that is counted and refused: a symbol that nobody has."""
    return lambda: client.place(symbol_code="NOWHERE")


@check("limits.failed-auth", "auth.throttled", need=Need.DESK, phase=Phase.BURNS, refusals=20)
def failures_a_minute(c: Context) -> None:
    """What failed from here a moment ago counts too: it is allowed for, or waited for."""
    client, default = c.new_client(), c.broker.budgets["failed_auth_per_minute"]
    expect(
        default == FAILURES,
        f"By default {default} failed authentications a minute pass; expected {FAILURES}.",
    )
    ages = c.connection.pace.refusal_ages_s()
    if ages and ages[0] > _SURELY_COUNTED_S:
        c.sleep(_MINUTE_S - ages[-1])
        ages = []
    taken = _failures_taken(c, client, default + len(ages))
    if taken < FAILURES:  # Somebody else failed from this address, which is nobody's fault.
        c.sleep(_MINUTE_S)
        taken = _failures_taken(c, client, default)
    expect(
        taken == FAILURES, f"By default {FAILURES} failed authentications a minute pass; here it was {taken}."
    )


def _failures_taken(c: Context, client: Client, budget: int) -> int:
    """How many failures were answered 401, up to the default; after them a good key must not help."""
    with c.budgets(failed_auth_per_minute=budget):
        for number in range(FAILURES):
            if client.me_as("not-a-key").status == TOO_MANY:
                return number
        answer = client.me()
        refused(answer, "auth_throttled")
        _told_when(answer)
    return FAILURES


@check("idempotency.replay-counts", need=Need.DESK, phase=Phase.BURNS, orders=4)
def replays_are_counted(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    body = client.order_body()
    with c.budgets(orders_per_10_seconds=3):
        client.placed(key, **body)
        for _ in range(2):
            client.place(key, **body)
        refused(client.place(key, **body), "rate_limited")


@check("read.free-of-order-budget", need=Need.DESK, phase=Phase.BURNS, orders=2)
def reads_take_no_orders(c: Context) -> None:
    client = c.new_client()
    with c.budgets(orders_per_10_seconds=2):
        order = client.placed()
        for _ in range(5):
            client.read(order["id"])
        client.placed()


@check("limits.retry", need=Need.DESK, phase=Phase.BURNS, orders=3, waits_s=5.0)
def the_same_key_after_the_wait(c: Context) -> None:
    found = c.once(used_up)
    wait = found.answer.headers.get("retry-after", "")
    expect(wait.isdigit() and 0 < int(wait) <= 10, f"Retry-After is {wait!r} for a budget of 10 seconds.")
    c.sleep(found.at + int(wait) + 0.1 - c.clock())
    with c.budgets(orders_per_10_seconds=2):
        found.client.placed(found.idempotency_key, **found.body)
