"""`GET {base}/events`: what happened to the account, also while the caller waits for it."""

from http import HTTPStatus

from bullion.events.event import EventsGone
from bullion.events.reader import EventReader
from bullion.events.watch import EventWatch
from bullion.keys.key import Scope
from bullion.refusals.catalogue import EVENTS_GONE
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.web.response import Response

from .gate import Gate, scope_message
from .list_query import read_event_query
from .orders import book_id_of
from .request import Request
from .wire.events import event_json


class Events:
    def __init__(self, reader: EventReader, watch: EventWatch, gate: Gate) -> None:
        self._reader = reader
        self._watch = watch
        self._gate = gate

    async def list_events(self, request: Request) -> Response:
        query = read_event_query(request.scope["query_string"])
        book_id = book_id_of(request)
        try:
            after = query.after
            if after is None:
                oldest, _ = await self._reader.range(book_id)
                after = oldest - 1
            events = await self._reader.read(book_id, after, query.limit + 1)
            if not events and query.wait_s and await self._watch.wait_beyond(book_id, after, query.wait_s):
                await self.check_again(request)
                events = await self._reader.read(book_id, after, query.limit + 1)
        except EventsGone as gone:
            raise events_gone(gone) from None
        page, more = events[: query.limit], len(events) > query.limit
        items = b",".join([event_json(event) for event in page])
        next_after = page[-1].number if page else after
        body = b'{"items":[%b],"next_after":%d,"has_more":%b}' % (
            items,
            next_after,
            b"true" if more else b"false",
        )
        return Response(HTTPStatus.OK.value, body)

    async def check_again(self, request: Request) -> None:
        """Raise if a caller that has waited would be refused now."""
        caller, call = request.caller, request.call
        key = caller.key
        # What it waited for may be the end of its own key, which memory does not show yet.
        await self._gate.look_up(key.key_id)
        found = self._gate.recheck(key.key_id, key.environment, call.address, Scope.ORDERS_READ)
        if isinstance(found, RefusalCode):
            if found.status == HTTPStatus.UNAUTHORIZED:
                await self._gate.count_failure(call, caller)
            raise RefusalError(found, scope_message(found, Scope.ORDERS_READ))


def events_gone(gone: EventsGone) -> RefusalError:
    return RefusalError(EVENTS_GONE, fields={"oldest": gone.oldest, "newest": gone.newest})
