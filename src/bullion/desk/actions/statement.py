"""Compares a venue's statement of a day with what the broker dealt there."""

import asyncio
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bullion.desk import texts
from bullion.desk.audit_wording.hedging import tell_statement
from bullion.desk.bodies import StatementBody
from bullion.desk.desk import Desk, View
from bullion.desk.registry import action
from bullion.hedge.book.statement import StatementReport, Trade, compare_statement
from bullion.metals.scaled import plain
from bullion.orders.instant import EPOCH
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .switches import find_switches

TRADES_MAX = 50_000
"""Of one venue and day, so that a comparison takes no more than moments."""
_QUANTITY_PLACES, _RATE_PLACES = 8, 6
_US = timedelta(microseconds=1)


@action(
    "POST /hedge/statement",
    Role.DEALER,
    audit_text="compared a statement",
    tell=tell_statement,
    command="hedge statement",
    columns="venue day agrees matched missing extra different bad_lines",
)
async def compare_day(desk: Desk, actor: Actor, body: StatementBody) -> View:
    """Compare a venue's trades of a day, as CSV, with the fills of orders and covers, by execution id.

    The day is one of the broker's time zone. The file needs the columns execution_id, symbol, side, quantity
    and price, in any order. missing are our fills that the statement lacks, extra its trades that we lack.

    \b
    Example:
      bullion desk hedge statement trades.csv --venue mcx --day 2026-11-17
    """
    day = texts.day(body.day)

    async def work(records: Records) -> list[Trade]:
        switches, _ = await find_switches(records, actor.broker)
        span_us = _span_us(day, switches.zone)
        return await records.venue_trades(actor.broker, body.venue, *span_us, TRADES_MAX + 1)

    ours = await desk.report(actor, "venue_trades", work)
    if len(ours) > TRADES_MAX:
        raise RefusalError(CONFLICT, f"There are more than {TRADES_MAX} trades of {body.venue} on that day.")
    report = await asyncio.to_thread(compare_statement, body.csv, ours)
    view = {"venue": body.venue, "day": body.day, **_view(report)}
    await desk.add_audit_entry(actor, body.venue, _summary(view))
    return view


def _span_us(day: date, zone: ZoneInfo) -> tuple[int, int]:
    """The times at which the day begins and ends by the zone's clocks."""
    following = day if day == date.max else day + timedelta(days=1)
    begin, end = ((datetime.combine(each, time(0), zone) - EPOCH) // _US for each in (day, following))
    return begin, end


def _view(report: StatementReport) -> View:
    return {
        "agrees": report.agrees,
        "matched": report.matched,
        "missing": _trades(report.missing),
        "extra": _trades(report.extra),
        "different": [
            {
                "execution_id": each.execution_id,
                "field": each.field,
                "ours": each.ours,
                "theirs": each.theirs,
            }
            for each in report.different
        ],
        "bad_lines": [{"line": each.line, "message": each.message} for each in report.bad_lines],
    }


def _trades(trades: Iterable[Trade]) -> list[View]:
    return [
        {
            "execution_id": each.execution_id,
            "symbol": each.symbol,
            "side": each.side,
            "quantity": plain(each.quantity_e8, _QUANTITY_PLACES),
            "price": plain(each.price_e6, _RATE_PLACES),
        }
        for each in trades
    ]


def _summary(view: View) -> View:
    """For the trail: the numbers."""
    return {name: len(value) if isinstance(value, list) else value for name, value in view.items()}
