"""The simulated venue's own book, in tables of its own. See `bullion.hedge.simulated`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex

import msgspec
import structlog

from bullion.faults import StoreUnavailable
from bullion.hedge.simulated import CONFIRMED, Mode, VenueBehaviour, VenueOrder
from bullion.hedge.venue import HedgeRequest, ListedExecution
from bullion.unreadable import UnreadableRows

from . import row_decoders
from .batch_loader import BatchLoader
from .engine import Row, Transaction, one_row
from .postgres import PostgresEngine
from .sqlite import SqliteConnection, SqliteEngine

_SLOTS = 2
_NUMBERED_MAX = 200
_WRITERS_S_MAX, _WRITERS_LOOK_S = 1.0, 0.01
"""How long a list waits for running transactions, and how often it checks whether they have ended."""
_encode = msgspec.json.Encoder().encode
_decode_known = msgspec.json.Decoder(list[str]).decode
_decode_numbers = msgspec.json.Decoder(list[tuple[str, int]]).decode
_log = structlog.get_logger("hedge")


class Submission(msgspec.Struct, eq=False):
    """Compared by identity: the same order sent twice at once is two submissions."""

    request: HedgeRequest
    at_us: int
    due_at_us: int
    outcome: str | None
    filled_e4: int | None


ExecutionQuery = tuple[str, int, int]
"""The broker, the number after which the list begins, and the limit."""


class StoredVenueBook:
    """Submissions that arrive together are written in one transaction.

    It does not wait for the disk. Whatever follows from the venue's answer is committed later in the same
    store, and so is never there without the submission. If the submission is lost, so is all of that.
    """

    def __init__(
        self, engine: PostgresEngine | SqliteEngine, serial: Callable[[], int | None] = lambda: None
    ) -> None:
        """`serial`: of the catalogue; it moves when the desk changes a behaviour. None: always read."""
        self._engine = engine
        self._serial = serial
        self.unreadable = UnreadableRows()
        """Behaviours that cannot be read: the venue counts as down for those brokers."""
        self._known: dict[str, tuple[int, VenueBehaviour]] = {}
        self._behaviours: BatchLoader[str, VenueBehaviour] = BatchLoader(self._read_behaviours, slots=_SLOTS)
        self._submissions: BatchLoader[Submission, VenueOrder] = BatchLoader(self._take_all, slots=_SLOTS)
        self._listed: BatchLoader[ExecutionQuery, Sequence[ListedExecution]] = BatchLoader(
            self._list_all, slots=1
        )

    async def behaviour(self, broker: str) -> VenueBehaviour:
        serial = self._serial()
        known = self._known.get(broker)
        if known is not None and known[0] == serial:
            return known[1]
        behaviour = await self._behaviours.get(broker) or VenueBehaviour(broker)
        # With the serial from before the read: if it moves meanwhile, the next caller reads again.
        if serial is not None:
            self._known[broker] = (serial, behaviour)
        return behaviour

    async def take(
        self,
        request: HedgeRequest,
        at_us: int,
        due_at_us: int,
        outcome: str | None,
        filled_e4: int | None = None,
    ) -> VenueOrder:
        order = await self._submissions.get(Submission(request, at_us, due_at_us, outcome, filled_e4))
        if order is None:
            raise StoreUnavailable("the venue's book lost an order")
        return order

    async def find(self, order_id: str) -> VenueOrder | None:
        row = await self._engine.read("venue_order", lambda open_: open_.one("one_venue_order", order_id))
        return None if row is None else _venue_order(row)

    async def decide(
        self, order_id: str, outcome: str, at_us: int, filled_e4: int | None = None
    ) -> VenueOrder:
        async def body(transaction: Transaction) -> VenueOrder:
            decided = (outcome, _new_execution_id(), at_us, filled_e4)
            await transaction.run("decide_venue_order", order_id, *decided)
            return _venue_order(await one_row(transaction, "one_venue_order", order_id))

        return await self._engine.write("decide_venue_order", body)

    async def executions(self, broker: str, after_no: int, limit: int) -> Sequence[ListedExecution]:
        return await self._listed.get((broker, after_no, limit)) or ()

    async def _list_all(
        self, wanted: Sequence[ExecutionQuery]
    ) -> Mapping[ExecutionQuery, Sequence[ListedExecution]]:
        """List all brokers together: each node lists every broker every few seconds."""
        await self._number()
        if isinstance(self._engine, PostgresEngine):
            return await self._list_settled(self._engine, wanted)

        async def body(transaction: Transaction) -> dict[ExecutionQuery, Sequence[ListedExecution]]:
            # SQLite's single writer commits numbers in order, so no lower number can appear later.
            return {
                each: [_listed(row) for row in await transaction.all("venue_executions", *each)]
                for each in wanted
            }

        return await self._engine.read("venue_executions", body)

    async def _list_settled(
        self, engine: PostgresEngine, wanted: Sequence[ExecutionQuery]
    ) -> Mapping[ExecutionQuery, Sequence[ListedExecution]]:
        last_no = await _last_settled_no(engine, min(after_no for _, after_no, _ in wanted))
        if last_no is None:
            return {}
        listed: dict[ExecutionQuery, list[ListedExecution]] = {each: [] for each in wanted}
        values = (_encode(wanted).decode(), last_no)
        for row in await engine.statement("venue_executions_of_brokers", *values):
            listed[wanted[row["place"] - 1]].append(_listed(row))
        return listed

    async def _number(self) -> None:
        """Number the executions that have no number yet, such as those of orders decided later."""
        unnumbered = await self._engine.read(
            "unnumbered_executions", lambda open_: open_.all("unnumbered_executions", _NUMBERED_MAX)
        )
        if not unnumbered:
            return

        async def body(transaction: Transaction) -> None:
            for row in unnumbered:
                await transaction.run("number_execution", row["order_id"], row["broker"])

        await self._engine.write("number_executions", body)

    async def _read_behaviours(self, brokers: Sequence[str]) -> Mapping[str, VenueBehaviour]:
        wanted = _encode(brokers).decode()
        if isinstance(self._engine, SqliteEngine):
            rows: Sequence[Row] = self._engine.look_up("venue_behaviours", wanted)
        else:
            rows = await self._engine.statement("venue_behaviours", wanted)
        return {row["broker"]: self._behaviour(row) for row in rows}

    def _behaviour(self, row: Row) -> VenueBehaviour:
        found = row_decoders.behaviour(row)
        if isinstance(found, VenueBehaviour):
            self.unreadable.discard("venue", found.broker, found.broker)
            return found
        self.unreadable.add(found)
        return VenueBehaviour(found.broker, Mode.DOWN)

    async def _take_all(self, submissions: Sequence[Submission]) -> Mapping[Submission, VenueOrder]:
        in_order = sorted(submissions, key=lambda one: one.request.order_id)
        if _has_duplicates(submissions):
            return await self._one_by_one(in_order)
        if isinstance(self._engine, SqliteEngine):
            return await self._engine.run_in_writer(
                "take_venue_orders",
                lambda connection: _take_on_sqlite(connection, in_order),
                patient=True,
                durable=False,
            )
        taken = {each: _new_order(each) for each in in_order}
        values = _encode([_values(*each) for each in taken.items()]).decode()
        rows = await self._engine.statement("take_venue_orders", values, writes=True)
        known = {row["order_id"]: _venue_order(row) for row in rows}
        return {each: known.get(new.order_id, new) for each, new in taken.items()} if known else taken

    async def _one_by_one(self, submissions: Sequence[Submission]) -> Mapping[Submission, VenueOrder]:
        async def body(transaction: Transaction) -> dict[Submission, VenueOrder]:
            return {
                each: _venue_order(
                    await one_row(transaction, "take_venue_order", *_values(each, _new_order(each)))
                )
                for each in submissions
            }

        return await self._engine.write("take_venue_orders", body)


def _take_on_sqlite(
    connection: SqliteConnection, submissions: Sequence[Submission]
) -> Mapping[Submission, VenueOrder]:
    """Reads one row and writes once: the writer's thread waits for the GIL after each statement and row."""
    order_ids = [each.request.order_id for each in submissions]
    brokers = list({each.request.broker for each in submissions})
    state = connection.fetch("venue_state", (_encode(order_ids).decode(), _encode(brokers).decode()))[0]
    known, numbers = set(_decode_known(state["known"])), dict(_decode_numbers(state["numbers"]))
    taken: dict[Submission, VenueOrder] = {}
    rows = []
    for each in submissions:
        new = _new_order(each)
        if new.order_id in known:
            taken[each] = _venue_order(connection.fetch("take_venue_order", _values(each, new))[0])
            continue
        number = None
        if new.outcome == CONFIRMED:
            number = numbers[each.request.broker] = numbers[each.request.broker] + 1
        rows.append((*_values(each, new), number))
        taken[each] = new
    connection.fetch_for("insert_venue_orders", rows)
    return taken


async def _last_settled_no(engine: PostgresEngine, after_no: int) -> int | None:
    """The number up to which no execution can appear later; None if there is none after `after_no`.

    PostgreSQL assigns numbers before the commit, and transactions commit in any order. So this waits for
    transactions that may hold a number up to the last one. If that takes too long, nothing is listed.
    """
    (row,) = await engine.statement("last_execution_no")
    last_no: int = row["last_no"]
    if last_no <= after_no:
        return None
    # Read after the last number: a transaction that begins in between takes a later number.
    under_way = await _writers(engine)
    clock = asyncio.get_running_loop().time
    give_up_at = clock() + _WRITERS_S_MAX
    while under_way:
        if clock() > give_up_at:
            _log.warning("executions_not_listed", why="transactions on venue_orders are under way")
            return None
        await asyncio.sleep(_WRITERS_LOOK_S)
        under_way &= await _writers(engine)
    return last_no


async def _writers(engine: PostgresEngine) -> set[str]:
    return {row["writer"] for row in await engine.statement("venue_writers")}


def _listed(row: Row) -> ListedExecution:
    return ListedExecution(
        execution_id=row["execution_id"],
        order_id=row["order_id"],
        instrument=row["instrument"],
        trade_type=row["trade_type"],
        quantity_e4=row["quantity_e4"] if row["filled_e4"] is None else row["filled_e4"],
        executed_at_us=row["executed_at_us"],
        cursor=str(row["execution_no"]),
    )


def _has_duplicates(submissions: Sequence[Submission]) -> bool:
    return len({each.request.order_id for each in submissions}) < len(submissions)


def _new_order(submission: Submission) -> VenueOrder:
    """As it is in the book if it was not sent before."""
    request, outcome = submission.request, submission.outcome
    return VenueOrder(
        request.order_id,
        submission.due_at_us,
        1,
        outcome,
        None if outcome is None else _new_execution_id(),
        None if outcome is None else submission.at_us,
        submission.filled_e4,
    )


def _values(submission: Submission, new: VenueOrder) -> tuple[str | int | None, ...]:
    request = submission.request
    return (
        request.order_id,
        request.broker,
        request.instrument,
        request.trade_type,
        request.quantity_e4,
        new.due_at_us,
        new.outcome,
        new.execution_id,
        new.executed_at_us,
        new.filled_e4,
    )


def _new_execution_id() -> str:
    return f"SIM-{token_hex(8)}"


def _venue_order(row: Row) -> VenueOrder:
    return VenueOrder(
        row["order_id"],
        row["due_at_us"],
        row["submissions"],
        row["outcome"],
        row["execution_id"],
        row["executed_at_us"],
        row["filled_e4"],
    )
