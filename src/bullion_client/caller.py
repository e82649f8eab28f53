"""What both clients share: every call as a flow."""

import random
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from urllib.parse import quote, urlencode

import httpx

from bullion_client.access import Access
from bullion_client.account import Account
from bullion_client.answer import Answer, unexpected
from bullion_client.calls import Call, log, read_until_answered
from bullion_client.enums import OrderStatus, TradeType
from bullion_client.environment import Environment
from bullion_client.errors import BullionError, NotPlaced, OrderRejected, OutcomeUnknown, Refusal
from bullion_client.flow import Flow, now, run_function
from bullion_client.intent import Intent, make_intent
from bullion_client.journal import Journal
from bullion_client.market import Quote, Symbol
from bullion_client.numbers import Number
from bullion_client.order import Order, OrderPage
from bullion_client.pacing import Pacer
from bullion_client.placing import Doubt, place_until_settled
from bullion_client.positions import Positions
from bullion_client.reading import read, read_order, read_page, read_quotes
from bullion_client.tries import Tries, check_seconds
from bullion_client.verdict import judge_read
from bullion_client.waiting import wait_until_decided

_Value = TypeVar("_Value")

_WAITS_OF_A_TRY = 4
"""A try waits for the pool, the connection, the sending and the answer, each up to the time-out."""
_PAGE_LIMIT_MAX = 200
_EVERY_STATUS = "all"


class Caller:
    """A client without its network: where calls go, how long they are tried, and what each of them is."""

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
        self._journal_is_ours = False
        self._chance: Callable[[], float] = random.random

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.environment} at {self._access.root}>"

    @property
    def environment(self) -> Environment:
        """The environment that the key belongs to, and that every call goes to."""
        return self._access.environment

    # --- Reading ------------------------------------------------------------------------------------------

    def _me(self) -> Flow[Account]:
        return self._read("/me", partial(read, Account))

    def _symbols(self) -> Flow[tuple[Symbol, ...]]:
        return self._read("/symbols", lambda answer: answer.inners("items", partial(read, Symbol)))

    def _quotes(self, symbol_code: str | None) -> Flow[tuple[Quote, ...]]:
        path = "/quotes" + _query(symbol_code=symbol_code)
        return self._read(path, lambda answer: read_quotes(answer, symbol_code))

    def _positions(self) -> Flow[Positions]:
        return self._read("/positions", partial(read, Positions))

    def _order(self, order_id: str) -> Flow[Order]:
        return self._read(_order_path(order_id), lambda answer: read_order(answer, self.environment))

    def _order_page(self, limit: int, offset: int, filters: dict[str, str | None]) -> Flow[OrderPage]:
        if not 1 <= limit <= _PAGE_LIMIT_MAX:
            raise ValueError(f"limit must be from 1 to {_PAGE_LIMIT_MAX}")
        if offset < 0:
            raise ValueError("offset must be at least 0")
        path = "/orders" + _query(limit=str(limit), offset=str(offset), **filters)
        return self._read(path, lambda answer: read_page(answer, self.environment))

    def _filters(
        self,
        symbol_code: str | None,
        trade_type: TradeType | str | None,
        since: datetime | None,
        status: OrderStatus | str | None,
        client_order_id: str | None,
    ) -> dict[str, str | None]:
        """The filters of a list as they are sent."""
        if since is not None and since.tzinfo is None:
            raise ValueError(
                "since must have a zone: the service would read it as UTC, whatever your clock shows"
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

        def read(left_s: float) -> Flow[Order]:
            """One try, for there will be others, which takes no longer than there is time."""
            moment = yield from now()
            tries = Tries(moment.seconds, 0.0, min(self._timeout, max(left_s, 1.0)), self._chance)
            call = self._reading(path, lambda answer: read_order(answer, self.environment))
            return (yield from read_until_answered(call, tries))

        return wait_until_decided(order, check_seconds("timeout", timeout), read, self._chance)

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
        # It may have been put together by hand.
        checked = make_intent(
            intent.environment,
            intent.idempotency_key,
            intent.made_at,
            intent.symbol_code,
            intent.trade_type,
            intent.quantity,
            intent.expected_price,
            intent.client_order_id,
        )
        checked = replace(
            checked,
            account=intent.account,
            in_doubt=intent.in_doubt,
            unanswered_until=intent.unanswered_until,
        )
        return (yield from self._settle(checked, deadline))

    def _settle(self, intent: Intent, deadline: float | None) -> Flow[Order]:
        tries = yield from self._tries(deadline)
        intent = yield from self._make_sure_whose(intent, tries)
        begun = yield from now()
        # What a try of before has left open; what comes from now on, the tries tell themselves.
        doubt = Doubt.about(intent, begun)
        if self._journal is not None:
            patience = timedelta(seconds=min(tries.deadline_s + _WAITS_OF_A_TRY * self._timeout, 10**9))
            noted = replace(intent, in_doubt=True, unanswered_until=begun.utc + patience)
            yield from run_function(lambda: _journal(self).note(noted))
        try:
            order = yield from place_until_settled(self._order_call(intent), intent, tries, doubt)
        except Refusal as refusal:
            order_id = refusal.order_id if isinstance(refusal, OrderRejected) else None
            yield from self._write_down(intent, "refused", code=refusal.code, order_id=order_id)
            raise
        except NotPlaced as error:
            # Its owner is told, and nothing is booked. Left open, the next run would place it unasked.
            yield from self._write_down(intent, "not_placed", code=error.code)
            raise
        yield from self._write_down(intent, "order", order_id=order.id)
        return order

    def _order_call(self, intent: Intent) -> Call[Order]:
        body = intent.body()

        def request() -> httpx.Request:
            return self._access.request("POST", "/orders", body, intent.idempotency_key)

        def read(answer: Answer) -> Order:
            order = read_order(answer, self.environment)
            told = (order.symbol_code, order.trade_type, order.quantity)
            if told != (intent.symbol_code, intent.trade_type, intent.quantity):
                raise unexpected(answer.response, "with another order than was sent", "Ask the operator")
            return order

        return Call("orders", request, read, self._pacer)

    def _make_sure_whose(self, intent: Intent, tries: Tries) -> Flow[Intent]:
        """A key is only good for its account: sent for another one, it would book a second order there."""
        if self._journal is None and intent.account is None:
            return intent
        if self._login is None:
            asking = Tries(tries.began, tries.deadline_s, self._timeout, self._chance)
            try:
                account = yield from read_until_answered(self._reading("/me", partial(read, Account)), asking)
            except BullionError as error:
                # This call sent nothing; of what was sent before, it has found out nothing.
                if intent.in_doubt:
                    raise OutcomeUnknown(intent, 0, error) from error
                if isinstance(error, Refusal) and not judge_read(error).again:
                    error.intent = intent
                    raise
                raise NotPlaced(intent, 0, error) from error
            self._login = account.login_id
        login = self._login
        if intent.account not in (None, login):
            raise ValueError(
                f"the intent is of the account {intent.account!r}, and this client's is {login!r}"
            )
        if self._journal is not None and not self._journal_is_ours:
            yield from run_function(lambda: _journal(self).bind(self.environment, login))
            self._journal_is_ours = True
        return replace(intent, account=login)

    def _write_down(self, intent: Intent, outcome: str, **more: str | None) -> Flow[None]:
        if self._journal is None:
            return
        try:
            yield from run_function(lambda: _journal(self).settle(intent, outcome=outcome, **more))
        except OSError as error:
            # The outcome itself must not be lost for that. Resumed later, the order is found again.
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


def _journal(caller: Caller) -> Journal:
    journal = caller._journal  # noqa: SLF001 - of this module
    assert journal is not None  # noqa: S101 - asked for by those alone who have one
    return journal
