"""The broker's switches: production, pause, halt, tolerance, trading hours and budgets."""

from dataclasses import asdict
from zoneinfo import ZoneInfo

import msgspec

from bullion.accounts.switches import BudgetLimits, PublicRates, Switches
from bullion.accounts.trading_hours import DAYS, Opening, TradingHours
from bullion.desk import texts
from bullion.desk.audit_wording.prices import tell_switches
from bullion.desk.bodies import SwitchesBody, TradingHoursBody
from bullion.desk.conversion import Changes, convert, rule
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, unreadable_error, unreadable_view
from bullion.metals.scaled import plain
from bullion.orders.instant import instant_text
from bullion.records.token import Actor, Role
from bullion.store.records import Records
from bullion.unreadable import Unreadable


async def _undo(records: Records, broker: str, _subject: str, earlier: View) -> ChangeResult:
    held, unreadable = await find_switches(records, broker)
    restored = _switches(broker, convert(earlier, SwitchesBody))
    await records.put_switches(restored)
    return ChangeResult(_view(held, unreadable), view(restored))


@action(
    "PATCH /switches",
    Role.ADMIN,
    dealer_fields=["halted"],
    dealer_values={"paused": True},
    audit_text="changed switches",
    tell=tell_switches,
    command="switches set",
    moves_prices=["price_tolerance_percent", "price_move_percent_max", "refuse_crossed"],
    undo=_undo,
)
async def patch_switches(
    desk: Desk, actor: Actor, changes: Changes[SwitchesBody], *, only_if: OnlyIf | None = None
) -> View:
    """Change switches.

    \b
    Examples:
      bullion desk switches set halted=true
      bullion desk switches set budgets.reads_per_minute=600 price_tolerance_percent=0.25
      bullion desk switches set 'trading_hours={"zone": "Asia/Kolkata", "week": {"mon": [["10:00","23:30"]]}}'
      bullion desk switches set trading_hours=null
      bullion desk switches set 'public_rates={"group": "retail", "title": "Rates of today"}'
      bullion desk switches set quote_stream_interval_ms=1000
    """
    fields = changes.fields

    async def work(records: Records) -> ChangeResult:
        held, unreadable = await find_switches(records, actor.broker)
        if unreadable is not None and "trading_hours" not in fields:
            raise unreadable_error(unreadable)
        after = _switches(actor.broker, changes.applied_to(view(held)))
        shown = after.public_rates if "public_rates" in fields else None
        if shown is not None and await records.group(actor.broker, shown.group) is None:
            raise invalid_field(("public_rates", "group"), "there is no such group")
        await records.put_switches(after)
        return ChangeResult(_view(held, unreadable), view(after))

    return await desk.change(actor, ", ".join(sorted(fields)), work, only_if=only_if)


@action("GET /switches", command="switches show")
async def get_switches(desk: Desk, actor: Actor) -> View:
    """Show the broker's switches."""
    return _view(*await desk.read(actor, "switches", lambda records: find_switches(records, actor.broker)))


async def get_opening(desk: Desk, actor: Actor) -> View:
    """Whether the market is open by the timetable, and when that changes next. Halts are not considered."""

    async def work(records: Records) -> View:
        now_us = await records.now_us()
        hours = (await find_switches(records, actor.broker))[0].trading_hours
        changes_us = None if hours is None else hours.next_change_us(now_us)
        return {
            "open": hours is None or hours.is_open(now_us),
            "changes_at": None if changes_us is None else instant_text(changes_us),
        }

    return await desk.read(actor, "opening", work)


async def find_switches(records: Records, broker: str) -> tuple[Switches, Unreadable | None]:
    """As nodes use them: if they cannot be read, a closed stand-in and the reason."""
    held = await read_or_unreadable(records.switches(broker))
    if not isinstance(held, Unreadable):
        return held or Switches(broker), None
    closed = held.stand_in
    return closed if isinstance(closed, Switches) else Switches(broker).closed(), held


def _switches(broker: str, body: SwitchesBody) -> Switches:
    return Switches(
        broker=broker,
        production=body.production,
        paused=body.paused,
        halted=body.halted,
        price_tolerance_percent_e4=texts.percent(body.price_tolerance_percent),
        trading_hours=None if body.trading_hours is None else _trading_hours(body.trading_hours),
        budgets=BudgetLimits(**msgspec.structs.asdict(body.budgets)),
        price_move_percent_max_e4=texts.percent(body.price_move_percent_max),
        refuse_crossed=body.refuse_crossed,
        public_rates=None
        if body.public_rates is None
        else PublicRates(body.public_rates.group, body.public_rates.title),
        quote_stream_interval_ms=body.quote_stream_interval_ms,
    )


def _trading_hours(body: TradingHoursBody) -> TradingHours:
    def made() -> TradingHours:
        return TradingHours(
            zone=ZoneInfo(body.zone),
            week=tuple(tuple(_opening(pair) for pair in body.week.get(day, ())) for day in DAYS),
            holidays=frozenset(texts.day(text) for text in body.holidays),
        )

    return rule(("trading_hours",), made)


def _opening(pair: tuple[str, str]) -> Opening:
    start, end = pair
    return Opening(texts.clock(start), texts.closing(end))


def _view(switches: Switches, unreadable: Unreadable | None) -> View:
    shown = view(switches)
    return shown if unreadable is None else shown | unreadable_view(unreadable)


def view(switches: Switches) -> View:
    return {
        "production": switches.production,
        "paused": switches.paused,
        "halted": switches.halted,
        "price_tolerance_percent": plain(switches.price_tolerance_percent_e4, 4),
        "trading_hours": _trading_hours_view(switches.trading_hours),
        "budgets": asdict(switches.budgets),
        "price_move_percent_max": plain(switches.price_move_percent_max_e4, 4),
        "refuse_crossed": switches.refuse_crossed,
        "public_rates": None if switches.public_rates is None else asdict(switches.public_rates),
        "quote_stream_interval_ms": switches.quote_stream_interval_ms,
    }


def _trading_hours_view(hours: TradingHours | None) -> View | None:
    if hours is None:
        return None
    return {
        "zone": hours.zone.key,
        "week": {
            day: [[f"{each.start:%H:%M}", _end_text(each)] for each in openings]
            for day, openings in zip(DAYS, hours.week, strict=True)
            if openings
        },
        "holidays": sorted(day.isoformat() for day in hours.holidays),
    }


def _end_text(opening: Opening) -> str:
    return f"{opening.end:%H:%M}" if opening.end else texts.END_OF_DAY
