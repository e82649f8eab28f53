"""Covers of the hedge book: those to send, those under way, and what became of the others."""

import asyncio

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import NOTHING, Column, hint, small, table_card
from bullion.console.widgets.formatting import moment_in_column
from bullion.desk.desk import View
from bullion.hedge.cover import DROPPED, FILLED, PARTLY, REFUSED, SENT, SUGGESTED
from bullion.store.cover_records import COUNTED_MAX

from . import cover_actions, currency, statement
from .cover_text import by_whom, cover_state, deal_text, fine_text, order_text
from .hedge_data import COVERS_SHOWN, covers_in, newest_covers_of, open_covers_of

ACTIONS = (*cover_actions.ACTIONS, *currency.ACTIONS, *statement.ACTIONS)


async def render(visit: Visit) -> Html:
    unfinished, newest, currency_deals = await asyncio.gather(
        open_covers_of(visit), newest_covers_of(visit), currency.currency_card(visit)
    )
    suggested, sent = covers_in(unfinished, SUGGESTED), covers_in(unfinished, SENT)
    past = covers_in(newest, FILLED, PARTLY, REFUSED, DROPPED)
    new = cover_actions.NEW.button(visit, kind="small primary")
    return el(
        "div",
        table_card(
            visit,
            "Covers to send",
            "suggested",
            (*_COLUMNS, Column("", _buttons, number=True)),
            suggested,
            key="id",
            nothing=(
                "No cover waits for you.",
                "Rules suggest covers when a book grows. Make one by hand with New cover.",
            ),
            aside=[_left_out(unfinished), new],
            reading=unfinished,
        ),
        table_card(
            visit,
            "Under way at the venue",
            "sent",
            (*_COLUMNS, _SAID, Column("", cover_actions.end_button, number=True)),
            sent,
            key="id",
            nothing=("", ""),
            reading=unfinished,
        )
        if sent
        else None,
        table_card(
            visit,
            "Past covers",
            "past",
            (*_COLUMNS, _DEALS),
            past,
            key="id",
            nothing=(
                "There are no past covers yet.",
                "Covers that were dealt, refused or dropped stand here.",
            ),
            aside=_left_out(newest),
            reading=newest,
        ),
        currency_deals,
        statement.statement_card(visit),
        class_="stack",
    )


def _left_out(reading: Reading[Listed]) -> Html | None:
    total = 0 if reading.value is None else reading.value[1]
    of = f"{total} covers" if total < COUNTED_MAX else f"{COUNTED_MAX:,} covers or more"
    return hint(f"the newest {COVERS_SHOWN} of {of}") if total > COVERS_SHOWN else None


def _buttons(visit: Visit, each: View) -> Html:
    return el("span", cover_actions.cover_buttons(visit, each, "list"), class_="actions")


def _deals(_visit: Visit, each: View) -> Child:
    deals = [el("div", deal_text(deal)) for deal in each["deals"]]
    return [*deals, small(each["words"])] if deals or each["words"] else NOTHING


_COLUMNS = (
    Column("Made", lambda visit, each: moment_in_column(each["created_at"], visit.zone), time=True),
    Column("Cover", lambda _, each: order_text(each)),
    Column("Fine weight", lambda _, each: fine_text(each), number=True),
    Column("State", lambda _, each: cover_state(each)),
    Column("Made how", lambda _, each: by_whom(each)),
    Column("Venue", lambda _, each: each["venue"]),
)
_SAID = Column("Dealt so far, or what was said", _deals)
_DEALS = Column("Deals, or what was said", _deals)
