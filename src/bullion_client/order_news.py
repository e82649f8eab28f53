"""News about one order, by long polling of the events, so that nobody has to poll the order.

The events only say when to look: the order itself is read each time. The position among the events is taken
before the order is read, so a change cannot fall between the two.
"""

from bullion_client.calls import log
from bullion_client.errors import BullionError, EventsGone, Refusal, UnexpectedAnswer
from bullion_client.event_calls import HOLD_S, EventCalls
from bullion_client.event_feed import STREAM_AGAIN_S
from bullion_client.event_models import EventPage, OrderEvent
from bullion_client.flow import Flow, now
from bullion_client.paths import EVENT_LIMIT_MAX

_SHORTEST_HOLD_S = 1
_ANSWER_S = 1
"""The part of the time left that is kept for the response."""


class OrderNews:
    """Waits for events of one order. It gives up for good at the first failure: then the order is polled."""

    def __init__(self, calls: EventCalls, order_id: str) -> None:
        self._calls = calls
        self._support = calls.support
        self._order_id = order_id
        self._position: int | None = None
        self._usable = True

    def wait(self, left_s: float) -> Flow[bool]:
        """Return true when it is time to read the order, and false if the events cannot tell."""
        hold_s = min(HOLD_S, int(min(left_s, HOLD_S + _ANSWER_S)) - _ANSWER_S)
        moment = yield from now()
        if not self._usable or hold_s < _SHORTEST_HOLD_S or moment.seconds < self._support.list_again_at:
            return False
        try:
            if self._position is None:
                self._position = yield from self._first_position(left_s)
                return True
            return (yield from self._hear(hold_s, left_s))
        except EventsGone as gone:
            # Whatever was in between: the order is read next.
            self._position = gone.newest
            self._usable = gone.newest is not None
            return self._usable
        except BullionError as error:
            log.debug("the order is polled, because of the events: %s", str(error))
            self._usable = False
            if isinstance(error, UnexpectedAnswer) or (isinstance(error, Refusal) and error.status < 429):
                ended = yield from now()
                self._support.list_again_at = ended.seconds + STREAM_AGAIN_S
            return False

    def _first_position(self, left_s: float) -> Flow[int]:
        moment = yield from now()
        known = self._support.recent_position(moment.seconds)
        if known is not None:
            return known
        tries = self._calls.tries(moment.seconds, 0.0, min(self._calls.timeout_s, left_s))
        return (yield from self._calls.newest(tries))

    def _hear(self, hold_s: int, left_s: float) -> Flow[bool]:
        """Let the service hold a call until there are events; true if it was held, or one is of the order."""
        began = yield from now()
        heard = False
        while not heard:
            moment = yield from now()
            held_s = moment.seconds - began.seconds
            rest_s = int(hold_s - held_s)
            if rest_s < _SHORTEST_HOLD_S:
                return True
            page = yield from self._page(rest_s, left_s - held_s)
            ended = yield from now()
            self._position = page.next_after
            self._support.note_position(page.next_after, ended.seconds)
            heard = any(
                isinstance(event, OrderEvent) and event.data.id == self._order_id for event in page.items
            )
            if not page.items:
                # A service that does not hold the call would be asked without a pause.
                self._usable = ended.seconds - moment.seconds >= rest_s / 2
                return self._usable
        return True

    def _page(self, hold_s: int, left_s: float) -> Flow[EventPage]:
        moment = yield from now()
        answer_s = min(self._calls.timeout_s, max(left_s - hold_s, _ANSWER_S))
        tries = self._calls.tries(moment.seconds, 0.0, answer_s)
        return (yield from self._calls.page(self._position, EVENT_LIMIT_MAX, hold_s).once(tries))
