"""Plans of covers in the store. See `bullion.booking.cover_planning`.

The planner locks its lease and the position of the book. While the position is locked, no order is confirmed,
no cover is sent, and no fill is counted. A dealer locks a cover and then the position, so the planner does
not wait for a suggestion that a dealer has locked: it counts as under way.
"""

from collections.abc import Collection, Mapping, Sequence
from uuid import uuid4

import msgspec

from bullion.booking.cover_planning import (
    PLANNER,
    REST_US,
    BookName,
    BookState,
    NewCover,
    Outlook,
    Revision,
    Suggestion,
    TelephoneOutlook,
    revise,
)
from bullion.hedge.book.age import ages_of
from bullion.hedge.book.planner import PlanBasis
from bullion.hedge.book.position import Position, WorkingCover
from bullion.hedge.book.rules import Rule
from bullion.hedge.contract import Contract
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.rates.duty import duty_day
from bullion.records.hedge_book import StoredContract

from . import prepared_queries
from .book_ages import BookAges
from .book_records import held_weights
from .broker_place import moved_to
from .cover_records import stored_contract
from .desk_transaction import DeskTransaction
from .engine import Engine, Row, Transaction, one_row

LEASE_US = 5_000_000
"""If the node that plans dies, another one does after this long."""
_LEASE = "covers of "
"""Precedes the broker in the name of its lease."""
_encode = msgspec.json.Encoder().encode
_rule = msgspec.json.Decoder(Rule).decode
_contract = msgspec.json.Decoder(Contract).decode


class PlanRecords(DeskTransaction):
    async def plan_by_hand(self, broker: str, metal: Metal, rule: str, by: str) -> list[Suggestion] | None:
        """Suggest what this rule alone would cover now. None: the book is not open.

        Suggestions of other plans are dropped.
        """
        state = await lock_book(self._transaction, (broker, metal.value))
        if state is None:
            return None
        alone = tuple(each for each in state.rules if each.name == rule)
        state = msgspec.structs.replace(state, rules=alone, resting=frozenset())
        revision = revise(state, TelephoneOutlook(), {rule: by})
        added = await record(self._transaction, state, revision, state.basis())
        return [
            *revision.kept,
            *(
                Suggestion(cover_id, each.cover.contract, each.cover.quantity_e8, rule, by)
                for cover_id, each in zip(added, revision.added, strict=True)
            ),
        ]


class StoredCoverPlans:
    def __init__(self, engine: Engine, holder: str) -> None:
        self._engine = engine
        self._holder = holder
        self._ages = BookAges(lambda: engine.failovers)

    async def books(self) -> Sequence[BookName]:
        async def body(transaction: Transaction) -> Sequence[Row]:
            now_us = await _now_us(transaction)
            return await transaction.all("books_to_plan", self._holder, now_us, _LEASE)

        if await self._engine.one("any_plan") is None:
            return []
        found = await self._engine.read("books_to_plan", body, custom_plans=True)
        return [(row["broker"], row["metal"]) for row in found]

    async def plan(self, name: BookName, outlook: Outlook) -> Revision:
        """Most turns change nothing, and only read."""
        if not await self._engine.read(
            "plan_needed", lambda open_: self._needed(open_, name, outlook), custom_plans=True
        ):
            return Revision()
        return await self._engine.write(
            "plan_covers",
            lambda open_: self._plan(open_, name, outlook),
            custom_plans=True,
            holding=prepared_queries.PLAN_COVERS,
        )

    async def _needed(self, transaction: Transaction, name: BookName, outlook: Outlook) -> bool:
        """Whether this node plans for the broker, and has something to record, be it only its lease."""
        now_us = await _now_us(transaction)
        lease = await transaction.one("one_lease", _lease(name))
        if lease is not None and lease["holder"] != self._holder and lease["until_us"] >= now_us:
            return False
        # In any case: a new planner looks back far for ages, and should not do it with the position locked.
        state = await read_book(transaction, name, self._ages)
        if lease is None or lease["holder"] != self._holder or lease["until_us"] < now_us + LEASE_US // 2:
            return True
        return state is not None and bool(revise(state, outlook, state.asked))

    async def _plan(self, transaction: Transaction, name: BookName, outlook: Outlook) -> Revision:
        now_us = await _now_us(transaction)
        until_us = now_us + LEASE_US
        if await transaction.one("take_lease", _lease(name), self._holder, until_us, now_us) is None:
            return Revision()
        state = await lock_book(transaction, name, self._ages)
        if state is None:
            return Revision()
        revision = revise(state, outlook, state.asked)
        await record(transaction, state, revision, state.basis(self._holder, until_us))
        return revision


async def lock_book(
    transaction: Transaction, name: BookName, ages: BookAges | None = None
) -> BookState | None:
    """The state of a book, which does not change until the transaction ends. None: it is not open here."""
    if await transaction.one("lock_book_position", *name) is None or await moved_to(transaction, name[0]):
        return None
    locked = {row["id"] for row in await transaction.all("lock_suggestions", *name)}
    state = await read_book(transaction, name, ages)
    return None if state is None else _without_taken(state, locked)


def _without_taken(state: BookState, locked: Collection[str]) -> BookState:
    """Suggestions that a dealer works on count as under way: the dealer may be sending them."""
    taken = [each for each in state.suggestions if each.id not in locked]
    if not taken:
        return state
    sent = {each.id: WorkingCover(each.id, each.contract, each.quantity_e8) for each in taken}
    position = msgspec.structs.replace(state.position, working={**state.position.working, **sent})
    left = tuple(each for each in state.suggestions if each.id in locked)
    return msgspec.structs.replace(state, position=position, suggestions=left, taken=tuple(sent))


async def read_book(
    transaction: Transaction, name: BookName, ages: BookAges | None = None
) -> BookState | None:
    """Without `ages` no rule of age fires."""
    position = await transaction.one("one_book_position", *name)
    if position is None:
        return None
    broker, metal = name
    now_us = await _now_us(transaction)
    covers = await transaction.all("open_covers", *name)
    waiting_mg, _ = (await held_weights(transaction, broker, now_us)).get(Metal(metal), (0, 0))
    stored = [stored_contract(row) for row in await transaction.all("contracts_of_broker", broker)]
    declined = await transaction.all("declined_contracts", *name, now_us - REST_US)
    rules = tuple(_rule(row["terms"]) for row in await transaction.all("rules_of_book", *name))
    contracts = usable_contracts(stored, metal)
    open_since_us: Mapping[str, int] = {}
    if ages is not None:
        wanted = ages_of(rules, contracts, duty_day(now_us))
        open_since_us = await ages.open_since_us(transaction, position, wanted, now_us)
    return BookState(
        broker=broker,
        metal=metal,
        position=Position(
            client_mg=position["client_mg"],
            cover_mg=position["cover_mg"],
            waiting={"waiting": waiting_mg},
            working={row["id"]: _working(row) for row in covers if row["state"] == "sent"},
        ),
        rules=rules,
        contracts=contracts,
        suggestions=tuple(
            _suggestion(row)
            for row in covers
            if row["state"] == "suggested" and row["idempotency_key"] is None
        ),
        resting=frozenset(row["contract"] for row in declined),
        volatility_e6=position["volatility_e4"],  # Ten-thousandths of a percent.
        now_us=now_us,
        version=position["version"],
        open_since_us=open_since_us,
    )


def usable_contracts(stored: Sequence[StoredContract], metal: str) -> Mapping[str, Contract]:
    """The active ones of a metal, by code."""
    return {
        each.contract.code: each.contract for each in stored if each.active and each.contract.metal == metal
    }


async def record(
    transaction: Transaction, state: BookState, revision: Revision, basis: PlanBasis
) -> list[str]:
    """Delete what no longer holds, and add what is new. Returns the ids of the new covers."""
    if not revision:
        return []
    for cover_id in revision.dropped:
        await transaction.run("delete_suggestion", cover_id)
    made_from = (basis.ordinal, basis.at_us, _encode(basis).decode())
    for kept in revision.kept:
        await transaction.run("keep_suggestion", kept.id, *made_from)
    return [await _insert(transaction, state, each, made_from) for each in revision.added]


async def _insert(
    transaction: Transaction, state: BookState, new: NewCover, made_from: tuple[int, int, str]
) -> str:
    cover_id, cover, contract = str(uuid4()), new.cover, new.cover.contract
    sent = ("sent", state.now_us, state.now_us, PLANNER, state.now_us)
    await transaction.run(
        "insert_planned_cover",
        cover_id,
        state.broker,
        state.metal,
        contract.code,
        _encode(contract).decode(),
        contract.venue,
        (Side.BUY if cover.quantity_e8 > 0 else Side.SELL).value,
        abs(cover.quantity_e8),
        abs(cover.fine_mg),
        cover.rule,
        new.made_by,
        *(sent if new.sent else ("suggested", state.now_us, None, None, 0)),
        *made_from,
    )
    return cover_id


async def _now_us(transaction: Transaction) -> int:
    """The store's clock."""
    return int((await one_row(transaction, "catalogue_state"))["clock_us"])


def _lease(name: BookName) -> str:
    return f"{_LEASE}{name[0]}"


def _signed_e8(row: Row) -> int:
    quantity_e8: int = row["quantity_e8"] - row["filled_e8"]
    return quantity_e8 if row["side"] == Side.BUY else -quantity_e8


def _working(row: Row) -> WorkingCover:
    return WorkingCover(row["id"], _contract(row["terms"]), _signed_e8(row))


def _suggestion(row: Row) -> Suggestion:
    return Suggestion(row["id"], _contract(row["terms"]), _signed_e8(row), row["rule"], row["made_by"])
