"""The money of hedge books: a fold over the entries of a book, with what each entry was dealt at.

The fold begins at the newest row of `cover_marks`, so that its cost does not grow with the history of a book.
Entries of a book and its currency deals become visible in the order of their numbers, because whoever writes
one holds the lock of the book's position.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from bullion.hedge.book.events import CoverFill, CurrencyDeal
from bullion.hedge.book.marks import DOLLAR, BookMark, MarkRate, fresh_until_us, mark_of
from bullion.hedge.book.money import BookMoney, DealtOrder, OrderFill, closed, covered, dealt, deleted
from bullion.hedge.book.position import WorkingCover
from bullion.hedge.book.profit import Quote
from bullion.hedge.book.statement import Trade
from bullion.hedge.contract import Contract
from bullion.hedge.venue import as_given
from bullion.hedge.venues import FIX
from bullion.metals.metal import Metal
from bullion.metals.pricing import Landed
from bullion.metals.symbol import Side, Symbol
from bullion.rates.freshness import AHEAD_US_MAX
from bullion.rates.tick import Tick
from bullion.records.book_money import CurrencyRecord, DayMark
from bullion.records.page import Page

from .desk_transaction import DeskTransaction
from .engine import Engine, Row, Transaction, one_row

BookName = tuple[str, str]
"""Broker and metal."""
Step = tuple[int, BookMoney]
"""When something happened, and the money after it."""

READ_MAX = 2_000
"""How many entries a read folds. Nodes keep the rest far below this."""
_encode = msgspec.json.Encoder().encode
_contract = msgspec.json.Decoder(Contract).decode
_decode_mark = msgspec.json.Decoder(DayMark).decode


class BrokenBook(Exception):
    """The money of a book cannot be counted: an entry or a row that it needs is missing or cannot be read."""


class _LineTerms(msgspec.Struct, frozen=True):
    contract: Contract


_line_terms = msgspec.json.Decoder(_LineTerms).decode


class ProfitRecords(DeskTransaction):
    async def book_money(self, broker: str, metal: Metal) -> BookMoney:
        """See `newest_money`."""
        return await newest_money(self._transaction, (broker, metal.value))

    async def working_mg(self, broker: str) -> dict[Metal, int]:
        """What covers that were sent and have no final answer would add, if they were filled in full."""
        found: dict[Metal, int] = {}
        for row in await self._transaction.all("covers_under_way", broker):
            left_e8 = max(0, row["quantity_e8"] - row["filled_e8"])
            signed_e8 = left_e8 if row["side"] == Side.BUY else -left_e8
            metal = Metal(row["metal"])
            left_mg = WorkingCover("", _contract(row["terms"]), signed_e8).left_mg
            found[metal] = found.get(metal, 0) + left_mg
        return found

    async def last_currency_no(self, broker: str, metal: Metal) -> int:
        row = await one_row(self._transaction, "last_currency_deal", broker, metal.value)
        return int(row["number"])

    async def add_currency_deal(self, deal: CurrencyRecord, after_ordinal: int) -> None:
        """The position of the book must be locked; `after_ordinal` is its version."""
        number = await self.last_currency_no(deal.broker, deal.metal) + 1
        await self._transaction.run(
            "insert_currency_deal",
            deal.broker,
            deal.metal.value,
            number,
            deal.id,
            after_ordinal,
            deal.cents,
            deal.rate_e6,
            deal.cash_paise,
            deal.fee_paise,
            deal.reference,
            deal.made_by,
            deal.idempotency_key,
            deal.at_us,
        )

    async def currency_deal_of_key(self, broker: str, idempotency_key: str) -> CurrencyRecord | None:
        row = await self._find("currency_deal_by_key", broker, idempotency_key)
        return None if row is None else _currency(row)

    async def currency_deals(self, broker: str, page: Page) -> tuple[list[CurrencyRecord], int]:
        """Newest first."""
        found, total = await self._page("currency_deals_page", "count_currency_deals", broker, page)
        return [_currency(row) for row in found], total

    async def venue_trades(
        self, broker: str, venue: str, from_us: int, until_us: int, most: int
    ) -> list[Trade]:
        """What was dealt at a venue or on a line in that time, for covers and for single orders.

        `most`: of each kind.
        """
        span = (broker, from_us, until_us)
        found = [
            _trade(row, row["side"], _contract(row["terms"]))
            for row in await self._transaction.all("cover_trades", *span, venue, most)
        ]
        rows = [
            *await self._transaction.all("order_trades", *span, venue, most),
            *await self._transaction.all("line_trades", *span, FIX, most, venue),
        ]
        lines = await line_contracts(self._transaction, rows)
        for row in rows:
            _, contract = lines.get(row["order_id"]) or (venue, None)
            found.append(_trade(row, row["trade_type"], contract))
        return found


def book_mark(
    metal: Metal,
    contracts: Iterable[Contract],
    ticks: Iterable[Tick],
    symbols: Collection[Symbol],
    now_us: int,
) -> BookMark:
    """What values a book, from the broker's own active contracts, rates and symbols."""
    return mark_of(metal.value, contracts, mark_rates(ticks, symbols), now_us, dollar_of(symbols))


def mark_rates(ticks: Iterable[Tick], symbols: Iterable[Symbol]) -> dict[str, MarkRate]:
    """A broker's rates, by instrument, and how long each is fresh."""
    limits: dict[str, list[int | None]] = {}
    for symbol in symbols:
        for instrument in symbol.pricing.instruments:
            limits.setdefault(instrument, []).append(symbol.rate_age_s_max)
    return {
        each.instrument: MarkRate(
            Quote(each.bid_e6, each.ask_e6),
            each.at_us,
            fresh_until_us(each.holds_until_us, limits.get(each.instrument, ())),
            each.at_us - AHEAD_US_MAX,
        )
        for each in ticks
    }


def dollar_of(symbols: Iterable[Symbol]) -> str:
    """The instrument whose rate is the price of a dollar: that of the broker's landed prices."""
    landed = {each.pricing.currency for each in symbols if isinstance(each.pricing, Landed)}
    return DOLLAR if DOLLAR in landed or not landed else min(landed)


def _trade(row: Row, side: str, contract: Contract | None) -> Trade:
    """Of a deal by telephone, the symbol is the contract's code."""
    if contract is None:
        symbol = row["instrument"]
    else:
        symbol = contract.venue_symbol or contract.security_id or contract.code
    execution_id = as_given(row["execution_id"], row["order_id"])
    return Trade(execution_id, symbol, side, row["quantity_e8"], row["price_e6"])


# --- The fold --------------------------------------------------------------------------------------------


async def last_mark(transaction: Transaction, name: BookName) -> DayMark | None:
    row = await transaction.one("last_cover_mark", *name)
    return None if row is None else day_mark(row)


def day_mark(row: Row) -> DayMark:
    """May raise BrokenBook."""
    try:
        return _decode_mark(row["state"])
    except msgspec.DecodeError as error:
        raise BrokenBook(f"The money of {row['day']} cannot be read: {error}") from error


async def uncounted_books(engine: Engine) -> list[str]:
    """Of each book whose money cannot be counted, a sentence that says why."""

    async def read(transaction: Transaction) -> list[str]:
        found = []
        for row in await transaction.all("all_book_positions"):
            name = (row["broker"], row["metal"])
            try:
                await newest_money(transaction, name)
            except BrokenBook as broken:
                found.append(f"The money of the {name[1]} book of {name[0]} cannot be counted. {broken}")
        return found

    return await engine.read("uncounted_books", read, custom_plans=True)


async def newest_money(transaction: Transaction, name: BookName) -> BookMoney:
    """Up to the last entry, or up to `READ_MAX` entries after the last row of `cover_marks`.

    May raise BrokenBook.
    """
    last = await last_mark(transaction, name)
    start = BookMoney() if last is None else last.money
    steps = await money_steps(transaction, name, start, READ_MAX)
    return steps[-1][1] if steps else start


async def put_mark(transaction: Transaction, name: BookName, mark: DayMark, from_ordinal: int | None) -> None:
    """`from_ordinal`: the entry that the row of this day had. None: there was no such row."""
    values = (mark.day.isoformat(), mark.money.ordinal, _encode(mark).decode())
    await transaction.run("put_cover_mark", *name, *values, -1 if from_ordinal is None else from_ordinal)


async def money_steps(transaction: Transaction, name: BookName, start: BookMoney, most: int) -> list[Step]:
    """The money after each of the next entries and currency deals, up to so many of each.

    May raise BrokenBook.
    """
    after = (*name, start.ordinal, most)
    entries = await transaction.all("money_of_entries", *after)
    deals = await transaction.all("currency_deals_after", *name, start.currency_no, most)
    reached = [rows[-1][column] for rows, column in _cut(entries, deals, most)]
    until = min(reached, default=None)
    fills, order_fills = await _fills(transaction, after, entries)
    happened = [((row["ordinal"], 0), row) for row in entries]
    happened += [((row["after_ordinal"], row["number"]), row) for row in deals]
    money, steps = start, []
    for (ordinal, number), row in sorted(happened, key=lambda each: each[0]):
        if until is not None and ordinal > until:
            break
        try:
            if number:
                money = _after_currency_deal(money, row)
            else:
                money = _after_entry(money, row, fills.get(ordinal, ()), order_fills.get(ordinal, ()))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise BrokenBook(
                f"The entry {ordinal} of the hedge book cannot be counted: {error!r}."
            ) from error
        steps.append((int(row["at_us"]), money))
    return steps


def _cut(entries: Sequence[Row], deals: Sequence[Row], most: int) -> Iterable[tuple[Sequence[Row], str]]:
    """Those lists that may go on, with the column that says how far they reach."""
    if len(entries) >= most:
        yield entries, "ordinal"
    if len(deals) >= most:
        yield deals, "after_ordinal"


async def _fills(
    transaction: Transaction, after: tuple[str, str, int, int], entries: Sequence[Row]
) -> tuple[Mapping[int, Sequence[Row]], Mapping[int, Sequence[OrderFill]]]:
    """The fills of covers, and those of single orders, by the ordinal of their entry."""
    fills: dict[int, list[Row]] = {}
    if any(row["kind"] == "fill" for row in entries):
        for row in await transaction.all("fills_of_entries", *after):
            fills.setdefault(row["entry"], []).append(row)
    found: dict[int, list[OrderFill]] = {}
    if any(row["kind"] == "deal" and row["cover_mg"] for row in entries):
        rows = await transaction.all("order_fills_of_entries", *after)
        contracts = {each: terms for each, (_, terms) in (await line_contracts(transaction, rows)).items()}
        for row in rows:
            sent_id = row["order_id"]
            fill = OrderFill(sent_id, row["quantity_e8"], row["price_e6"], contracts.get(sent_id))
            found.setdefault(row["entry"], []).append(fill)
    return fills, found


async def line_contracts(transaction: Transaction, rows: Sequence[Row]) -> dict[str, tuple[str, Contract]]:
    """The line and the contract of those fills that were dealt on a line, by the id that was sent."""
    if not rows:
        return {}
    ids = _encode(sorted({row["order_id"] for row in rows})).decode()
    return {
        row["order_id"]: (row["line"], _line_terms(row["terms"]).contract)
        for row in await transaction.all("line_terms", ids)
    }


def _after_entry(
    money: BookMoney, row: Row, fills: Sequence[Row], order_fills: Sequence[OrderFill]
) -> BookMoney:
    money = msgspec.structs.replace(money, ordinal=row["ordinal"])
    if row["kind"] == "opening":
        return money
    if row["kind"] == "fill":
        return _after_fill(money, row, fills)
    order, at_us = _order(row), row["at_us"]
    if row["kind"] == "deal":
        cover_mg = row["cover_mg"]
        if cover_mg:
            priced = covered(order, cover_mg, order_fills, money.dollar_e6, at_us)
        else:
            priced = dealt(order, at_us)
    else:
        priced = closed(order, at_us) if row["kind"] == "close" else deleted(order, at_us)
    return money.after(priced.deal, estimated=priced.estimated, dollar_e6=priced.dollar_e6)


def _order(row: Row) -> DealtOrder:
    if row["total_paise"] is None:
        raise BrokenBook(f"The order {row['name']} of the hedge book is not in the store.")
    return DealtOrder(
        row["name"],
        row["trade_type"],
        row["quantity_e4"],
        abs(row["client_mg"]),
        row["total_paise"],
        row["price_anatomy"],
        row["realized_pnl_paise"] or 0,
    )


def _after_fill(money: BookMoney, row: Row, fills: Sequence[Row]) -> BookMoney:
    fill = _fill_of(row, fills)
    contract = _contract(fill["terms"])
    quantity_e8 = fill["quantity_e8"] if fill["side"] == Side.BUY else -fill["quantity_e8"]
    event = CoverFill(
        fill["execution_id"],
        fill["cover_id"],
        contract,
        quantity_e8,
        fill["price_e6"],
        fill["reference_e6"] or fill["price_e6"],
        fill["fee_minor"],
        fill["dollar_e6"] or money.dollar_e6,
        fill["at_us"],
        row["cover_mg"],
    )
    estimated = event.in_dollars and not fill["dollar_e6"]
    return money.after(event, estimated=estimated, dollar_e6=event.dollar_e6 if event.in_dollars else 0)


def _fill_of(row: Row, fills: Sequence[Row]) -> Row:
    """The fill that an entry is about: two venues may give the same id to their executions.

    A cover ends in the transaction that enters its fills. The venue's own time of a fill may be any.
    """

    def distance(fill: Row) -> tuple[bool, bool, int]:
        signed_mg = fill["fine_mg"] if fill["side"] == Side.BUY else -fill["fine_mg"]
        elsewhere = fill["finished_at_us"] != row["at_us"]
        return signed_mg != row["cover_mg"], elsewhere, abs(fill["at_us"] - row["at_us"])

    found = min(fills, key=distance, default=None)
    if found is None:
        raise BrokenBook(f"The execution {row['name']} of the hedge book is not in the store.")
    return found


def _after_currency_deal(money: BookMoney, row: Row) -> BookMoney:
    event = CurrencyDeal(row["id"], row["cents"], row["cash_paise"], row["fee_paise"], row["at_us"])
    money = msgspec.structs.replace(money, currency_no=row["number"])
    return money.after(event, dollar_e6=row["rate_e6"])


def _currency(row: Row) -> CurrencyRecord:
    return CurrencyRecord(
        row["id"],
        row["broker"],
        Metal(row["metal"]),
        row["cents"],
        row["rate_e6"],
        row["cash_paise"],
        row["fee_paise"],
        row["reference"],
        row["made_by"],
        row["idempotency_key"],
        row["at_us"],
    )
