"""Contracts that the hedge book is covered with, and their form."""

from typing import Any

from bullion.console.forms import Code, Dialog, Field, Hidden, field_of, saved
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, only_new, seen, unchanged
from bullion.console.widgets.components import GOOD, NOTHING, OFF, Column, hint, small, state, table_card
from bullion.console.widgets.formatting import day_text, grouped, trim_zeros, weight
from bullion.desk.actions.covers import list_contracts, put_contract
from bullion.desk.bodies import ContractBody
from bullion.desk.body_fields import body_fields
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .cover_text import currency_sign
from .hedge_data import contracts_of

_MODES = {"suggest": "a dealer sends each cover", "auto": "rules send covers by themselves"}
_CODE = Code("code", "Code", "cannot be changed later")
_OPTIONS = {
    "metal": [("gold", "gold"), ("silver", "silver")],
    "currency": [("INR", "rupees, ₹"), ("USD", "dollars, $")],
    "mode": [(name, f"{name}: {text}") for name, text in _MODES.items()],
}


async def render(visit: Visit) -> Html:
    reading = await contracts_of(visit)
    return table_card(
        visit,
        "Contracts",
        "contracts",
        _COLUMNS,
        reading.value or [],
        key="code",
        nothing=(
            "There are no contracts yet.",
            "Futures of an exchange, or bars of a bank. A book opens with the usual ones of its metal.",
        ),
        aside=[hint("lot and price weight are gross"), NEW.button(visit, kind="small primary")],
        reading=reading,
    )


def _name(_visit: Visit, each: View) -> Child:
    symbol = each["venue_symbol"] or each["security_id"]
    at_venue = small(symbol) if symbol != each["code"] else None
    return [el("b", each["code"]), small(f"{each['metal']}, follows {each['instrument']}"), at_venue]


def _lot(_visit: Visit, each: View) -> Child:
    step = trim_zeros(each["step"])
    return [
        weight(each["lot"], "g"),
        small(f"fineness {each['fineness'].removesuffix('.0')}, step {grouped(step)}"),
    ]


def _price(_visit: Visit, each: View) -> Child:
    sign = currency_sign(each["currency"])
    tick = f"tick {sign}{grouped(trim_zeros(each['tick']))}"
    return [f"{sign} per {weight(each['price_weight'], 'g')}", small(tick)]


def _days(_visit: Visit, each: View) -> Child:
    if each["expires_on"] is None:
        return NOTHING
    until = each["hold_until"]
    return [day_text(each["expires_on"]), small(f"hold until {day_text(until)}" if until else None)]


def _button(visit: Visit, each: View) -> Html:
    return CHANGE.button(visit, {"code": each["code"]}, kind="small", label=f"Change {each['code']}")


_COLUMNS = (
    Column("Contract", _name),
    Column("Venue", lambda _, each: each["venue"]),
    Column("Lot", _lot, number=True),
    Column("Price", _price, number=True),
    Column("Last day of trading", _days),
    Column("Covers", lambda _, each: _MODES[each["mode"]]),
    Column("State", lambda _, each: state(GOOD, "active") if each["active"] else state(OFF, "not active")),
    Column("", _button, number=True),
)


def _field(name: str, label: str, hint_text: str | None = None, **more: Any) -> Field:
    if name in _OPTIONS:
        more["options"] = _OPTIONS[name]
    return field_of(ContractBody, name, label, hint_text, **more)


_TERMS = (
    _field("metal", "Metal"),
    _field("venue", "Venue", "a line of the market file, or desk for deals by telephone"),
    _field("venue_symbol", "Symbol at the venue", "optional", required=False),
    _field("security_id", "Security id at the venue", "optional", required=False),
    _field("instrument", "Instrument", "whose rate its price follows"),
    _field("lot", "Lot, g", "gross weight of quantity 1"),
    _field("fineness", "Fineness, of 1,000"),
    _field("step", "Step of a quantity"),
    _field("price_weight", "Price is for, g", "gross weight that a price is for"),
    _field("currency", "Currency"),
    _field("tick", "Tick", "smallest step of its price, in its currency"),
    _field("expires_on", "Last day of trading", "empty: it does not expire", kind="date"),
    _field("hold_until", "Hold until", "empty: the last day of trading", kind="date"),
    _field("mode", "Covers"),
    _field("active", "Active", "off: it takes no new covers"),
)
_NAMES = [each.name for each in _TERMS]


async def _find(visit: Visit) -> View:
    for each in await list_contracts(visit.desk, visit.actor):
        if each["code"] == visit.param("code"):
            return each
    raise RefusalError(NOT_FOUND, f"There is no contract {visit.param('code')}.")


async def _ask_new(_visit: Visit) -> Dialog:
    usual = {name: each.default for name, each in body_fields(ContractBody).items()}
    values = {name: usual[name] for name in ("venue", "fineness", "step", "tick")}
    return Dialog(title="New contract", confirm="Create", wide=True, values={**values, "active": True})


async def _ask_change(visit: Visit) -> Dialog:
    found = await _find(visit)
    text = ["Covers that were made before keep the terms that they were made with."]
    fields = (SEEN, Hidden("code", ""), *_TERMS)
    return Dialog(
        title=f"Contract {found['code']}",
        text=text,
        wide=True,
        fields=fields,
        values={**found, **seen(found)},
    )


def _body(visit: Visit) -> ContractBody:
    given = {name: visit.values[name] for name in _NAMES if visit.values[name] is not None}
    return convert(given, ContractBody)


async def _create(visit: Visit) -> Result:
    code = visit.values["code"]
    only_if = only_new("code", f"There is a contract {code} already.")
    await put_contract(visit.desk, visit.actor, code, _body(visit), only_if=only_if)
    return Result(f"Contract {code} is created.")


async def _change(visit: Visit) -> Result:
    before = await _find(visit)
    only_if = unchanged(visit, f"The contract {before['code']}")
    after = await put_contract(visit.desk, visit.actor, before["code"], _body(visit), only_if=only_if)
    return Result(saved(f"Contract {before['code']}", _text(before), _text(after)))


def _text(contract: View) -> dict[str, str]:
    return {
        name.replace("_", " "): "–" if value in (None, "") else trim_zeros(str(value))
        for name, value in contract.items()
        if name != "code"
    }


NEW = Action(MARKET, "new-contract", "New contract", put_contract, _ask_new, _create, (_CODE, *_TERMS))
CHANGE = Action(MARKET, "change-contract", "Change", put_contract, _ask_change, _change, (SEEN, *_TERMS))
ACTIONS = (NEW, CHANGE)
