"""Settling a cover by hand: the venue has it, or may have it, and does not answer."""

import msgspec

from bullion.booking.cover_fills import terms_of
from bullion.desk import texts
from bullion.desk.audit_wording.hedging import tell_cover
from bullion.desk.bodies import CoverSettlingBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.hedge.cover import DROPPED, FILLED, PARTLY, SENT, BookCover
from bullion.hedge.fix.line_control import FRESH_US
from bullion.hedge.fix.session_effects import LineState
from bullion.hedge.simulated import Mode
from bullion.hedge.venue import Fill
from bullion.records.hedge_book import CoverDeal
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .covers import COVER_COLUMNS, cover_view, require_steps

_TALKING = frozenset({LineState.UP, LineState.RECOVERING, LineState.LEAVING})
"""States of a line in which the venue may be asked."""
_US_PER_S = 1_000_000


@action(
    "POST /hedge/covers/{id}/settle",
    Role.DEALER,
    audit_text="settled a cover by hand",
    tell=tell_cover("settled by hand"),
    command="hedge cover-settle",
    columns=COVER_COLUMNS,
)
async def settle_cover(desk: Desk, actor: Actor, cover_id: str, body: CoverSettlingBody) -> View:
    """End a cover that was sent and that the venue does not answer, by what the venue said on the telephone.

    executed: the fills that the venue named. none: it has none of it. This is refused while the venue can be
    asked. If the venue later reports anything else, a break is shown. To repeat it changes nothing.

    \b
    Examples:
      bullion desk hedge cover-settle ID executed --fill X17=2@71250 --reason "told by their desk"
      bullion desk hedge cover-settle ID none --reason "their desk has no such order"
    """

    async def work(records: Records) -> ChangeResult:
        cover = await records.lock_cover(actor.broker, cover_id)
        if cover is None:
            raise RefusalError(NOT_FOUND, f"There is no cover {cover_id}.")
        at_us = await records.now_us()
        fills = _fills(cover, body, at_us)
        if await _done_before(records, cover, fills):
            shown = await _shown(records, cover)
            return ChangeResult(shown, shown)
        await _require_unanswered(desk, records, cover, at_us)
        await _add(records, cover, fills, at_us)
        dealt_e8 = sum(each.quantity_e8 for each in fills)
        state = FILLED if dealt_e8 == cover.quantity_e8 else PARTLY if dealt_e8 else DROPPED
        execution_id = fills[0].execution_id if fills else None
        await records.settle_cover(cover, state, execution_id, body.reason, actor.name, at_us)
        settled = msgspec.structs.replace(
            cover, state=state, words=body.reason, finished_at_us=at_us, settled_by=actor.name
        )
        return ChangeResult(cover_view(cover, []), await _shown(records, settled))

    return await desk.change(actor, cover_id, work, catalogue=False)


async def _shown(records: Records, cover: BookCover) -> View:
    return cover_view(cover, (await records.cover_deals([cover])).get(cover.id, []))


def _fills(cover: BookCover, body: CoverSettlingBody, at_us: int) -> list[Fill]:
    if (body.outcome == "executed") != bool(body.fills):
        wanted = (
            "must be given" if body.outcome == "executed" else "must be empty if the venue has none of it"
        )
        raise invalid_field(("fills",), wanted)
    fills = []
    for place, each in enumerate(body.fills):
        quantity_e8 = texts.cover_quantity(each.quantity)
        require_steps(cover.contract, quantity_e8, "fills", str(place), "quantity")
        fills.append(Fill(each.execution_id, quantity_e8, texts.rate(each.price), at_us))
    if len({each.execution_id for each in fills}) < len(fills):
        raise invalid_field(("fills",), "names an execution twice")
    if sum(each.quantity_e8 for each in fills) > cover.quantity_e8:
        raise invalid_field(("fills",), "is more than the cover's quantity")
    return fills


async def _done_before(records: Records, cover: BookCover, fills: list[Fill]) -> bool:
    """Whether it was settled with the same fills: somebody repeats a call whose answer was lost."""
    if cover.settled_by is None:
        return False
    dealt = (await records.cover_deals([cover])).get(cover.id, [])
    return {terms_of(each.fill) for each in dealt} == {terms_of(each) for each in fills}


async def _require_unanswered(desk: Desk, records: Records, cover: BookCover, at_us: int) -> None:
    if cover.state != SENT:
        raise RefusalError(CONFLICT, f"Only a cover that is sent can be settled; this one is {cover.state}.")
    if cover.reference_e6 is None:
        raise RefusalError(CONFLICT, "The venue cannot have this cover yet: drop it instead.")
    asked = await _asked(desk, records, cover, at_us)
    if asked is not None:
        raise RefusalError(CONFLICT, asked)
    left_us = (cover.claimed_until_us or 0) - at_us
    if left_us > 0:
        seconds = left_us // _US_PER_S + 1
        raise RefusalError(
            CONFLICT, f"A node may be asking the venue for this cover now. Try again in {seconds} s."
        )


async def _asked(desk: Desk, records: Records, cover: BookCover, at_us: int) -> str | None:
    """Why the venue may still answer by itself; None: it cannot be asked."""
    if cover.sent_to not in (None, desk.hedge):
        return None  # No node asks the venue that it was sent to.
    if desk.venue.behaviour:
        if (await records.venue_behaviour(cover.broker)).mode is Mode.DOWN:
            return None
        return "The venue can be reached, and is being asked for this cover. Wait for its answer."
    for line in await records.lines(cover.broker):
        talks = line.report.state in _TALKING and at_us - line.report.at_us <= FRESH_US
        if line.name == cover.contract.venue and talks:
            return (
                f"The line {line.name} is up, and the venue is being asked for this cover. Wait for its "
                "answer, or let an admin disconnect the line."
            )
    return None


async def _add(records: Records, cover: BookCover, fills: list[Fill], at_us: int) -> None:
    """Move the book by what was executed. Each execution counts once."""
    if not fills:
        return
    for fill in fills:
        if await records.cover_fill_known(cover.broker, cover.contract.venue, fill.execution_id):
            raise RefusalError(CONFLICT, f"The execution {fill.execution_id} was recorded before.")
    if await records.lock_book_position(cover.broker, cover.metal) is None:
        raise RefusalError(CONFLICT, f"The hedge book of {cover.metal.value} is not open.")
    for fill in fills:
        await records.add_cover_deal(cover, CoverDeal(fill, 0, cover.dollar_e6 or 0), at_us)
