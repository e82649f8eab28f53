"""The base of both clients: every call as a flow."""

import random
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from urllib.parse import quote, urlencode

import httpx

from bullion_client.calls import Call, log, read_until_answered
from bullion_client.enums import Environment, OrderStatus, TradeType
from bullion_client.errors import BullionError, NotPlaced, OrderRejected, OutcomeUnknown, Refusal
from bullion_client.flow import Flow, now, run_function
from bullion_client.intent import Intent, check_intent, make_intent
from bullion_client.journal import Journal
from bullion_client.models import Account, Order, OrderPage, Positions, Quote, Symbol
from bullion_client.numbers import Number
from bullion_client.placing import Doubt, place_until_settled
from bullion_client.polling import wait_until_decided
from bullion_client.rate_limit import Pacer
from bullion_client.responses import Answer, read, read_order, read_page, read_quotes, unexpected
from bullion_client.retry import Tries, check_seconds, judge_read
from bullion_client.transport import Access

_Value = TypeVar("_Value")

_WAITS_OF_A_TRY = 4
"""A try waits for the pool, the connection, the sending and the response, each up to the timeout."""
_PAGE_LIMIT_MAX = 200
_EVERY_STATUS = "all"


class BaseClient:
    """A client without its network: the address, the retries, and a flow for each call."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        timeout: float,
        deadline: float,
        journal: Journal | None,
        *,
        pace: bool,
    ) -> None:
        self._access = Access.of(base_url, api_key)
        self._timeout = check_seconds("timeout", timeout)
        self._deadline = check_seconds("deadline", deadline)
        self._pacer = Pacer() if pace else None
        self._journal = journal
        self._login: str | None = None if journal is None else journal.account
        self._journal_is_bound = False
        self._chance: Callable[[], float] = random.random

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.environment} at {self._access.root}>"

    @property
    def environment(self) -> Environment:
        """The environment of the key. Every call goes there."""
        return self._access.environment

    # --- Reading ------------------------------------------------------------------------------------------

    def _me(self) -> Flow[Account]:
        return self._read("/me", partial(read, Account))

    def _symbols(self) -> Flow[tuple[Symbol, ...]]:
        return self._read("/symbols", lambda answer: answer.values("items", Symbol))

    def _quotes(self, symbol_code: str | None) -> Flow[tuple[Quote, ...]]:
        return self._read("/quotes" + _query(symbol_code=symbol_code), partial(read_quotes, symbol_code))

    def _positions(self) -> Flow[Positions]:
        return self._read("/positions", partial(read, Positions))

    def _order(self, order_id: str) -> Flow[Order]:
        return self._read(_order_path(order_id), partial(read_order, self.environment))

    def _order_page(self, limit: int, offset: int, filters: dict[str, str | None]) -> Flow[OrderPage]:
        if not 1 <= limit <= _PAGE_LIMIT_MAX:
            raise ValueError(f"limit must be from 1 to {_PAGE_LIMIT_MAX}")
        if offset < 0:
            raise ValueError("offset must be at least 0")
        path = "/orders" + _query(limit=str(limit), offset=str(offset), **filters)
        return self._read(path, partial(read_page, self.environment))

    def _filters(
        self,
        symbol_code: str | None,
        trade_type: TradeType | str | None,
        since: datetime | None,
        status: OrderStatus | str | None,
        client_order_id: str | None,
    ) -> dict[str, str | None]:
        """The filters of a list as query parameters."""
        if since is not None and since.tzinfo is None:
            raise ValueError(
                "since must have a time zone: the service would read it as UTC, whatever your clock shows"
            )
        if status not in (None, _EVERY_STATUS) and self.environment == Environment.TEST:
            raise ValueError(
                "status is for production only: test orders are always filled, and the service does not "
                f"filter them. Leave it out, give {_EVERY_STATUS!r}, or use a live key"
            )
        return {
            "symbol_code": symbol_code,
            "trade_type": None if trade_type is None else str(trade_type),
            "since": None if since is None else since.isoformat(),
            "status": None if status is None else str(status),
            "client_order_id": client_order_id,
        }

    def _wait(self, order: Order | str, timeout: float) -> Flow[Order]:
        path = _order_path(order.id if isinstance(order, Order) else order)

        def read_once(left_s: float) -> Flow[Order]:
            """Try once, for no longer than the time that is left."""
            moment = yield from now()
            tries = Tries(moment.seconds, 0.0, min(self._timeout, max(left_s, 1.0)), self._chance)
            call = self._reading(path, partial(read_order, self.environment))
            return (yield from read_until_answered(call, tries))

        return wait_until_decided(order, check_seconds("timeout", timeout), read_once, self._chance)

    def _read(self, path: str, read: Callable[[Answer], _Value]) -> Flow[_Value]:
        tries = yield from self._tries(None)
        return (yield from read_until_answered(self._reading(path, read), tries))

    def _reading(self, path: str, read: Callable[[Answer], _Value]) -> Call[_Value]:
        return Call("reads", lambda: self._access.request("GET", path), read, self._pacer)

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
    ) -> Flow[Order]:
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
        return (yield from self._settle(intent, deadline))

    def _resume(self, intent: Intent, deadline: float | None) -> Flow[Order]:
        if intent.environment != self.environment:
            raise ValueError(
                f"the intent is for {intent.environment}, and this client is for {self.environment}: "
                "there it would be a new order"
            )
        # The caller may have built the intent, so its fields are checked like new ones.
        return (yield from self._settle(check_intent(intent), deadline))

    def _settle(self, intent: Intent, deadline: float | None) -> Flow[Order]:
        tries = yield from self._tries(deadline)
        intent = yield from self._check_account(intent, tries)
        begun = yield from now()
        # From earlier tries of the intent; the tries of this call add to it.
        doubt = Doubt.about(intent, begun)
        if self._journal is not None:
            longest = timedelta(seconds=min(tries.deadline_s + _WAITS_OF_A_TRY * self._timeout, 10**9))
            noted = replace(intent, in_doubt=True, unanswered_until=begun.utc + longest)
            yield from run_function(partial(self._journal.note, noted))
        try:
            order = yield from place_until_settled(self._order_call(intent), intent, tries, doubt)
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

    def _order_call(self, intent: Intent) -> Call[Order]:
        body = intent.body()

        def request() -> httpx.Request:
            return self._access.request("POST", "/orders", body, intent.idempotency_key)

        def read_placed(answer: Answer) -> Order:
            order = read_order(self.environment, answer)
            placed = (order.symbol_code, order.trade_type, order.quantity)
            if placed != (intent.symbol_code, intent.trade_type, intent.quantity):
                raise unexpected(answer.response, "with another order than was sent", "Ask the operator")
            return order

        return Call("orders", request, read_placed, self._pacer)

    def _check_account(self, intent: Intent, tries: Tries) -> Flow[Intent]:
        """A key belongs to an account: sent for another one, it would book a second order there."""
        journal = self._journal
        if journal is None and intent.account is None:
            return intent
        if self._login is None:
            self._login = yield from self._read_login(intent, tries)
        if intent.account not in (None, self._login):
            raise ValueError(
                f"the intent is of the account {intent.account!r}, and this client's is {self._login!r}"
            )
        if journal is not None and not self._journal_is_bound:
            yield from run_function(partial(journal.bind, self.environment, self._login))
            self._journal_is_bound = True
        return replace(intent, account=self._login)

    def _read_login(self, intent: Intent, tries: Tries) -> Flow[str]:
        reading = Tries(tries.began, tries.deadline_s, self._timeout, self._chance)
        try:
            account = yield from read_until_answered(self._reading("/me", partial(read, Account)), reading)
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
        if self._journal is None:
            return
        try:
            yield from run_function(partial(self._journal.settle, intent, outcome=outcome, **more))
        except OSError as error:
            # The caller still gets the outcome. If the order is resumed later, it is found again.
            log.warning("order %s is settled, but the journal failed: %r", intent.idempotency_key, error)

    def _tries(self, deadline: float | None) -> Flow[Tries]:
        seconds = self._deadline if deadline is None else check_seconds("deadline", deadline)
        moment = yield from now()
        return Tries(moment.seconds, seconds, self._timeout, self._chance)


def _order_path(order_id: str) -> str:
    if not isinstance(order_id, str):
        raise TypeError(f"an order's id is a string, not {type(order_id).__name__}")
    if not order_id:
        raise ValueError("order_id is empty")
    return f"/orders/{quote(order_id, safe='')}"


def _query(**parameters: str | None) -> str:
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""
