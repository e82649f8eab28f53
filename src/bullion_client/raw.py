"""A result together with its HTTP response: `client.with_raw_response.buy(…)`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

import httpx

from bullion_client.models import OrderT_co
from bullion_client.responses import request_id

if TYPE_CHECKING:
    from bullion_client.async_client import AsyncClient
    from bullion_client.client import Client

_Options = ParamSpec("_Options")
_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)


@dataclass(frozen=True, slots=True)
class RawResponse(Generic[_Result_co]):
    """What a call returned, and the response that it was read from: of several tries, the last."""

    value: _Result_co
    """What the call returns otherwise."""

    http_response: httpx.Response = field(repr=False)
    """The whole response. Its request has the API key in its headers: do not log that."""

    @property
    def status(self) -> int:
        """The HTTP status. For an order: 201 if it is new, 202 if it is also pending, 200 if it was there."""
        return self.http_response.status_code

    @property
    def headers(self) -> httpx.Headers:
        """The headers of the response."""
        return self.http_response.headers

    @property
    def request_id(self) -> str | None:
        """The service's id of the request: quote it to the operator."""
        return request_id(self.http_response)

    @property
    def replayed(self) -> bool:
        """Whether an order was placed by an earlier try: `Idempotent-Replayed`."""
        return bool(self.headers.get("Idempotent-Replayed") == "true")


class RawCalls(Generic[OrderT_co]):
    """The calls of a client that have one response; each returns a `RawResponse`."""

    def __init__(
        self,
        client: "Client[OrderT_co]",
        recorded: Callable[[list[httpx.Response]], "Client[OrderT_co]"],
    ) -> None:
        def raw(call: Callable[_Options, _Result]) -> Callable[_Options, RawResponse[_Result]]:
            @wraps(call)
            def with_response(*arguments: _Options.args, **options: _Options.kwargs) -> RawResponse[_Result]:
                responses: list[httpx.Response] = []
                bound: Callable[_Options, _Result] = getattr(recorded(responses), call.__name__)
                value = bound(*arguments, **options)
                return RawResponse(value, responses[-1])

            return with_response

        self.me = raw(client.me)
        self.symbols = raw(client.symbols)
        self.quotes = raw(client.quotes)
        self.quote = raw(client.quote)
        self.place = raw(client.place)
        self.buy = raw(client.buy)
        self.sell = raw(client.sell)
        self.resume = raw(client.resume)
        self.order = raw(client.order)
        self.order_page = raw(client.order_page)
        self.positions = raw(client.positions)
        self.event_page = raw(client.event_page)


class AsyncRawCalls(Generic[OrderT_co]):
    """The calls of an asynchronous client that have one response; each returns a `RawResponse`."""

    def __init__(
        self,
        client: "AsyncClient[OrderT_co]",
        recorded: Callable[[list[httpx.Response]], "AsyncClient[OrderT_co]"],
    ) -> None:
        def raw(
            call: Callable[_Options, Awaitable[_Result]],
        ) -> Callable[_Options, Awaitable[RawResponse[_Result]]]:
            @wraps(call)
            async def with_response(
                *arguments: _Options.args, **options: _Options.kwargs
            ) -> RawResponse[_Result]:
                responses: list[httpx.Response] = []
                bound: Callable[_Options, Awaitable[_Result]] = getattr(recorded(responses), call.__name__)
                value = await bound(*arguments, **options)
                return RawResponse(value, responses[-1])

            return with_response

        self.me = raw(client.me)
        self.symbols = raw(client.symbols)
        self.quotes = raw(client.quotes)
        self.quote = raw(client.quote)
        self.place = raw(client.place)
        self.buy = raw(client.buy)
        self.sell = raw(client.sell)
        self.resume = raw(client.resume)
        self.order = raw(client.order)
        self.order_page = raw(client.order_page)
        self.positions = raw(client.positions)
        self.event_page = raw(client.event_page)
