"""What a FIX line keeps in the store. See `bullion.hedge.fix.records`."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, count

import msgspec

from bullion.faults import StoreUnavailable
from bullion.hedge.contract import Contract
from bullion.hedge.fix.codec import time_text
from bullion.hedge.fix.order_effects import (
    FillSeen,
    LineBreak,
    LineOrder,
    OrderFinal,
    OrderSeen,
    Seen,
)
from bullion.hedge.fix.records import Learned, StoredOrder
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Fill,
    FinalAnswer,
    ListedExecution,
    PartiallyFilled,
    given_again,
)
from bullion.metals.rounding import half_up

from .batch_loader import BatchLoader
from .engine import Engine, Row, Transaction, one_row
from .fix_lines import store_incoming

_KINDS: dict[str, type[Confirmed] | type[Declined] | type[PartiallyFilled]] = {
    "confirmed": Confirmed,
    "declined": Declined,
    "partial": PartiallyFilled,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


class _Claim(msgspec.Struct, eq=False):
    """Compared by identity: the same order sent twice at once is two claims."""

    order: LineOrder
    at_us: int


class StoredLineRecords:
    """Orders that are sent together are recorded in one transaction."""

    def __init__(
        self, engine: Engine, line: str, contracts: Callable[[], Collection[Contract]] = lambda: ()
    ) -> None:
        """`contracts`: to list executions of orders that are not ours under our instruments."""
        self._engine = engine
        self._line = line
        self._contracts = contracts
        self._claims: BatchLoader[_Claim, LineOrder] = BatchLoader(self._claim_all, slots=1)

    async def claim(self, order: LineOrder, at_us: int) -> LineOrder | None:
        return await self._claims.get(_Claim(order, at_us))

    async def _claim_all(self, claims: Sequence[_Claim]) -> Mapping[_Claim, LineOrder]:
        async def body(transaction: Transaction) -> dict[_Claim, LineOrder]:
            claimed: dict[_Claim, LineOrder] = {}
            for each in claims:
                number = await self._next_number(transaction, each.at_us)
                order = each.order
                values = _values(self._line, order, order.client_order_id or str(number), number)
                row = await transaction.one("claim_line_order", *values, each.at_us)
                if row is not None:
                    own = {"client_order_id": row["client_order_id"], "sends": row["sends"]}
                    claimed[each] = msgspec.structs.replace(order, **own)
            return claimed

        return await self._engine.write("claim_line_orders", body)

    async def release(self, order: LineOrder) -> None:
        values = (self._line, order.order_id, order.sends)
        await self._engine.write("release_line_order", lambda open_: open_.run("release_line_order", *values))

    async def find(self, order_id: str) -> StoredOrder | None:
        own = await self._one("line_order", order_id)
        if own is not None and not own.unknown:
            return own
        return await self._one("line_order_elsewhere", order_id) or own

    async def find_sent(self, client_order_id: str) -> StoredOrder | None:
        return await self._one("line_order_sent", client_order_id)

    async def find_seen(self, name: str) -> Seen | None:
        return await self._engine.read("line_seen", lambda open_: self._seen(open_, self._line, name))

    async def unsettled(self) -> Sequence[StoredOrder]:
        async def body(transaction: Transaction) -> list[StoredOrder]:
            rows = await transaction.all("line_orders_unsettled", self._line)
            return [await self._stored(transaction, row) for row in rows]

        return await self._engine.read("line_orders_unsettled", body)

    async def learn(self, learned: Sequence[Learned], at_us: int) -> None:
        seen = [each.seen for each in learned if isinstance(each, OrderSeen | LineBreak) and each.seen]

        async def body(transaction: Transaction) -> None:
            for name, text in {each.name: msgspec.json.encode(each).decode() for each in seen}.items():
                await transaction.run("put_line_seen", self._line, name, text)
            for each in learned:
                if isinstance(each, FillSeen):
                    fill = each.fill
                    values = (fill.execution_id, fill.quantity_e8, fill.price_e6, fill.at_us)
                    await transaction.run("insert_line_fill", self._line, each.order.client_order_id, *values)
                elif isinstance(each, OrderFinal):
                    await self._answer(transaction, each, at_us)
                elif isinstance(each, LineBreak):
                    await self._list_break(transaction, each, at_us)

        await self._engine.write("learn_of_line_orders", body)

    async def keep_incoming(self, holder: str, incoming: int) -> None:
        """Store the number of the next message, after `learn`. May raise NotHolder."""
        await self._engine.write(
            "store_incoming", lambda open_: store_incoming(open_, self._line, holder, incoming)
        )

    async def executions(self, after: int, limit: int, line: str = "") -> Sequence[ListedExecution]:
        values = (line or self._line, after, limit)
        rows = await self._engine.read("line_executions", lambda open_: open_.all("line_executions", *values))
        return [_listed(row) for row in rows]

    async def _answer(self, transaction: Transaction, final: OrderFinal, at_us: int) -> None:
        order, answer = final.order, final.answer
        number = await self._next_number(transaction, at_us)
        values = (*_values(self._line, order, order.client_order_id, number), at_us)
        row = await transaction.one("answer_line_order", *values, _encoded(answer), final.filled_e8)
        if row is not None and not isinstance(answer, Declined):
            await self._list(transaction, _filled(order, answer, at_us), "", "")

    async def _list_break(self, transaction: Transaction, made: LineBreak, at_us: int) -> None:
        execution = self._broken(made, at_us)
        if made.order is None:
            for name in _names(execution):
                known = await transaction.one("line_execution", self._line, name, execution.order_id)
                if known is None or _is_repeat(known, execution, timed=made.at_us > 0):
                    execution = msgspec.structs.replace(execution, execution_id=name)
                    break
        await self._list(transaction, execution, made.reason.value, made.message)

    async def _list(
        self, transaction: Transaction, execution: ListedExecution, reason: str, message: str
    ) -> None:
        await transaction.run(
            "insert_line_execution",
            self._line,
            execution.execution_id,
            execution.order_id,
            execution.instrument,
            execution.trade_type,
            execution.quantity_e4,
            execution.executed_at_us,
            reason,
            message,
        )

    def _broken(self, made: LineBreak, at_us: int) -> ListedExecution:
        """Under the ClOrdID: see `_listed`."""
        contract = self._contract_of(made)
        quantity_e4 = 0 if contract is None else contract.gross_e4(made.quantity_e8)
        return ListedExecution(
            execution_id=f"{made.reason.value}:{made.execution_id}",
            order_id=made.client_order_id or "none",
            instrument=contract.instrument if contract is not None else made.symbol or "none",
            trade_type="sell" if made.side == "2" else "buy",
            quantity_e4=quantity_e4,
            executed_at_us=made.at_us or at_us,
            cursor="",
        )

    def _contract_of(self, made: LineBreak) -> Contract | None:
        """What was executed, which may be something else than was ordered."""
        ordered = () if made.order is None else (made.order.contract,)
        traded = (*ordered, *(each for each in self._contracts() if each.venue == self._line))
        by_id = (each for each in traded if made.security_id and each.security_id == made.security_id)
        by_symbol = (each for each in traded if made.symbol and each.venue_symbol == made.symbol)
        return next(chain(by_id, by_symbol, ordered), None)

    async def _next_number(self, transaction: Transaction, at_us: int) -> int:
        number: int = (await one_row(transaction, "next_line_number", self._line, at_us // 1_000))["number"]
        return number

    async def _one(self, query: str, named: str) -> StoredOrder | None:
        async def body(transaction: Transaction) -> StoredOrder | None:
            row = await transaction.one(query, self._line, named)
            return None if row is None else await self._stored(transaction, row)

        return await self._engine.read(query, body)

    async def _seen(self, transaction: Transaction, line: str, name: str) -> Seen | None:
        row = await transaction.one("line_seen", line, name)
        try:
            return None if row is None else msgspec.json.decode(row["seen"], type=Seen)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise StoreUnavailable(f"line_seen {name} cannot be read: {error}") from error

    async def _stored(self, transaction: Transaction, row: Row) -> StoredOrder:
        try:
            order = msgspec.json.decode(row["terms"], type=LineOrder)
            answer = None if row["answer"] is None else _decoded(row["answer"])
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise StoreUnavailable(f"line_orders {row['order_id']} cannot be read: {error}") from error
        own = {"client_order_id": row["client_order_id"], "sends": row["sends"]}
        fills = await transaction.all("line_fills", row["line"], row["client_order_id"])
        return StoredOrder(
            msgspec.structs.replace(order, **own),
            tuple(
                Fill(each["execution_id"], each["quantity_e8"], each["price_e6"], each["at_us"])
                for each in fills
            ),
            answer,
            row["filled_e8"],
            row["state"] == "unknown",
            "" if row["line"] == self._line else row["line"],
            await self._seen(transaction, row["line"], row["client_order_id"]),
        )


def _values(line: str, order: LineOrder, client_order_id: str, number: int) -> tuple[str | int, ...]:
    terms = msgspec.json.encode(order).decode()
    return (line, order.order_id, client_order_id, number, order.broker, terms)


def _encoded(answer: FinalAnswer) -> str:
    return msgspec.json.encode([_NAMES[type(answer)], answer]).decode()


def _decoded(text: str) -> FinalAnswer:
    kind, raw = msgspec.json.decode(text, type=tuple[str, msgspec.Raw])
    return msgspec.json.decode(raw, type=_KINDS[kind])


def _filled(order: LineOrder, answer: Confirmed | PartiallyFilled, at_us: int) -> ListedExecution:
    quantity_e4 = order.quantity_e4
    if isinstance(answer, PartiallyFilled):
        quantity_e4 = half_up(quantity_e4 * (order.fine_mg - answer.fine_mg_left), order.fine_mg)
    return ListedExecution(
        execution_id=answer.execution_id,
        order_id=order.order_id,
        instrument=order.instrument,
        trade_type=order.trade_type,
        quantity_e4=quantity_e4,
        executed_at_us=max((each.at_us for each in answer.fills), default=0) or at_us,
        cursor="",
    )


def _names(execution: ListedExecution) -> Iterator[str]:
    """An execution that is not of our orders has the first free one: its id may be of another day."""
    yield execution.execution_id
    own = given_again(execution.execution_id, _day(execution.executed_at_us))
    yield own
    yield from (given_again(own, str(number)) for number in count(2))


def _is_repeat(known: Row, execution: ListedExecution, *, timed: bool) -> bool:
    """Whether the id that is known is of this execution. `timed`: whether the venue said when it was."""
    if timed and known["executed_at_us"] == execution.executed_at_us:
        return True
    same_day = not timed or _day(known["executed_at_us"]) == _day(execution.executed_at_us)
    terms = (execution.trade_type, execution.quantity_e4)
    return same_day and (known["trade_type"], known["quantity_e4"]) == terms


def _day(at_us: int) -> str:
    return time_text(at_us)[:8]


def _listed(row: Row) -> ListedExecution:
    """A break must never count as the order's execution, and a ClOrdID may be the order's own id."""
    return ListedExecution(
        execution_id=row["execution_id"],
        order_id=f"ClOrdID {row['order_id']}" if row["reason"] else row["order_id"],
        instrument=row["instrument"],
        trade_type=row["trade_type"],
        quantity_e4=row["quantity_e4"],
        executed_at_us=row["executed_at_us"],
        cursor=str(row["position"]),
    )
