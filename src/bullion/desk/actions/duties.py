"""Duty tables: what the landed price adds, from which day on."""

from bullion.desk import bodies
from bullion.desk.bodies import DutyBody
from bullion.desk.desk import Desk, Done, View
from bullion.metals.rupees import rupees_text
from bullion.rates.duty import Duty, DutyTable
from bullion.records.port import Records
from bullion.records.token import Actor


async def put_duty(desk: Desk, actor: Actor, name: str, rows: list[DutyBody]) -> View:
    """The whole table at once; the rows may come in any order."""
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
        before = await records.duty(actor.broker, name)
        await records.put_duty(table)
        kept = _kept(table)
        return Done(None if before is None else _kept(before), kept, view(table, await records.now_us()))

    return await desk.change(actor, "put_duty", name, work)


async def list_duties(desk: Desk, actor: Actor) -> list[View]:
    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        return [view(table, now_us) for table in await records.duties(actor.broker)]

    return await desk.read(actor, "duties", work)


def _kept(table: DutyTable) -> View:
    return {"name": table.name, "duties": [_row(duty) for duty in table.duties]}


def _row(duty: Duty) -> View:
    return {"from": duty.from_date.isoformat(), "rupees": rupees_text(duty.rupees_paise)}


def view(table: DutyTable, now_us: int) -> View:
    in_force = table.in_force(now_us)
    return {**_kept(table), "in_force": None if in_force is None else _row(in_force)}
