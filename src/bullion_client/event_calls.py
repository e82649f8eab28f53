"""The calls behind events, and what a client has learned about them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import httpx

from bullion_client.calls import Call, timeouts
from bullion_client.errors import EventsGone, UnexpectedAnswer
from bullion_client.event_models import EventPage
from bullion_client.event_reader import MISSING, read_event_page
from bullion_client.flow import Flow
from bullion_client.paths import event_number, events_path, with_query
from bullion_client.rate_limit import Pacer
from bullion_client.retry import Tries
from bullion_client.transport import Access

HOLD_S = 25
"""How long the service may hold a call for the list: shorter than the timeouts of most proxies."""
BEYOND = 2**53 - 1
"""A number that no event has: the refusal of it names the newest event."""
_RECENT_S = 60.0


@dataclass(slots=True)
class EventSupport:
    """What a client has learned about the events of its service. Shared by its feeds and its waits."""

    stream_works: bool = False
    """Whether a stream's first bytes came at once."""
    stream_again_at: float = 0.0
    """Before this time of the monotonic clock, the stream is not tried."""
    list_again_at: float = 0.0
    """Before this time, the list is not asked while waiting for an order."""
    _position: tuple[int, float] | None = None

    def note_position(self, number: int, seconds: float) -> None:
        """This event was the newest at that time."""
        self._position = number, seconds

    def recent_position(self, seconds: float) -> int | None:
        """The number of an event that was the newest not long ago, so that few events come after it."""
        if self._position is None or seconds - self._position[1] > _RECENT_S:
            return None
        return self._position[0]


@dataclass(slots=True)
class EventCalls:
    """The calls behind events, with the options of a client."""

    access: Access
    timeout_s: float
    deadline_s: float
    chance: Callable[[], float]
    pacer: Pacer | None
    support: EventSupport

    def page(self, after: int | None, limit: int, wait: int) -> Call[EventPage]:
        """A page of the list."""
        request = partial(self.access.request, "GET", events_path(after, limit, wait))
        # Other calls must not wait for what a call that is held will tell about the budget.
        pacer = None if wait else self.pacer
        return Call("reads", request, partial(read_event_page, after), pacer, float(wait))

    def newest(self, tries: Tries) -> Flow[int]:
        """The number of the newest event, 0 if there is none. The service tells it with a refusal."""
        call = self.page(BEYOND, 1, 0)
        try:
            page = yield from call.once(tries)
        except EventsGone as gone:
            if gone.newest is None:
                raise
            return gone.newest
        url = str(call.request().url)
        raise UnexpectedAnswer(
            f"it has no event {BEYOND}, and does not say so", MISSING, url, None, page.request_id
        )

    def stream_request(self, after: int | None, read_s: float) -> httpx.Request:
        """The request that opens the stream."""
        request = self.access.request("GET", with_query("/events/stream", after=event_number(after)))
        request.headers["Accept"] = "text/event-stream"
        request.headers["Cache-Control"] = "no-cache"
        request.extensions["timeout"] = timeouts(self.timeout_s, read_s)
        return request

    def tries(self, began: float, deadline_s: float, timeout_s: float | None = None) -> Tries:
        """The tries of one call."""
        return Tries(began, deadline_s, self.timeout_s if timeout_s is None else timeout_s, self.chance)
