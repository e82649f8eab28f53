"""The base of both clients: every call as a flow."""

import copy
import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Generic, NoReturn, Self, TypeAlias, TypeVar, cast

import httpx

from bullion_client.calls import Call, log, read_until_answered
from bullion_client.enums import Environment, TradeType
from bullion_client.errors import BullionError, NotPlaced, OrderRejected, OutcomeUnknown, Refusal
from bullion_client.event_calls import EventCalls, EventSupport
from bullion_client.event_feed import EventFeed
from bullion_client.event_models import EventPage
from bullion_client.flow import Flow, NotSentError, now, run_function
from bullion_client.intent import Intent, check_intent, make_intent
from bullion_client.journal import Journal
from bullion_client.models import (
    Account,
    Order,
    OrderPage,
    OrderT_co,
    Positions,
    ProductionOrder,
    Quote,
    Symbol,
    TestOrder,
)
from bullion_client.numbers import Number
from bullion_client.order_news import OrderNews
from bullion_client.paths import order_path, with_query
from bullion_client.placing import Doubt, is_settled, place_until_settled, question_about
from bullion_client.polling import wait_until_decided
from bullion_client.rate_limit import Pacer
from bullion_client.responses import Answer, read, read_page, read_quote, read_quotes, unexpected
from bullion_client.retry import Tries, check_seconds, judge_read
from bullion_client.transport import Access
from bullion_client.webhook_calls import WebhookFlows

_Value = TypeVar("_Value")
Headers: TypeAlias = Mapping[str, str] | None

_WAITS_OF_A_TRY = 4
"""A try waits for the pool, the connection, the sending and the response, each up to the timeout."""
_PAGE_LIMIT_MAX = 200


@dataclass(slots=True)
class _JournalAccount:
    """The account of the journal; a client and the clients made from it find it out once."""

    login: str | None
    bound: bool = False


class BaseClient(Generic[OrderT_co]):
    """A client without its network: the address, the retries, and a flow for each call."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        deadline: float,
        journal: Journal | None,
        *,
        pace: bool,
        environment: Environment | str | None = None,
        headers: Mapping[str, str] | None = None,
        application: str | None = None,
    ) -> None:
        self._access = Access.of(base_url, api_key, application).with_headers(headers)
        self._access_of_client = self._access
        _check_environment(environment, self._access.environment)
        kind = TestOrder if self.environment == Environment.TEST else ProductionOrder
        self._order_kind = cast("type[OrderT_co]", kind)
        self._timeout = check_seconds("timeout", timeout)
        self._deadline = check_seconds("deadline", deadline)
        self._pacer = Pacer() if pace else None
        self._journal = journal
        self._account = _JournalAccount(None if journal is None else journal.account)
        self._chance: Callable[[], float] = random.random
        self._event_support = EventSupport()
        self._owns_connections = True
        self._responses: list[httpx.Response] | None = None
        """Every response of a call, if its caller wants to see them."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.environment} at {self._access.root}>"

    @property
    def environment(self) -> Environment:
        """The environment of the key. Every call goes there."""
        return self._access.environment

    def with_options(
        self,
        *,
        timeout: float | None = None,
        deadline: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """Return this client with other options. What is not given stays, and headers are added.

        Both share connections, pace and journal. Close the first one: closing the new one does nothing.
        """
        other = copy.copy(self)
        vars(other).update(
            _access=self._access.with_headers(headers),
            _timeout=self._timeout if timeout is None else check_seconds("timeout", timeout),
            _deadline=self._deadline if deadline is None else check_seconds("deadline", deadline),
            _owns_connections=False,
        )
        return other

    def _recorded(self, responses: list[httpx.Response]) -> Self:
        """This client for one call whose responses are kept."""
        other = self.with_options()
        vars(other).update(_responses=responses)
        return other

    def _note(self, response: httpx.Response) -> httpx.Response:
        if self._responses is not None:
            self._responses.append(response)
        return response

    # --- Reading ------------------------------------------------------------------------------------------

    def _me(self, headers: Headers = None) -> Flow[Account]:
        return self._read("/me", partial(read, Account), headers)

    def _symbols(self, headers: Headers = None) -> Flow[tuple[Symbol, ...]]:
        return self._read("/symbols", lambda answer: answer.values("items", Symbol), headers)

    def _quotes(self, symbol_code: str | None, headers: Headers = None) -> Flow[tuple[Quote, ...]]:
        path = with_query("/quotes", symbol_code=symbol_code)
        return self._read(path, partial(read_quotes, symbol_code), headers)

    def _quote(self, symbol_code: str, headers: Headers = None) -> Flow[Quote]:
        if not isinstance(symbol_code, str):
            raise TypeError(f"symbol_code must be a string, not {type(symbol_code).__name__}")
        path = with_query("/quotes", symbol_code=symbol_code)
        return self._read(path, partial(read_quote, symbol_code), headers)

    def _positions(self, headers: Headers = None) -> Flow[Positions]:
        return self._read("/positions", partial(read, Positions), headers)

    def _order(self, order_id: str, headers: Headers = None) -> Flow[OrderT_co]:
        return self._read(order_path(order_id), partial(read, self._order_kind), headers)

    def _order_page(
        self, limit: int, offset: int, filters: dict[str, str | None], headers: Headers = None
    ) -> Flow[OrderPage[OrderT_co]]:
        if not 1 <= limit <= _PAGE_LIMIT_MAX:
            raise ValueError(f"limit must be from 1 to {_PAGE_LIMIT_MAX}")
        if offset < 0:
            raise ValueError("offset must be at least 0")
        path = with_query("/orders", limit=str(limit), offset=str(offset), **filters)
        return self._read(path, partial(read_page, self._order_kind), headers)

    def _wait(self, order: Order | str, timeout: float, headers: Headers = None) -> Flow[OrderT_co]:
        order_id = order.id if isinstance(order, Order) else order
        path = order_path(order_id)
        begun = cast("OrderT_co | str", order)
        news = OrderNews(self._event_calls(headers), order_id)

        def read_once(left_s: float) -> Flow[OrderT_co]:
            """Try once, for no longer than the time that is left."""
            moment = yield from now()
            tries = Tries(moment.seconds, 0.0, min(self._timeout, max(left_s, 1.0)), self._chance)
            call = self._reading(path, partial(read, self._order_kind), headers)
            return (yield from read_until_answered(call, tries))

        seconds = check_seconds("timeout", timeout)
        return wait_until_decided(begun, seconds, read_once, news.wait, self._chance)

    # --- Events -------------------------------------------------------------------------------------------

    def _event_page(
        self, after: int | None, limit: int, wait: int, headers: Headers = None
    ) -> Flow[EventPage]:
        call = self._event_calls(headers).page(after, limit, wait)
        tries = yield from self._tries(None)
        return (yield from read_until_answered(call, tries))

    def _event_feed(self, after: int | None, deadline: float, headers: Headers) -> EventFeed:
        return EventFeed(self._event_calls(headers), after, check_seconds("deadline", deadline))

    def _webhook_flows(self) -> WebhookFlows:
        return WebhookFlows(self._access, self._pacer, partial(self._tries, None))

    def _event_calls(self, headers: Headers) -> EventCalls:
        access = self._access.with_headers(headers)
        return EventCalls(
            access, self._timeout, self._deadline, self._chance, self._pacer, self._event_support
        )

    def _read(self, path: str, read: Callable[[Answer], _Value], headers: Headers) -> Flow[_Value]:
        tries = yield from self._tries(None)
        return (yield from read_until_answered(self._reading(path, read, headers), tries))

    def _reading(self, path: str, read: Callable[[Answer], _Value], headers: Headers) -> Call[_Value]:
        request = partial(self._access.with_headers(headers).request, "GET", path)
        return Call("reads", request, read, self._pacer)

    # --- Placing ------------------------------------------------------------------------------------------

    def _place(
        self,
        symbol_code: str,
        trade_type: TradeType | str,
        quantity: Number,
        expected_price: Number | None,
        client_order_id: str | None,
        idempotency_key: str | None,
        deadline: float | None,
        headers: Headers = None,
    ) -> Flow[OrderT_co]:
        moment = yield from now()
        intent = make_intent(
            self.environment,
            str(uuid.uuid4()) if idempotency_key is None else idempotency_key,
            moment.utc,
            symbol_code,
            trade_type,
            quantity,
            expected_price,
            client_order_id,
        )
        if self._journal is not None and idempotency_key is not None:
            unsettled = yield from run_function(self._journal.unsettled)
            for earlier in unsettled:
                if earlier.idempotency_key == idempotency_key:  # It was sent before, so its doubt goes on.
                    intent = replace(intent, in_doubt=True, unanswered_until=earlier.unanswered_until)
        return (yield from self._settle(intent, deadline, headers))

    def _resume(self, intent: Intent, deadline: float | None, headers: Headers = None) -> Flow[OrderT_co]:
        self._check_intent_environment(intent)
        # The caller may have built the intent, so its fields are checked like new ones.
        return (yield from self._settle(check_intent(intent), deadline, headers))

    def _find(
        self, intent: Intent, deadline: float | None, headers: Headers = None
    ) -> Flow[OrderT_co | None]:
        self._check_intent_environment(intent)
        access = self._access.with_headers(headers)
        tries = yield from self._tries(deadline)
        intent = yield from self._check_account(check_intent(intent), tries)
        request = partial(_order_request, access, question_about(intent))
        question = Call("orders", request, _refuse, self._pacer)
        if not (yield from is_settled(question, intent, tries)):
            return None
        asked = yield from now()
        # A settled key stays so: now the same body can only be answered with its outcome. Until it is, there
        # may be an order.
        return (yield from self._place_and_record(access, intent, tries, Doubt(asked)))

    def _check_intent_environment(self, intent: Intent) -> None:
        if intent.environment != self.environment:
            raise ValueError(
                f"the intent is for {intent.environment}, and this client is for {self.environment}: "
                "there it would be a new order"
            )

    def _settle(self, intent: Intent, deadline: float | None, headers: Headers) -> Flow[OrderT_co]:
        access = self._access.with_headers(headers)
        tries = yield from self._tries(deadline)
        intent = yield from self._check_account(intent, tries)
        begun = yield from now()
        # From earlier tries of the intent; the tries of this call add to it.
        doubt = Doubt.about(intent, begun)
        if self._journal is None:
            return (yield from self._place_and_record(access, intent, tries, doubt))
        longest = timedelta(seconds=min(tries.deadline_s + _WAITS_OF_A_TRY * self._timeout, 10**9))
        noted = replace(intent, in_doubt=True, unanswered_until=begun.utc + longest)
        try:
            yield from run_function(partial(self._journal.note, noted))
            return (yield from self._place_and_record(access, intent, tries, doubt))
        except BullionError:
            raise
        except BaseException as error:
            in_flight = tries.count > doubt.tries and not isinstance(error, NotSentError)
            if doubt.since is None and not in_flight:
                # As after `NotPlaced`. The flow may be closed already, so it cannot let a driver do this.
                self._record(self._journal, intent, "not_placed")
            raise

    def _place_and_record(
        self, access: Access, intent: Intent, tries: Tries, doubt: Doubt
    ) -> Flow[OrderT_co]:
        try:
            order = yield from place_until_settled(self._order_call(access, intent), intent, tries, doubt)
        except Refusal as refusal:
            order_id = refusal.order_id if isinstance(refusal, OrderRejected) else None
            yield from self._write_outcome(intent, "refused", code=refusal.code, order_id=order_id)
            raise
        except NotPlaced as error:
            # Nothing is booked, and the caller knows. Left unsettled, the next run would place it unasked.
            yield from self._write_outcome(intent, "not_placed", code=error.code)
            raise
        yield from self._write_outcome(intent, "order", order_id=order.id)
        return order

    def _order_call(self, access: Access, intent: Intent) -> Call[OrderT_co]:
        def read_placed(answer: Answer) -> OrderT_co:
            order = read(self._order_kind, answer)
            placed = (order.symbol_code, order.trade_type, order.quantity)
            if placed != (intent.symbol_code, intent.trade_type, intent.quantity):
                raise unexpected(answer.response, "with another order than was sent", "Ask the operator")
            return order

        return Call("orders", partial(_order_request, access, intent), read_placed, self._pacer)

    def _check_account(self, intent: Intent, tries: Tries) -> Flow[Intent]:
        """A key belongs to an account: sent for another one, it would book a second order there."""
        journal = self._journal
        if journal is None and intent.account is None:
            return intent
        known = self._account
        login = known.login
        if login is None:
            login = known.login = yield from self._read_login(intent, tries)
        if intent.account not in (None, login):
            raise ValueError(
                f"the intent is of the account {intent.account!r}, and this client's is {login!r}"
            )
        if journal is not None and not known.bound:
            yield from run_function(partial(journal.bind, self.environment, login))
            known.bound = True
        return replace(intent, account=login)

    def _asking_account(self) -> Call[Account]:
        # Without the headers of the call, which are for an order: there is no such scenario for an account.
        request = partial(self._access_of_client.request, "GET", "/me")
        return Call("reads", request, partial(read, Account), self._pacer)

    def _read_login(self, intent: Intent, tries: Tries) -> Flow[str]:
        reading = Tries(tries.began, tries.deadline_s, self._timeout, self._chance)
        try:
            account = yield from read_until_answered(self._asking_account(), reading)
        except BullionError as error:
            # This call sent no order, and learned nothing about earlier tries.
            if intent.in_doubt:
                raise OutcomeUnknown(intent, 0, error) from error
            if isinstance(error, Refusal) and not judge_read(error).again:
                error.intent = intent
                raise
            raise NotPlaced(intent, 0, error) from error
        return account.login_id

    def _write_outcome(self, intent: Intent, outcome: str, **more: str | None) -> Flow[None]:
        if self._journal is not None:
            yield from run_function(partial(self._record, self._journal, intent, outcome, **more))

    def _record(self, journal: Journal, intent: Intent, outcome: str, **more: str | None) -> None:
        try:
            journal.settle(intent, outcome=outcome, **more)
        except (OSError, ValueError) as error:
            # The caller still gets the outcome. If the order is resumed later, it is found again.
            log.warning("order %s is settled, but the journal failed: %r", intent.idempotency_key, error)

    def _tries(self, deadline: float | None) -> Flow[Tries]:
        seconds = self._deadline if deadline is None else check_seconds("deadline", deadline)
        moment = yield from now()
        return Tries(moment.seconds, seconds, self._timeout, self._chance)


def _check_environment(wanted: Environment | str | None, environment: Environment) -> None:
    if wanted is None or wanted == environment:
        return
    if wanted not in list(Environment):
        raise ValueError("environment must be 'test' or 'production'")
    raise ValueError(f"the key is for {environment}, and this client is only for {Environment(wanted)}")


def _order_request(access: Access, intent: Intent) -> httpx.Request:
    return access.request("POST", "/orders", intent.body(), intent.idempotency_key)


def _refuse(answer: Answer) -> NoReturn:
    raise unexpected(answer.response, "it accepted an order without a side", "Ask the operator")
