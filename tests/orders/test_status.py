"""The states of an order and the ways between them, against the specification's table written out by hand."""

from itertools import product

import pytest

from bullion.orders.status import DETAILS, FINAL, HOLDING, TRANSITIONS, Event, Status

SPECIFIED = {
    ("pending", "confirm"): "open",
    ("pending", "refuse"): "rejected",
    ("open", "close"): "closing",
    ("closing", "complete"): "closed",
    # The specification does not say from where; the rulings have: whatever still holds a position.
    ("pending", "delete"): "deleted",
    ("open", "delete"): "deleted",
    ("closing", "delete"): "deleted",
}
STATUSES = ["filled", "pending", "open", "closing", "closed", "rejected", "deleted"]
EVENTS = ["confirm", "refuse", "close", "complete", "delete"]


def test_the_states_and_events_are_those_of_the_specification() -> None:
    assert [status.value for status in Status] == STATUSES
    assert [event.value for event in Event] == EVENTS


@pytest.mark.parametrize(("status", "event"), list(product(STATUSES, EVENTS)))
def test_every_event_leads_from_every_state_where_the_specification_has_it_lead(
    status: str, event: str
) -> None:
    to = TRANSITIONS[Event(event)].get(Status(status))
    assert (None if to is None else to.value) == SPECIFIED.get((status, event))


def test_nothing_leads_out_of_a_final_state_nor_back_into_the_first() -> None:
    assert {status.value for status in FINAL} == {"filled", "closed", "rejected", "deleted"}
    reached = {to for ways in TRANSITIONS.values() for to in ways.values()}
    assert reached.isdisjoint({Status.FILLED, Status.PENDING})


def test_pending_open_and_closing_orders_count_toward_the_net_position() -> None:
    assert {status.value for status in HOLDING} == {"filled", "pending", "open", "closing"}


def test_each_state_has_a_name_of_the_operators_own() -> None:
    assert DETAILS == {
        "filled": "SIMULATED",
        "pending": "HEDGE_WAIT",
        "open": "BOOKED",
        "closing": "CLOSE_REQUESTED",
        "closed": "SETTLED",
        "rejected": "HEDGE_REFUSED",
        "deleted": "REMOVED",
    }
    assert not {detail.lower() for detail in DETAILS.values()} & set(STATUSES)
