"""Duty tables: what the landed price adds, from which day on."""

from bullion.desk import bodies
from bullion.desk.bodies import DutyBody
from bullion.desk.desk import Desk, Done, View
from bullion.desk.unreadable import found, view_of
from bullion.metals.rupees import rupees_text
from bullion.rates.duty import Duty, DutyTable, duty_day
from bullion.records.port import Records
from bullion.records.token import Actor
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import Refused


async def put_duty(desk: Desk, actor: Actor, name: str, rows: list[DutyBody]) -> View:
    """The whole table at once; the rows may come in any order.

    An entry of a past day that priced a production order stays as it is.
    """
    bodies.code("duty name", name)
    duties = sorted(
        (
            Duty(bodies.day("from", row.from_date), bodies.rupees(f"rupees from {row.from_date}", row.rupees))
            for row in rows
        ),
        key=lambda duty: duty.from_date,
    )
    table = bodies.rule("", DutyTable, actor.broker, name, tuple(duties))

    async def work(records: Records) -> Done:
        before = await found(records.duty(actor.broker, name))
        now_us = await records.now_us()
        if isinstance(before, DutyTable):
            await _require_unused(records, before, table, now_us)
        await records.put_duty(table)
        kept = _kept(table)
        return Done(None if before is None else view_of(before, _kept), kept, view(table, now_us))

    return await desk.change(actor, "put_duty", name, work)


async def list_duties(desk: Desk, actor: Actor) -> list[View]:
    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        tables = await records.duties(actor.broker)
        return [view_of(each, lambda table: view(table, now_us)) for each in tables]

    return await desk.read(actor, "duties", work)


async def _require_unused(records: Records, before: DutyTable, after: DutyTable, now_us: int) -> None:
    """Refuse to replace or remove an entry of a past day by which a production order was priced."""
    for duty, until_us in before.spans():
        if duty in after.duties or duty.from_date >= duty_day(now_us):
            continue
        order_id = await records.order_priced_by(before, duty, now_us if until_us is None else until_us)
        if order_id is not None:
            raise Refused(
                CONFLICT,
                f"The entry of duty {before.name} from {duty.from_date} cannot be changed or removed: "
                f"production orders were priced by it, such as {order_id}. Keep it, and add an entry from "
                "today or a later day.",
            )


def _kept(table: DutyTable) -> View:
    return {"name": table.name, "duties": [_row(duty) for duty in table.duties]}


def _row(duty: Duty) -> View:
    return {"from": duty.from_date.isoformat(), "rupees": rupees_text(duty.rupees_paise)}


def view(table: DutyTable, now_us: int) -> View:
    in_force = table.in_force(now_us)
    return {**_kept(table), "in_force": None if in_force is None else _row(in_force)}
