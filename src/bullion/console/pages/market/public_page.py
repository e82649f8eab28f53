"""The public rate page: whether clients can see prices without a key, and whose prices these are."""

from bullion.console.forms import Choice, Dialog, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import GOOD, OFF, card, facts, state
from bullion.desk.actions.groups import list_groups
from bullion.desk.actions.switches import get_switches, patch_switches
from bullion.desk.bodies import PublicRatesBody, SwitchesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.records.page import Page

from .market_data import MOST, switches_of

_FIELD = "public_rates"
_GROUP = Choice("group", "Prices of the group", "What a client of this group pays and gets is shown.")
_TITLE = field_of(PublicRatesBody, "title", "Title", "Stands above the rates, such as the name of your firm.")
_WHO_SEES_IT = (
    "It is at the address /rates of the trading API, without a log-in: everybody who can reach the API can "
    "see it. It shows symbols, prices and how old they are, and nothing else."
)


async def render(visit: Visit) -> Html:
    shown = (await switches_of(visit))[_FIELD]
    about: list[Child] = [el("p", _WHO_SEES_IT, class_="hint")]
    buttons: list[Child] = [SHOW.button(visit, text="Change" if shown else None, kind="small")]
    if shown:
        about.insert(0, facts([("Title", shown["title"]), ("Prices of the group", shown["group"])]))
        buttons.append(HIDE.button(visit, kind="small"))
    light = state(GOOD, "shown") if shown else state(OFF, "off")
    content = el("div", about, class_="inside")
    return card("Public rate page", content, aside=[light, *buttons], name="public-rates")


async def _ask(visit: Visit) -> Dialog:
    now = _part(await get_switches(visit.desk, visit.actor))
    found, _ = await list_groups(visit.desk, visit.actor, Page(MOST, 0))
    groups = [(each["code"], each["code"]) for each in found if not is_unreadable(each)]
    return Dialog(
        title="Public rate page",
        text=[_WHO_SEES_IT],
        confirm="Show the page",
        values={**(now[_FIELD] or {}), **seen(now)},
        options={_GROUP.name: groups},
    )


async def _show(visit: Visit) -> Result:
    wanted = {each.name: visit.values[each.name] for each in (_GROUP, _TITLE)}
    await _patch(visit, wanted)
    return Result(f"The public rate page shows the prices of {wanted['group']}.")


async def _ask_hide(visit: Visit) -> Dialog:
    now = _part(await get_switches(visit.desk, visit.actor))
    text = ["Screens and phones that show it lose it within seconds. You can show it again at any time."]
    return Dialog(title="Hide the public rate page?", text=text, confirm="Hide the page", values=seen(now))


async def _hide(visit: Visit) -> Result:
    await _patch(visit, None)
    return Result("The public rate page is off.")


async def _patch(visit: Visit, wanted: View | None) -> None:
    only_if = unchanged(visit, "The public rate page", _part)
    await patch_switches(visit.desk, visit.actor, Changes(SwitchesBody, {_FIELD: wanted}), only_if=only_if)


def _part(held: View) -> View:
    return {_FIELD: held[_FIELD]}


SHOW = Action(
    MARKET, "show-rates", "Show the page", patch_switches, _ask, _show, (SEEN, _GROUP, _TITLE), changes=_FIELD
)
HIDE = Action(
    MARKET, "hide-rates", "Hide the page", patch_switches, _ask_hide, _hide, (SEEN,), changes=_FIELD
)
ACTIONS = (SHOW, HIDE)
