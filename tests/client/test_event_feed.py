"""A feed of events without time passing: breaks, silences, doubles, gaps, and where there is no stream."""

from typing import Any

import httpx
import pytest

from bullion_client import (
    AccessRefused,
    BullionError,
    CredentialRefused,
    EventsGone,
    NoAnswer,
    Unavailable,
    UnexpectedAnswer,
)
from bullion_client.event_calls import BEYOND
from bullion_client.event_feed import STREAM_AGAIN_S
from tests.client.event_samples import page
from tests.client.event_world import FIRST, EventWorld, Streamed, feed, numbers, streamed, told
from tests.client.scripted_network import answer, caller, refusal

GONE = refusal(410, "events_gone", oldest=3, newest=9)
BROKEN = httpx.RemoteProtocolError("peer closed connection")
NOT_FOUND = answer(404, {"detail": "Not Found"})


def asked(world: EventWorld) -> list[str]:
    """What the streams were opened with."""
    return [request.url.query.decode() for request in world.opened]


def listed(world: EventWorld) -> list[str]:
    return [request.url.query.decode() for request in world.sent]


def test_events_come_in_their_order_and_the_position_is_known() -> None:
    world = EventWorld([streamed(FIRST % 7, told(8) + told(9), told(10)[:30], told(10)[30:])])
    reading = feed()
    world.run(reading.open())
    assert (reading.position, asked(world)) == (7, [""])
    assert numbers(world, reading, 3) == [8, 9, 10]
    assert reading.position == 10
    request = world.opened[0]
    assert request.url.path == "/api/trading/v1/events/stream"
    assert request.headers["Accept"] == "text/event-stream"
    world.run(reading.close())
    assert world.closed == 1


@pytest.mark.parametrize("cut", [1, 20, 60, 200])
def test_after_a_break_it_goes_on_after_the_last_event(cut: int) -> None:
    whole = told(4)
    world = EventWorld(
        [streamed(FIRST % 2, told(3) + whole[:cut], BROKEN), streamed(FIRST % 3, whole, told(5))]
    )
    assert numbers(world, feed(2), 3) == [3, 4, 5]
    assert asked(world) == ["after=2", "after=3"]
    assert 0 < world.pauses[0] <= 1.0


def test_a_break_before_the_first_event_keeps_the_position() -> None:
    world = EventWorld([streamed(FIRST % 7, BROKEN), streamed(FIRST % 7, told(8))])
    assert numbers(world, feed(), 1) == [8]
    assert asked(world) == ["", "after=7"]


def test_a_position_that_never_came_is_not_made_up() -> None:
    world = EventWorld([streamed(b": \n\n", BROKEN), streamed(b": \n\n", told(8), told(9))])
    assert numbers(world, feed(), 2) == [8, 9]
    assert asked(world) == ["", ""]


def test_a_beginning_is_known_wherever_the_first_bytes_are_cut() -> None:
    stream = FIRST % 7 + told(8) + told(9)
    for cut in range(len(stream)):
        world = EventWorld([streamed(*(piece for piece in (stream[:cut], stream[cut:]) if piece))])
        assert numbers(world, feed(), 2) == [8, 9], cut


def test_events_that_come_again_are_dropped() -> None:
    world = EventWorld([streamed(FIRST % 2, told(3), told(3), told(1), told(4))])
    assert numbers(world, feed(2), 2) == [3, 4]


def test_a_gap_is_filled_from_the_list() -> None:
    world = EventWorld([streamed(FIRST % 2, told(3) + told(6) + told(7))], answer(200, page(4, 7)))
    assert numbers(world, feed(2), 5) == [3, 4, 5, 6, 7]
    assert listed(world) == ["after=3&limit=200&wait=25"]


def test_a_gap_in_the_list_as_well_is_an_error_and_no_event_is_given_out_of_order() -> None:
    world = EventWorld([streamed(FIRST % 2, told(3) + told(6))], answer(200, page(6, 6)))
    reading = feed(2)
    assert numbers(world, reading, 1) == [3]
    with pytest.raises(UnexpectedAnswer, match="after 3 comes 6"):
        world.run(reading.next())
    assert reading.position == 3


def test_a_dead_connection_is_noticed_and_a_heartbeat_keeps_one_alive() -> None:
    beats: list[Any] = [each for _ in range(10) for each in (15.0, b": \n\n")]
    world = EventWorld(
        [
            streamed(FIRST % 0, told(1), 100.0),  # On trial: a quiet one is replaced after a few seconds.
            streamed(FIRST % 1, *beats, told(2), 46.0, told(3)),
            streamed(FIRST % 2, told(3)),
        ]
    )
    assert numbers(world, feed(0), 3) == [1, 2, 3]
    assert asked(world) == ["after=0", "after=1", "after=2"]
    assert [request.extensions["timeout"]["read"] for request in world.opened] == [5.0, 45.0, 45.0]
    assert world.pauses == [1.0]


def test_a_proxy_that_begins_to_buffer_is_noticed_as_well() -> None:
    world = EventWorld(
        [streamed(FIRST % 2, told(3), BROKEN), streamed(60.0), streamed(60.0)], answer(200, page(4, 4))
    )
    assert numbers(world, feed(2), 2) == [3, 4]
    assert [request.extensions["timeout"]["read"] for request in world.opened] == [5.0, 45.0, 5.0]


def test_what_one_stream_has_shown_the_next_one_of_the_client_knows() -> None:
    client = caller()
    world = EventWorld([streamed(FIRST % 0), streamed(FIRST % 0)])
    for _ in range(2):
        world.run(client._event_feed(0, 60, None).open())
    assert [request.extensions["timeout"]["read"] for request in world.opened] == [5.0, 45.0]


@pytest.mark.parametrize(
    "missing",
    [
        NOT_FOUND,
        refusal(404, "not_found"),
        refusal(405, "method_not_allowed"),
        refusal(429, "too_many_streams", retry_after=60),
        Streamed([b"<html>"], kind="text/html"),
        answer(502, b"<html>"),
        streamed(6.0, FIRST % 2),
        httpx.ReadTimeout(""),
        streamed(b"x" * 5_000_000),
        streamed(b"data: [1]\n\n"),
        streamed(b"data: {\n\n"),
    ],
    ids=[
        "404",
        "404 with a code",
        "405",
        "too many",
        "a page",
        "a proxy's error",
        "a proxy that buffers",
        "a proxy that keeps the head",
        "no end",
        "no event",
        "no JSON",
    ],
)
def test_where_there_is_no_stream_the_list_is_asked(missing: Any) -> None:
    world = EventWorld([missing], answer(200, page(3, 3)), answer(200, page(4, 5)))
    assert numbers(world, feed(2), 3) == [3, 4, 5]
    assert listed(world) == ["after=2&limit=200", "after=3&limit=200&wait=25"]
    assert world.sent[1].extensions["timeout"]["read"] == 35.0


def test_without_a_stream_a_beginning_is_asked_for() -> None:
    world = EventWorld([NOT_FOUND], GONE, answer(200, page(10, 10)))
    reading = feed()
    world.run(reading.open())
    assert reading.position == 9
    assert numbers(world, reading, 1) == [10]
    assert listed(world) == [f"after={BEYOND}&limit=1", "after=9&limit=200&wait=25"]


def test_the_stream_is_tried_again_later() -> None:
    def held(request: httpx.Request) -> httpx.Response:
        world.seconds += 25
        return answer(200, page(3, 2))

    world = EventWorld([NOT_FOUND, streamed(FIRST % 2, told(3))], held)
    assert numbers(world, feed(2), 1) == [3]
    assert len(world.sent) == STREAM_AGAIN_S / 25
    assert len(world.opened) == 2


def test_a_list_that_is_not_held_is_not_asked_without_a_pause() -> None:
    world = EventWorld([NOT_FOUND], *[answer(200, page(3, 2))] * 3, answer(200, page(3, 3)))
    assert numbers(world, feed(2), 1) == [3]
    assert world.pauses == [2.0, 2.0]


def test_with_neither_it_says_so() -> None:
    with pytest.raises(UnexpectedAnswer, match="status 404"):
        EventWorld([NOT_FOUND], NOT_FOUND).run(feed(2).next())


@pytest.mark.parametrize(
    ("refused", "kind"),
    [
        (GONE, EventsGone),
        (refusal(401, "credential_revoked"), CredentialRefused),
        (refusal(403, "insufficient_scope"), AccessRefused),
    ],
    ids=["gone", "revoked", "scope"],
)
def test_a_refusal_that_stays_is_raised(refused: httpx.Response, kind: type[BullionError]) -> None:
    world = EventWorld([streamed(FIRST % 2, told(3)), refused])
    reading = feed(2)
    assert numbers(world, reading, 1) == [3]
    with pytest.raises(kind) as caught:
        world.run(reading.next())
    if isinstance(caught.value, EventsGone):
        assert (caught.value.oldest, caught.value.newest) == (3, 9)
        assert "Read the orders and positions again" in str(caught.value)
    assert world.sent == []


def test_the_services_own_end_is_followed_by_its_refusal() -> None:
    end = b'event: end\ndata: {"code": "credential_revoked", "message": "No."}\n\n'
    world = EventWorld([streamed(FIRST % 2, told(3) + end), refusal(401, "credential_revoked")])
    reading = feed(2)
    assert numbers(world, reading, 1) == [3]
    with pytest.raises(CredentialRefused):
        world.run(reading.next())


def test_an_outage_is_waited_out_with_longer_and_longer_pauses() -> None:
    down = [refusal(503, "service_unavailable")] * 8
    world = EventWorld([streamed(FIRST % 2, told(3)), *down, streamed(FIRST % 3, told(4))])
    assert numbers(world, feed(2), 2) == [3, 4]
    assert world.pauses == [1.0, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0, 15.0]


def test_retry_after_is_obeyed() -> None:
    world = EventWorld([refusal(429, "rate_limited", retry_after=9), streamed(FIRST % 2, told(3))])
    assert numbers(world, feed(2), 1) == [3]
    assert world.pauses == [9.25]


def test_a_service_that_cuts_every_connection_at_once_is_not_stormed() -> None:
    world = EventWorld([*[streamed(FIRST % 2) for _ in range(6)], streamed(FIRST % 2, told(3))])
    assert numbers(world, feed(2), 1) == [3]
    assert world.pauses == [1.0, 1.0, 2.0, 4.0, 8.0, 15.0]


def test_the_first_connection_has_the_deadline_of_the_client() -> None:
    world = EventWorld([httpx.ConnectError("refused")] * 20)
    with pytest.raises(NoAnswer):
        world.run(feed(2, first=10.0).open())
    assert 5 < world.seconds - 1000 < 10


def test_once_it_was_connected_the_first_deadline_is_over() -> None:
    down: list[Any] = [refusal(503, "service_unavailable")] * 5
    world = EventWorld([*down, streamed(FIRST % 2), *down, *down, streamed(FIRST % 2, told(3))])
    assert numbers(world, feed(2, first=30.0), 1) == [3]
    assert world.seconds - 1000 > 60


def test_later_breaks_have_a_deadline_of_their_own() -> None:
    down = [refusal(503, "service_unavailable")] * 50
    world = EventWorld([streamed(FIRST % 2, told(3)), *down])
    reading = feed(2, deadline=100.0, first=1.0)
    assert numbers(world, reading, 1) == [3]
    with pytest.raises(Unavailable):
        world.run(reading.next())
    assert 80 < world.seconds - 1000 < 101
    # It can be asked again: nothing was lost.
    world.streams = [streamed(FIRST % 3, told(4))]
    assert numbers(world, reading, 1) == [4]


def test_a_wait_that_was_interrupted_loses_nothing() -> None:
    first = streamed(FIRST % 2, told(3), told(4), told(5))
    world = EventWorld([first, streamed(FIRST % 3, told(4))])
    reading = feed(2)
    assert numbers(world, reading, 1) == [3]
    flow = reading.next()
    flow.send(None)  # now
    flow.send(world.now())  # A read of the connection begins, and what it reads is lost.
    first.pieces.pop(0)
    flow.close()
    assert numbers(world, reading, 1) == [4]
    assert (asked(world), world.closed) == (["after=2", "after=3"], 1)


def test_a_stream_that_is_open_is_kept_when_another_finds_none() -> None:
    client = caller()
    world = EventWorld([streamed(FIRST % 2, told(3), told(4)), NOT_FOUND], answer(200, page(8, 8)))
    first, second = (client._event_feed(after, 60, None) for after in (2, 7))
    assert numbers(world, first, 1) == [3]
    assert numbers(world, second, 1) == [8]
    assert numbers(world, first, 1) == [4]
    assert len(world.sent) == 1


@pytest.mark.parametrize(("after", "kind"), [(-1, ValueError), (True, TypeError), ("7", TypeError)])
def test_an_after_that_is_none(after: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="after must be the number of an event"):
        feed(after)


def test_a_call_that_is_held_does_not_hold_up_the_pace_of_others() -> None:
    calls = caller(pace=True)._event_calls(None)
    assert calls.page(1, 1, 0).pacer is not None
    assert calls.page(1, 1, 25).pacer is None
