"""Rate limits: how many calls are accepted, and what follows. They use budgets up, so they run last."""

from collections.abc import Callable
from uuid import uuid4

from bullion_conformance.check import Need, Phase, check
from bullion_conformance.checks.errors import used_up
from bullion_conformance.client import Client, refused
from bullion_conformance.connection import TOO_MANY
from bullion_conformance.context import WIDE, Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.verdict import expect, expect_equal

READS, ORDERS, ORDERS_IN_TEN, OF_ACCOUNT, FAILURES = 300, 60, 10, 60, 20
_SURELY_COUNTED_S, _MINUTE_S = 45, 61


def _accepted(call: Callable[[], Exchange], most: int) -> int:
    """How many calls are accepted before one is rate limited; it sends at most one more than `most`."""
    for number in range(most + 1):
        answer = call()
        if answer.status == TOO_MANY:
            refused(answer, "rate_limited")
            _has_retry_after(answer)
            return number
    return most + 1


def _has_retry_after(answer: Exchange) -> None:
    found = answer.headers.get("retry-after")
    expect(found is not None, f"{answer.call} answered {answer.reply} without Retry-After.")


def _expect_budget(found: int, default: int, what: str) -> None:
    more = "more than " if found > default else ""
    expect(found == default, f"{more}{min(found, default)} {what} were accepted; expected {default}.")


def _not_limited(answer: Exchange) -> None:
    """A budget belongs to a key: another key of the account has its own."""
    expect(answer.status != TOO_MANY, f"One key used up its budget, and another was answered {answer.reply}.")


@check("limits.reads", need=Need.DESK, phase=Phase.BURNS)
def reads_a_minute(c: Context) -> None:
    client = c.new_client()
    with c.budgets():
        _expect_budget(_accepted(client.me, READS), READS, "reads per minute")
        _not_limited(c.new_client("test", client.account).me())


@check("limits.orders.ten-seconds", need=Need.DESK, phase=Phase.BURNS, orders=11)
def orders_in_ten_seconds(c: Context) -> None:
    client = c.new_client()
    with c.budgets():
        _expect_budget(_accepted(_cheap(client), ORDERS_IN_TEN), ORDERS_IN_TEN, "orders in ten seconds")
        _not_limited(c.new_client("test", client.account).place())


@check("limits.orders.minute", need=Need.DESK, phase=Phase.BURNS, orders=61)
def orders_a_minute(c: Context) -> None:
    client = c.new_client()
    with c.budgets(orders_per_10_seconds=WIDE):
        _expect_budget(_accepted(_cheap(client), ORDERS), ORDERS, "orders per minute")


@check("limits.orders.account", need=Need.PRODUCTION, phase=Phase.BURNS, orders=61)
def orders_of_all_keys_a_minute(c: Context) -> None:
    login_id = c.broker.account()
    clients = [c.new_client("production", login_id) for _ in range(2)]
    turns = iter(range(OF_ACCOUNT + 1))

    def in_turn() -> Exchange:
        return _cheap(clients[next(turns) % 2])()

    with c.budgets(orders_per_10_seconds=WIDE):
        _expect_budget(
            _accepted(in_turn, OF_ACCOUNT), OF_ACCOUNT, "orders per minute from two keys of an account"
        )


def _cheap(client: Client) -> Callable[[], Exchange]:
    """An order that is counted and refused: its symbol does not exist."""
    return lambda: client.place(symbol_code="NOWHERE")


@check("limits.failed-auth", "auth.throttled", need=Need.DESK, phase=Phase.BURNS, refusals=20)
def failures_a_minute(c: Context) -> None:
    """Earlier failures from this address count too: they are added to the budget, or waited for."""
    client, default = c.new_client(), c.broker.budgets["failed_auth_per_minute"]
    expect_equal(default, FAILURES, "The default number of failed authentications per minute")
    ages = c.connection.pace.refusal_ages_s()
    if ages and ages[0] > _SURELY_COUNTED_S:
        c.sleep(_MINUTE_S - ages[-1])
        ages = []
    accepted = _accepted_failures(c, client, default + len(ages))
    if accepted < FAILURES:  # Another client failed from this address meanwhile.
        c.sleep(_MINUTE_S)
        accepted = _accepted_failures(c, client, default)
    expect_equal(accepted, FAILURES, "The number of failed authentications that passed in a minute")


def _accepted_failures(c: Context, client: Client, budget: int) -> int:
    """How many failures were answered 401, up to the default; after them a valid key must be throttled."""
    with c.budgets(failed_auth_per_minute=budget):
        for number in range(FAILURES):
            if client.me_as("not-a-key").status == TOO_MANY:
                return number
        answer = client.me()
        refused(answer, "auth_throttled")
        _has_retry_after(answer)
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


@check("bullion.refused-uncounted", need=Need.DESK, phase=Phase.BURNS, orders=4)
def a_429_does_not_count(c: Context) -> None:
    client, resets = c.new_client(), []
    with c.budgets(orders_per_10_seconds=1):
        client.placed()
        for _ in range(3):
            answer = client.place()
            refused(answer, "rate_limited")
            resets.append(int(answer.headers["ratelimit-reset"]))
    expect(resets == sorted(resets, reverse=True), f"Refused orders delay the reset: {resets}.")
