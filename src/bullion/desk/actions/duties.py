"""Duty tables: the import duty in landed prices, by date."""

from collections.abc import Sequence
from dataclasses import replace

from bullion.desk import texts
from bullion.desk.audit_wording.prices import tell_duty
from bullion.desk.bodies import DutyRows
from bullion.desk.conversion import require_code, rule
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.price_confirmation import preview
from bullion.desk.price_guard import moved_prices
from bullion.desk.price_snapshot import read_snapshot
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.metals.rupees import paise, rupees_text
from bullion.rates.duty import Duty, DutyTable, duty_day
from bullion.records.market import PricedOrder
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable

_COUNTED = 100
"""So many orders that an entry priced are counted."""
_RECENT_US = 60_000_000
"""How far the clocks of nodes, which order times come from, may be behind."""


async def _undo(records: Records, broker: str, name: str, earlier: View) -> ChangeResult:
    rows = [Duty(texts.day(row["from"]), paise(row["rupees"])) for row in earlier["duties"]]
    return await _put(records, DutyTable(broker, name, tuple(rows)))


@action(
    "PUT /duties/{name}",
    Role.ADMIN,
    audit_text="set a duty",
    tell=tell_duty,
    command="duties put",
    moves_prices=True,
    undo=_undo,
)
async def put_duty(
    desk: Desk, actor: Actor, name: str, body: DutyRows, *, only_if: OnlyIf | None = None
) -> View:
    """Create or replace the duty table NAME.

    Each row is a date in India from which a duty applies, and its rupees per quoted weight. Give all rows:
    the table is replaced, and rows that you leave out are removed.

    \b
    Example:
      bullion desk duties put gold 2026-05-13=6250 2026-11-01=6100.50
    """
    table = _table(actor, name, body)

    async def check(records: Records) -> tuple[DutyTable | Unreadable | None, int]:
        before, now_us = await read_or_unreadable(records.duty(actor.broker, name)), await records.now_us()
        await _require_unused(records, before, table.duties, now_us)
        return before, now_us

    # Searching the orders of years is slow, so it is done in a read, which blocks nobody.
    checked, checked_us = await desk.read(actor, "duty_in_use", check)

    async def work(records: Records) -> ChangeResult:
        return await _put(records, table, checked, checked_us)

    return await desk.change(actor, name, work, only_if=only_if)


def _table(actor: Actor, name: str, body: DutyRows) -> DutyTable:
    require_code("duty name", name)
    duties = [Duty(texts.day(row.from_date), paise(row.rupees)) for row in body]
    return rule((), DutyTable, actor.broker, name, tuple(sorted(duties, key=lambda duty: duty.from_date)))


async def preview_duty(desk: Desk, actor: Actor, name: str, body: DutyRows) -> View:
    """The prices of clients that such a table would move. Nothing is stored."""
    table = _table(actor, name, body)

    async def work(records: Records) -> View:
        before = await read_snapshot(records, actor.broker)
        after = replace(before, duties={**before.duties, name: table})
        return preview(moved_prices(before, after), "prices")

    return await desk.read(actor, "duty_preview", work)


async def require_changeable(desk: Desk, actor: Actor, name: str, day: str) -> None:
    """Refuse to change or remove the entry of a day that production orders were priced by."""

    async def work(records: Records) -> None:
        table = await read_or_unreadable(records.duty(actor.broker, name))
        if isinstance(table, DutyTable):
            others = [each for each in table.duties if each.from_date.isoformat() != day]
            await _require_unused(records, table, others, await records.now_us())

    await desk.read(actor, "duty_in_use", work)


async def _put(
    records: Records,
    table: DutyTable,
    checked: DutyTable | Unreadable | None = None,
    checked_us: int = 0,
) -> ChangeResult:
    """`checked`: the table whose orders were searched before, up to that time."""
    before = await read_or_unreadable(records.duty(table.broker, table.name))
    now_us = await records.now_us()
    since_us = checked_us - _RECENT_US if before == checked else 0
    await _require_unused(records, before, table.duties, now_us, since_us)
    await records.put_duty(table)
    return ChangeResult(None if before is None else view_of(before, _kept), _kept(table), view(table, now_us))


@action("GET /duties", command="duties list", columns="name from rupees in_force")
async def list_duties(desk: Desk, actor: Actor) -> list[View]:
    """List the duty tables, and which row of each applies today."""

    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        tables = await records.duties(actor.broker)
        return [view_of(each, lambda table: view(table, now_us)) for each in tables]

    return await desk.read(actor, "duties", work)


async def _require_unused(
    records: Records,
    before: DutyTable | Unreadable | None,
    after: Sequence[Duty],
    now_us: int,
    since_us: int = 0,
) -> None:
    """Refuse to change a past entry that production orders were priced by, since `since_us`.

    A new entry between two past days shortens the period of the entry before it. A table that cannot be read
    prices nothing, and may be replaced.
    """
    if not isinstance(before, DutyTable):
        return
    today = duty_day(now_us)
    added = [duty for duty in after if duty not in before.duties]
    for duty, next_us in before.spans():
        until_us = now_us if next_us is None else next_us
        from_us = duty.from_us
        if duty in after:
            begin = [each.from_us for each in added if each.from_date < today and each.from_us > from_us]
            from_us = min(begin, default=until_us)
        from_us = max(from_us, since_us)
        if duty.from_date >= today or from_us >= until_us:
            continue
        if orders := await records.orders_priced_by(before, duty, from_us, until_us, _COUNTED):
            raise RefusalError(
                CONFLICT,
                f"The duty {before.name} from {duty.from_date} stays as it is: {_orders_text(orders)} priced "
                f"by it. Add an entry from today or a later day instead.",
            )


def _orders_text(orders: Sequence[PricedOrder]) -> str:
    """3 production orders, the first of them deal 12 (its id), were"""
    first, number = orders[0], len(orders)
    name = first.id if first.deal_no is None else f"deal {first.deal_no} ({first.id})"
    if number == 1:
        return f"the production order {name} was"
    at_least = "at least " if number == _COUNTED else ""
    return f"{at_least}{number} production orders, the first of them {name}, were"


def _kept(table: DutyTable) -> View:
    return {"name": table.name, "duties": [_row(duty) for duty in table.duties]}


def _row(duty: Duty) -> View:
    return {"from": duty.from_date.isoformat(), "rupees": rupees_text(duty.rupees_paise)}


def view(table: DutyTable, now_us: int) -> View:
    in_force = table.in_force(now_us)
    return {**_kept(table), "in_force": None if in_force is None else _row(in_force)}
