"""The page of the search box: what was found, exact matches first. One exact match opens at once."""

from collections.abc import Callable, Sequence

from bullion.console.html import Child, Html, el
from bullion.console.page import Page, Redirect, Visit
from bullion.console.paths import AUDIT, FIND, account_path, decision_path, order_path, page_path
from bullion.console.widgets.components import BAD, OFF, card, empty, hint, state
from bullion.console.widgets.formatting import moment, rupees
from bullion.desk.actions.search import FOUND_MAX, TEXT_MAX, search
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable

from .orders.order_format import environment, order_text, status

_HELP = (
    "a deal number: 3, deal 3 or #3",
    "a test order: T-3",
    "a login or a firm, or a part of one",
    "the beginning of an order id, a client order id, an Idempotency-Key, a request id or a key id",
)


async def find_page(visit: Visit) -> Html:
    typed = visit.param("q").replace("\0", "").strip()[:TEXT_MAX]
    content: Child = _help() if not typed else await _results(visit, typed)
    box = el(
        "input",
        type="search",
        name="q",
        value=typed,
        placeholder="Deal, firm, id or key",
        aria_label="Find",
        maxlength=TEXT_MAX,
        autocomplete="off",
        spellcheck="false",
    )
    # For narrow windows, where the bar has no search box.
    form = el("form", box, el("button", "Find", class_="primary"), action=f"/{FIND}", role="search")
    return el("div", el("h1", "Find", class_="unseen"), form, content, class_="find-page")


def _help() -> Html:
    return card("What can be found", el("ul", [el("li", each) for each in _HELP], class_="help"), name="help")


async def _results(visit: Visit, typed: str) -> Child:
    found = await search(visit.desk, visit.actor, typed)
    opens = found["opens"]
    if opens is not None:
        raise Redirect(_path(visit, opens["kind"], found))
    groups = [
        _group(title, found[kind], row, visit)
        for kind, title, row in (
            ("orders", "Orders", _order),
            ("decisions", "Refusals and other decisions", _decision),
            ("accounts", "Accounts", _account),
            ("keys", "API keys", _key),
        )
        if found[kind]
    ]
    if groups:
        return groups
    nothing = empty(
        f"Nothing was found for “{found['query']}”.",
        "Search for the beginning of an id, or a part of a login or firm. Decisions on refused orders "
        "are deleted with age.",
    )
    return [nothing, _help()]


def _path(visit: Visit, kind: str, found: View) -> str:
    (exact,) = [each for each in found[kind] if each["exact"]]
    return _ROWS[kind](visit, exact)[0]


Row = tuple[str, Child, Child, Child]
"""Where it leads, what it is, more about it, and its state."""


def _group(title: str, found: Sequence[View], row: Callable[[Visit, View], Row], visit: Visit) -> Html:
    many = hint(f"the first {FOUND_MAX}: type more to narrow it down") if len(found) == FOUND_MAX else None
    hits = el("ul", [el("li", _hit(row(visit, each), each)) for each in found], class_="hits")
    return card(title, hits, aside=many, name=f"found-{title.partition(' ')[0].lower()}")


def _hit(row: Row, each: View) -> Html:
    path, what, more, at_end = row
    return el(
        "a",
        el("span", what, class_="what"),
        el("span", more, class_="more"),
        el("span", at_end, class_="end"),
        el("small", f"same {each['matched']}" if each["exact"] else each["matched"]),
        href=path,
        class_="hit exact" if each["exact"] else "hit",
    )


def _order(visit: Visit, each: View) -> Row:
    number = f"Deal {each['deal_no']} " if each["deal_no"] else f"{each['deal_label'] or ''} ".lstrip()
    what = [el("b", number), order_text(each)]
    named = each["client_order_id"]
    more = [
        *(each["login_id"], " · ", rupees(each["price"]), " · "),
        moment(each["created_at"], visit.zone, visit.now),
        [" · ", el("code", named)] if named else None,
    ]
    return order_path(each["id"]), what, more, [status(each["status"]), environment(each["environment"])]


def _decision(visit: Visit, each: View) -> Row:
    asked = each["asked"]
    what = order_text(asked, each["compared"].get("unit")) if asked else "An order that could not be read"
    named = (asked or {}).get("client_order_id")
    more = [
        *(each["login_id"], " · "),
        moment(each["at"], visit.zone, visit.now),
        [" · ", el("code", named)] if named else None,
        [" · ", each["message"]] if each["message"] else None,
    ]
    outcome = state(OFF if each["order_id"] else BAD, each["outcome"])
    return decision_path(each["request_id"]), what, more, [outcome, environment(each["environment"])]


def _account(_visit: Visit, each: View) -> Row:
    path, what = account_path(each["login_id"]), el("b", each["login_id"])
    if is_unreadable(each):
        return path, what, each["unreadable"], state(BAD, "cannot be read")
    more = [each["firm_name"] or "no firm", f" · group {each['group']}"]
    return path, what, more, None if each["active"] else state(OFF, "inactive")


def _key(_visit: Visit, each: View) -> Row:
    if is_unreadable(each):
        path = page_path(AUDIT, {"about": each["key_id"]})
        return path, el("code", each["key_id"]), each["unreadable"], state(BAD, "cannot be read")
    more = [each["login_id"], " · ", each["name"]]
    ended = state(OFF, "revoked") if each["revoked_at"] else None
    path = f"{account_path(each['login_id'])}#keys"
    return path, el("code", each["key_id"]), more, [ended, environment(each["environment"])]


_ROWS: dict[str, Callable[[Visit, View], Row]] = {
    "orders": _order,
    "decisions": _decision,
    "accounts": _account,
    "keys": _key,
}
PAGE = Page(FIND, "Find", {"": find_page}, in_menu=False)
