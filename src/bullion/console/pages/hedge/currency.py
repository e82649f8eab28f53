"""Dollars that the desk bought or sold against those that covers left open."""

from uuid import uuid4

from bullion.console.forms import Choice, Dialog, Hidden, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.widgets.components import Column, hint, table_card
from bullion.console.widgets.formatting import moment_in_column, rate, rupees
from bullion.desk.actions.currency import create_currency_deal
from bullion.desk.actions.hedge_book import get_book
from bullion.desk.bodies import CurrencyBody
from bullion.desk.desk import View
from bullion.metals.metal import Metal

from .book_money import dollars
from .hedge_data import COVERS_SHOWN, currency_deals_of

_KEY = Hidden("key", "")
"""One for each form: sending it twice records one deal."""
_METAL = Choice("metal", "Book of", options=[(each.value, each.value) for each in Metal], required=True)
_SIDE = Choice("side", "The house", options=(("buy", "bought dollars"), ("sell", "sold dollars")))
_DOLLARS = field_of(CurrencyBody, "dollars", "Dollars, $", "with up to two decimals")
_RATE = field_of(CurrencyBody, "rate", "Rate, ₹ per $")
_FEE = field_of(CurrencyBody, "fee", "Fee, ₹", "empty: none", required=False)
_REFERENCE = field_of(CurrencyBody, "reference", "Reference", "of the deal at the bank, up to 64 characters")


async def currency_card(visit: Visit) -> Html:
    reading = await currency_deals_of(visit)
    rows, total = reading.value or ([], 0)
    return table_card(
        visit,
        "Currency deals",
        "currency",
        _COLUMNS,
        rows,
        key="id",
        nothing=(
            "There are no currency deals yet.",
            "Covers in dollars leave dollars open. Record here what you bought or sold against them.",
        ),
        aside=[
            hint(f"the newest {COVERS_SHOWN} of {total}") if total > COVERS_SHOWN else None,
            RECORD.button(visit, kind="small"),
        ],
        reading=reading,
    )


def _deal(_visit: Visit, each: View) -> Child:
    return [el("b", each["side"], class_=f"side {each['side']}"), f" {dollars(each['dollars'])}"]


_COLUMNS = (
    Column("Recorded", lambda visit, each: moment_in_column(each["at"], visit.zone), time=True),
    Column("Deal", _deal),
    Column("Rate, ₹ per $", lambda _, each: rate(each["rate"]), number=True),
    Column("Worth", lambda _, each: rupees(each["rupees"]), number=True),
    Column("Fee", lambda _, each: rupees(each["fee"]), number=True),
    Column("Book of", lambda _, each: each["metal"]),
    Column("Reference", lambda _, each: each["reference"]),
    Column("By", lambda _, each: each["made_by"].partition(" (")[0]),
)


async def _ask(visit: Visit) -> Dialog:
    opened = [each for each in await get_book(visit.desk, visit.actor) if each["open"]]
    text = [f"Book of {each['metal']}: {dollars(each['usd_open'])} open." for each in opened]
    return Dialog(
        title="Record a currency deal",
        text=[*text, "The book's open dollars move with it, and this cannot be undone."],
        confirm="Record the deal",
        values={"key": str(uuid4()), "metal": opened[0]["metal"] if opened else None},
    )


async def _record(visit: Visit) -> Result:
    values = visit.values
    body = CurrencyBody(
        side=values["side"],
        dollars=values["dollars"],
        rate=values["rate"],
        reference=values["reference"],
        idempotency_key=values["key"],
        fee=values["fee"] or "0",
        metal=values["metal"],
    )
    done = await create_currency_deal(visit.desk, visit.actor, body)
    word = "bought" if done["side"] == "buy" else "sold"
    return Result(
        f"Recorded: {dollars(done['dollars'])} {word} at {rate(done['rate'])}, {done['reference']}."
    )


RECORD = Action(
    MARKET,
    "currency-deal",
    "Record a currency deal",
    create_currency_deal,
    _ask,
    _record,
    (_KEY, _METAL, _SIDE, _DOLLARS, _RATE, _FEE, _REFERENCE),
)
ACTIONS = (RECORD,)
