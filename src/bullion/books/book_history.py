"""Follows a hedge book through its entries: what its limit allowed, and what its covers were planned for."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from bullion.hedge.book.invariants import limit_problems, plan_problems, planner_problems
from bullion.hedge.book.planner import PlanBasis, PlannedCover
from bullion.hedge.book.position import Position, WorkingCover
from bullion.hedge.contract import SUGGEST, Contract
from bullion.metals.symbol import Side
from bullion.store.engine import Row, Transaction

from .difference import Check, Found, Owner

_LIMIT = Check("verify_book_entries", "book_limit", "hedge book,")
_PLAN = Check("verify_plans", "plan", "plan of the hedge book,")
_BATCH = 1_000
_LAST = 2**62

Plan = tuple[PlanBasis, Sequence[Row], Mapping[str, WorkingCover]]
"""What it was made from, its covers, and those that were under way."""

_encode = msgspec.json.Encoder().encode
_contract = msgspec.json.Decoder(Contract).decode
_basis = msgspec.json.Decoder(PlanBasis).decode


async def history_differences(transaction: Transaction, broker: str, metal: str) -> AsyncIterator[Found]:
    """Reads the entries in batches, each with the plans that were made after them."""
    history = _History(transaction, broker, metal)
    await history.start()
    while entries := await transaction.all("verify_book_entries", broker, metal, history.ordinal, _BATCH):
        for each in await history.follow(entries):
            yield each
    for each in await history.end():
        yield each


class _History:
    def __init__(self, transaction: Transaction, broker: str, metal: str) -> None:
        self._transaction = transaction
        self._name = (broker, metal)
        self.ordinal = 0
        self._client_mg, self._cover_mg = 0, 0
        self._terms: Sequence[Row] = ()
        self._last_plan: PlanBasis | None = None
        self._deals: list[Row] = []
        """Deals that the book confirmed together, as far as they were read."""
        self._before_mg = 0
        """The residual before them."""

    async def start(self) -> None:
        self._terms = await self._transaction.all("terms_of_book", *self._name)

    async def follow(self, entries: Sequence[Row]) -> list[Found]:
        first, last = entries[0]["ordinal"], entries[-1]["ordinal"]
        plans = await self._plans(first, last)
        found: list[Found] = []
        for row in entries:
            found += self._limit(row)
            self._client_mg += row["client_mg"]
            self._cover_mg += row["cover_mg"]
            self.ordinal = row["ordinal"]
            for basis, covers, working in plans.get(self.ordinal, ()):
                found += self._plan(basis, covers, working)
        return found

    async def end(self) -> list[Found]:
        """What is left after the last entry."""
        return [*self._end_of_deals(), *await self._plans_beyond()]

    # --- H7 ---------------------------------------------------------------------------------------------

    def _limit(self, row: Row) -> Iterator[Found]:
        """Orders that the book confirms in one transaction are judged together."""
        by_book = row["kind"] == "deal" and not row["cover_mg"]
        if self._deals and not (by_book and row["at_us"] == self._deals[0]["at_us"]):
            yield from self._end_of_deals()
        if by_book:
            if not self._deals:
                self._before_mg = self._client_mg + self._cover_mg
            self._deals.append(row)

    def _end_of_deals(self) -> Iterator[Found]:
        if not self._deals:
            return
        first, last = self._deals[0], self._deals[-1]
        after_mg = self._before_mg + sum(each["client_mg"] for each in self._deals)
        self._deals = []
        limit_mg = self._limit_after(first["ordinal"] - 1)
        for problem in () if limit_mg is None else limit_problems(self._before_mg, after_mg, limit_mg):
            name = f"{self._name[1]}, entry {last['ordinal']}"
            yield _LIMIT, Owner(self._name[0]), name, problem, "a residual within the limit"

    def _limit_after(self, ordinal: int) -> int | None:
        """None: the entry is older than the record of terms."""
        known = [row["limit_mg"] for row in self._terms if row["after_ordinal"] <= ordinal]
        return known[-1] if known else None

    # --- H3 and H4 --------------------------------------------------------------------------------------

    async def _plans(self, first: int, last: int) -> Mapping[int, list[Plan]]:
        """The plans that were made after these entries, by entry."""
        rows = await self._transaction.all("verify_plans", *self._name, first, last)
        plans = [(_basis(text), list(own)) for text, own in groupby(rows, key=lambda row: row["plan"])]
        ids = sorted({cover_id for basis, _ in plans for cover_id in basis.working_e8})
        working = {}
        if ids:
            listed = _encode(ids).decode()
            for row in await self._transaction.all("covers_with_fills", listed):
                working[row["id"]] = _contract(row["terms"])
        found: dict[int, list[Plan]] = {}
        for basis, covers in plans:
            under_way = {
                cover_id: WorkingCover(cover_id, working[cover_id], left_e8)
                for cover_id, left_e8 in basis.working_e8.items()
                if cover_id in working
            }
            found.setdefault(basis.ordinal, []).append((basis, covers, under_way))
        return found

    def _plan(
        self, basis: PlanBasis, covers: Sequence[Row], under_way: Mapping[str, WorkingCover]
    ) -> Iterator[Found]:
        position = Position(
            self._client_mg, self._cover_mg, waiting={"waiting": basis.waiting_mg}, working=under_way
        )
        gone = [cover_id for cover_id in basis.working_e8 if cover_id not in under_way]
        # Without the contract of a cover that is gone, what was needed cannot be told.
        problems = [] if gone else plan_problems(position, [_planned(row) for row in covers])
        problems += [
            f"H3: cover {cover_id} was under way, and there is none"
            for cover_id in gone
            if cover_id not in basis.taken
        ]
        if self._last_plan is not None:
            problems += planner_problems(self._last_plan, basis)
        if basis.planner:
            self._last_plan = basis
        name = f"{self._name[1]}, after entry {basis.ordinal}"
        for problem in problems:
            yield _PLAN, Owner(self._name[0]), name, problem, "covers within the need, by one planner"

    async def _plans_beyond(self) -> list[Found]:
        """Plans that say they were made after an entry that there is not."""
        rows = await self._transaction.all("verify_plans", *self._name, self.ordinal + 1, _LAST)
        owner, metal = Owner(self._name[0]), self._name[1]
        return [
            (_PLAN, owner, f"{metal}, cover {row['id']}", f"entry {row['planned_after']}", self.ordinal)
            for row in rows[:_BATCH]
        ]


def _planned(row: Row) -> PlannedCover:
    quantity_e8 = row["quantity_e8"] if row["side"] == Side.BUY else -row["quantity_e8"]
    return PlannedCover(_contract(row["terms"]), quantity_e8, row["rule"], SUGGEST)
