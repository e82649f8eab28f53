"""Moves the money of hedge books forward. See `bullion.booking.book_keeping`.

`cover_marks` has a row for each day of a book. The newest one is where every later count begins.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import structlog

from bullion.booking.book_keeping import BookRisk, KeptBooks
from bullion.faults import StoreFault
from bullion.hedge.book.marks import BookMark
from bullion.hedge.book.money import BookMoney
from bullion.hedge.book.risk import value_at_risk_paise
from bullion.metals.metal import Metal
from bullion.metals.symbol import Symbol
from bullion.rates.tick import Tick
from bullion.records.book_money import DayMark
from bullion.records.hedge_book import BookPosition

from .book_profit import BookName, BrokenBook, Step, book_mark, day_mark, money_steps, put_mark
from .book_records import book_position
from .cover_records import stored_contract
from .engine import Engine, Row, Transaction

BATCH = 500
_LEASE, _LEASE_US = "book_money", 10_000_000
_MARK_US = 60_000_000
"""How often the mark of the day is written while nothing is dealt."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_log = structlog.get_logger("hedge")


class Surroundings(msgspec.Struct, frozen=True):
    """What a node knows of a broker."""

    zone: ZoneInfo
    ticks: Sequence[Tick]
    symbols: Sequence[Symbol]


class _Book(msgspec.Struct, frozen=True):
    position: BookPosition
    last: DayMark | None
    currency_no: int
    mark: BookMark
    zone: ZoneInfo
    today: date

    @property
    def name(self) -> tuple[str, str]:
        return self.position.broker, self.position.metal.value

    @property
    def start(self) -> BookMoney:
        return BookMoney() if self.last is None else self.last.money

    def wants_work(self) -> bool:
        """Whether something was dealt, the day has changed, or the mark of the day is old."""
        start, last = self.start, self.last
        if last is None or (start.ordinal, start.currency_no) != (self.position.version, self.currency_no):
            return True
        if self.today > last.day:
            return True
        return self.mark.mark is not None and (
            last.mark is None or self.mark.at_us - last.mark.at_us >= _MARK_US
        )

    def risk(self) -> BookRisk:
        mark, position = self.mark.mark, self.position
        paise = None
        if mark is not None:
            paise = value_at_risk_paise(position.residual_mg, mark, position.volatility_e4)
        return BookRisk(*self.name, paise)


class StoredBookKeeping:
    def __init__(
        self,
        engine: Engine,
        holder: str,
        now_us: Callable[[], int],
        surroundings: Callable[[str], Surroundings],
        batch: int = BATCH,
    ) -> None:
        self._engine = engine
        self._holder = holder
        self._now_us = now_us
        self._surroundings = surroundings
        self._batch = batch
        self._told: dict[BookName, str] = {}
        """Why a book could not be counted, so that each reason is logged once."""

    async def step(self) -> KeptBooks:
        broken: dict[BookName, Exception] = {}
        books = await self._engine.read(
            "book_keeping", lambda open_: self._read(open_, broken), custom_plans=True
        )
        waiting = [each for each in books if each.wants_work()]
        held = bool(waiting) and await self._take_lease()
        more, fault = False, None
        for book in waiting if held else ():
            try:
                more = await self._keep(book) or more
            except StoreFault as error:
                fault = fault or error
            except Exception as error:  # noqa: BLE001 - the other books are counted all the same
                broken[book.name] = error
        self._tell(broken)
        if fault is not None:
            raise fault
        return KeptBooks(tuple(each.risk() for each in books), more, tuple(broken))

    def _tell(self, broken: Mapping[BookName, Exception]) -> None:
        told, self._told = self._told, {}
        for name, error in broken.items():
            foreseen = isinstance(error, BrokenBook)
            self._told[name] = reason = str(error) if foreseen else repr(error)
            if told.get(name) != reason:
                trace = None if foreseen else error
                _log.error("book_broken", broker=name[0], metal=name[1], reason=reason, exc_info=trace)

    async def _read(self, transaction: Transaction, broken: dict[BookName, Exception]) -> list[_Book]:
        contracts: dict[str, list[Row]] = defaultdict(list)
        for row in await transaction.all("active_contracts"):
            contracts[row["broker"]].append(row)
        found = []
        for row in await transaction.all("books_to_keep"):
            try:
                found.append(self._book(row, contracts[row["broker"]]))
            except Exception as error:  # noqa: BLE001 - as above
                broken[row["broker"], row["metal"]] = error
        return found

    def _book(self, row: Row, contract_rows: Iterable[Row]) -> _Book:
        position, now_us = book_position(row), self._now_us()
        contracts = [stored_contract(each).contract for each in contract_rows]
        around = self._surroundings(position.broker)
        mark = book_mark(Metal(position.metal), contracts, around.ticks, around.symbols, now_us)
        last = None if row["state"] is None else day_mark(row)
        return _Book(position, last, row["currency_no"], mark, around.zone, _day(now_us, around.zone))

    async def _take_lease(self) -> bool:
        now_us = self._now_us()
        lease = (_LEASE, self._holder, now_us + _LEASE_US, now_us)
        taken = await self._engine.write("book_keeping_lease", lambda open_: open_.one("take_lease", *lease))
        return taken is not None

    async def _keep(self, book: _Book) -> bool:
        """Count the next entries of a book. Returns whether there may be more. May raise BrokenBook."""

        async def read(transaction: Transaction) -> list[Step]:
            return await money_steps(transaction, book.name, book.start, self._batch)

        steps = await self._engine.read("book_money", read, custom_plans=True)
        rows = day_marks(book.last, steps, book.zone, book.today, book.mark, more=len(steps) >= self._batch)

        async def write(transaction: Transaction) -> None:
            for row in rows:
                same = book.last is not None and row.day == book.last.day
                await put_mark(transaction, book.name, row, book.start.ordinal if same else None)

        await self._engine.write("book_marks", write)
        return len(steps) >= self._batch


def day_marks(
    last: DayMark | None, steps: Iterable[Step], zone: ZoneInfo, today: date, mark: BookMark, *, more: bool
) -> list[DayMark]:
    """The rows of the days after these steps, oldest first. Days never go back, also if the zone changed."""
    money = BookMoney() if last is None else last.money
    day = None if last is None else last.day
    ends: dict[date, BookMoney] = {}
    for at_us, after in steps:
        own = _day(at_us, zone)
        day = own if day is None else max(day, own)
        ends[day] = money = after
    if not more:
        day = today if day is None else max(day, today)
        ends[day] = money
    return [DayMark(each, ends[each], _mark_of(each, last, today, mark)) for each in sorted(ends)]


def _mark_of(day: date, last: DayMark | None, today: date, mark: BookMark) -> BookMark | None:
    """A day that has ended keeps its last mark. Without a fresh rate, so does today."""
    if day >= today and mark.mark is not None:
        return mark
    return last.mark if last is not None and last.day == day else None


def _day(at_us: int, zone: ZoneInfo) -> date:
    return (_EPOCH + timedelta(microseconds=at_us)).astimezone(zone).date()
