"""Events: what happened to an account, in the list that clients read on from."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, Client, body_of, invalid, refused
from bullion_conformance.context import Context
from bullion_conformance.samples import deals
from bullion_conformance.shapes import instant, text_of, value_of, values_of, whole
from bullion_conformance.verdict import expect, expect_equal

Event = dict[str, Any]

_WAIT_S, _SOON_S = 10, 5.0
_SHORT_S = 1


def events_after(client: Client, after: int, limit: int = 200) -> list[Event]:
    """Every event after that number, page by page."""
    found: list[Event] = []
    while True:
        page = body_of(client.events(after=after, limit=limit), OK)
        items = values_of(page, "items")
        found.extend(items)
        after = whole(value_of(page, "next_after"), "next_after")
        if not value_of(page, "has_more"):
            return found
        expect(bool(items), "`has_more` is true on an empty page: a client would ask for ever.")


@dataclass(slots=True)
class Told:
    """A new account with four test orders, and the events of these. Other checks may halt trading later."""

    client: Client
    orders: list[dict[str, Any]]
    events: list[Event]


def told(c: Context) -> Told:
    client = c.new_client()
    orders = [client.placed(client_order_id=f"event-{number}") for number in range(4)]
    return Told(client, orders, events_after(client, 0))


@check("bullion.events", need=Need.DESK, orders=4)
def events_are_numbered(c: Context) -> None:
    events = c.once(told).events
    expect_equal([event.get("number") for event in events], [1, 2, 3, 4], "The list of numbers")
    expect_equal({event.get("type") for event in events}, {"order.created"}, "The types of four test orders")
    expect_equal({event.get("environment") for event in events}, {"test"}, "`environment` of the events")
    expect(len({text_of(event, "id") for event in events}) == 4, "Two events have the same id.")
    times = [instant(value_of(event, "timestamp"), "timestamp") for event in events]
    expect(times == sorted(times), "An event is older than the one before it.")


@check("bullion.events.data", need=Need.DESK)
def events_have_the_order(c: Context) -> None:
    found = c.once(told)
    for order, event in zip(found.orders, found.events, strict=True):
        expect_equal(event.get("data"), order, f"`data` of event {event.get('number')}")
        expect_equal(
            event.get("data"), found.client.read(order["id"]), "`data`, against the order read by id,"
        )


@check("bullion.events.pages", need=Need.DESK)
def pages_follow_each_other(c: Context) -> None:
    client = c.once(told).client
    events = events_after(client, 0)
    expect_equal(events_after(client, 0, limit=1), events, "The list of events, one by one,")
    expect_equal(events_after(client, 2), events[2:], "The list of events after 2")
    page = body_of(client.events(after=len(events)), OK)
    found = [page.get(name) for name in ("items", "next_after", "has_more")]
    expect_equal(found, [[], len(events), False], "The page after the last")


@check("bullion.events.bounds", need=Need.DESK)
def parameters_have_bounds(c: Context) -> None:
    client = c.once(told).client
    for wrong in ({"after": -1}, {"after": "last"}, {"limit": 0}, {"limit": 201}, {"wait": 31}, {"wait": -1}):
        invalid(client.events(**wrong))


@check("bullion.events.gone", need=Need.DESK)
def numbers_beyond_the_newest_are_gone(c: Context) -> None:
    client = c.once(told).client
    newest = len(events_after(client, 0))
    answer = client.events(after=newest + 1)
    detail = refused(answer, "events_gone")
    expect_equal(answer.status, 410, "The status of events_gone")
    expect_equal((detail.get("oldest"), detail.get("newest")), (1, newest), "`oldest` and `newest`")


@check("bullion.events.wait", need=Need.DESK, orders=1, waits_s=float(_SHORT_S))
def calls_are_held(c: Context) -> None:
    client = c.new_client()
    empty = client.events(after=0, wait=_SHORT_S)
    expect_equal(body_of(empty, OK)["items"], [], "Events of an account to which nothing happened")
    held = f"A call with wait={_SHORT_S} was answered after {empty.seconds:.2f} s."
    expect(_SHORT_S <= empty.seconds < _SHORT_S + _SOON_S, held)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.events, after=0, wait=_WAIT_S)
        order = client.placed()
        answer = waiting.result()
    expect(answer.seconds < _SOON_S, f"An event was told after {answer.seconds:.2f} s of waiting.")
    expect_equal([event["data"] for event in body_of(answer, OK)["items"]], [order], "What was waited for")


# --- Production -----------------------------------------------------------------------------------------

_LIVES = {
    "open": ["order.created", "order.opened"],
    "closing": ["order.created", "order.opened", "order.closing"],
    "closed": ["order.created", "order.opened", "order.closing", "order.closed"],
    "lost": ["order.created", "order.opened", "order.closing", "order.closed"],
    "deleted": ["order.created", "order.opened", "order.deleted"],
    "web": ["order.opened"],
}
"""The events of the sample's orders. One that came from the web is told when it is confirmed."""


def lives(c: Context) -> dict[str, list[Event]]:
    """The events of the sample's account, by order."""
    events = events_after(c.once(deals).client, 0)
    numbers = [event.get("number") for event in events]
    expect_equal(numbers, list(range(1, len(events) + 1)), "The list of numbers")
    found: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        found[value_of(event, "data").get("id")].append(event)
    return found


@check("bullion.events.life", need=Need.PRODUCTION)
def each_change_is_an_event(c: Context) -> None:
    sample, found = c.once(deals), c.once(lives)
    for name, types in _LIVES.items():
        order = getattr(sample, name)
        events = found.get(order["id"], [])
        expect_equal(
            [event.get("type") for event in events], types, f"The list of events of an order ({name})"
        )
        expect_equal(events[-1]["data"], order, f"`data` of the last event of an order ({name})")
    rejected = found.get(sample.rejection.detail.get("order_id", ""), [])
    told_types = [event.get("type") for event in rejected]
    expect_equal(told_types, ["order.created", "order.rejected"], "The list of events of a rejected order")


@check("bullion.events.hidden", need=Need.PRODUCTION)
def hidden_orders_have_no_event(c: Context) -> None:
    expect(
        c.once(deals).web_rejected not in c.once(lives),
        "An order from the web that the hedge refused is hidden, but an event tells of it.",
    )


@check("bullion.events.news", need=Need.DESK, orders=1)
def desks_decisions_are_events(c: Context) -> None:
    login_id = c.broker.account()
    client = c.new_client("test", login_id)
    before = len(events_after(client, 0))
    c.broker.change(login_id, allocation={"gold": "5", "silver": "6"})
    with c.broker.switched({"halted": False}, halted=True):
        c.until(lambda: len(events_after(client, before)) >= 2, "A halt was not told within ten seconds.")
    c.until(
        lambda: len(events_after(client, before)) >= 3, "The end of a halt was not told within ten seconds."
    )
    events = events_after(client, before)
    types = ["allocation.changed", "trading.halted", "trading.resumed"]
    expect_equal([event.get("type") for event in events], types, "The list of events")
    limits = [events[0]["data"][metal]["limit"] for metal in ("gold", "silver")]
    expect_equal(limits, ["5.0000", "6.0000"], "The limits that the event tells")
    expect_equal([event["data"] for event in events[1:]], [{"halted": True}, {"halted": False}], "`data`")
