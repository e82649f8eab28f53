"""Trading groups and the terms they trade on."""

from dataclasses import replace

from bullion.accounts.group import Group, Terms
from bullion.desk import texts
from bullion.desk.audit_wording.prices import tell_group
from bullion.desk.bodies import GroupBody, MarginStepBody, TermsBody
from bullion.desk.conversion import Changes, convert, require_code, rule
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.metals.rupees import RUPEES_PAISE_MAX, rupees_text
from bullion.metals.symbol import Side
from bullion.metals.weight import weight_text
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records


async def _undo(records: Records, broker: str, code: str, earlier: View) -> ChangeResult:
    fields = {name: value for name, value in earlier.items() if name != "code"}
    return await _put(records, _group(broker, code, convert(fields, GroupBody)))


@action(
    "PUT /groups/{code}",
    Role.ADMIN,
    audit_text="set a group",
    tell=tell_group,
    command="groups put",
    moves_prices=True,
    undo=_undo,
)
async def put_group(
    desk: Desk, actor: Actor, code: str, body: GroupBody, *, only_if: OnlyIf | None = None
) -> View:
    """Create or replace the group CODE."""
    require_code("group code", code)
    group = _group(actor.broker, code, body)
    return await desk.change(actor, code, lambda records: _put(records, group), only_if=only_if)


async def _put(records: Records, group: Group) -> ChangeResult:
    before = await read_or_unreadable(records.group(group.broker, group.code))
    await records.put_group(group)
    return ChangeResult(None if before is None else view_of(before, view), view(group))


def _group(broker: str, code: str, body: GroupBody) -> Group:
    return Group(
        broker=broker,
        code=code,
        trading=body.trading,
        terms={symbol: _terms(("terms", symbol), terms) for symbol, terms in body.terms.items()},
        default_terms=None if body.default_terms is None else _terms(("default_terms",), body.default_terms),
    )


@action(
    "PATCH /groups/{code}",
    Role.ADMIN,
    dealer_fields=["terms", "default_terms"],
    audit_text="changed a group",
    tell=tell_group,
    command="groups set",
    moves_prices=True,
    undo=_undo,
)
async def patch_group(
    desk: Desk, actor: Actor, code: str, changes: Changes[GroupBody], *, only_if: OnlyIf | None = None
) -> View:
    """Change single fields of the group CODE.

    \b
    Examples:
      bullion desk groups set retail trading=false
      bullion desk groups set retail 'default_terms={"buy_premium": "150", "sell_premium": "-150"}'
    """

    async def work(records: Records) -> ChangeResult:
        before = await records.group(actor.broker, code)
        if before is None:
            raise RefusalError(NOT_FOUND, f"There is no group {code}.")
        current = view(before)
        del current["code"]
        group = _group(actor.broker, code, changes.applied_to(current))
        await records.put_group(group)
        return ChangeResult(view(before), view(group))

    return await desk.change(actor, code, work, only_if=only_if)


@action(
    "POST /groups/{code}/margin",
    Role.DEALER,
    audit_text="stepped a margin",
    tell=tell_group,
    command="groups step",
    moves_prices=True,
    undo=_undo,
)
async def step_margin(desk: Desk, actor: Actor, code: str, body: MarginStepBody) -> View:
    """Step the margin of the group CODE in one symbol, on one side.

    A margin is what the house earns: a step of 10 raises what clients pay, and lowers what they get, by 10
    rupees per quoted weight. Steps of two dealers add up. With `seen`, a step is refused if the margin has
    changed since. A symbol with the group's default terms gets terms of its own.

    \b
    Example:
      bullion desk groups step retail --symbol GOLD --side buy --by 10 --seen 150
    """
    by_paise, side = texts.signed_rupees(body.by), Side(body.side)
    seen_paise = None if body.seen is None else texts.signed_rupees(body.seen)
    if by_paise == 0:
        raise invalid_field(("by",), "must not be 0")

    async def work(records: Records) -> ChangeResult:
        before = await records.group(actor.broker, code)
        if before is None:
            raise RefusalError(NOT_FOUND, f"There is no group {code}.")
        if await records.symbol(actor.broker, body.symbol) is None:
            raise RefusalError(NOT_FOUND, f"There is no symbol {body.symbol}.")
        terms = before.terms_for(body.symbol)
        margin_paise = None if terms is None else terms.margin_paise(side)
        if terms is None or margin_paise is None:
            raise RefusalError(
                CONFLICT, f"Clients of {code} cannot {side} {body.symbol}: set a premium for them first."
            )
        if seen_paise is not None and seen_paise != margin_paise:
            raise RefusalError(
                CONFLICT,
                f"The margin of {code} in {body.symbol} is now {rupees_text(margin_paise)}, "
                f"not {rupees_text(seen_paise)}. Nothing was changed.",
            )
        stepped_paise = margin_paise + by_paise
        if abs(stepped_paise) > RUPEES_PAISE_MAX:
            raise invalid_field(("by",), "leads to a margin that is out of bounds")
        group = replace(before, terms={**before.terms, body.symbol: terms.with_margin(side, stepped_paise)})
        await records.put_group(group)
        after = view(group)
        margins = {"margin_before": rupees_text(margin_paise), "margin": rupees_text(stepped_paise)}
        answer = {**after, **margins}
        return ChangeResult(view(before), after, answer, starts_from=rupees_text(margin_paise))

    return await desk.change(actor, code, work)


async def get_group(desk: Desk, actor: Actor, code: str) -> View:
    group = await desk.read(actor, "group", lambda records: records.group(actor.broker, code))
    if group is None:
        raise RefusalError(NOT_FOUND, f"There is no group {code}.")
    return view(group)


@action("GET /groups", command="groups list", columns="code trading terms default_terms")
async def list_groups(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the groups."""
    listed, total = await desk.read(actor, "groups", lambda records: records.groups(actor.broker, page))
    return [view_of(group, view) for group in listed], total


def _terms(loc: tuple[str, ...], body: TermsBody) -> Terms:
    def size(text: str | None) -> int | None:
        return None if text is None else texts.weight(text)

    def premium(text: str | None) -> int | None:
        return None if text is None else texts.signed_rupees(text)

    return rule(
        (*loc, "minimum"),
        Terms,
        buy_premium_paise=premium(body.buy_premium),
        sell_premium_paise=premium(body.sell_premium),
        minimum_e4=size(body.minimum),
        maximum_e4=size(body.maximum),
        step_e4=size(body.step),
    )


def view(group: Group) -> View:
    return {
        "code": group.code,
        "trading": group.trading,
        "terms": {symbol: _terms_view(terms) for symbol, terms in sorted(group.terms.items())},
        "default_terms": None if group.default_terms is None else _terms_view(group.default_terms),
    }


def _terms_view(terms: Terms) -> View:
    def premium(value: int | None) -> str | None:
        return None if value is None else rupees_text(value)

    def size(value: int | None) -> str | None:
        return None if value is None else weight_text(value)

    return {
        "buy_premium": premium(terms.buy_premium_paise),
        "sell_premium": premium(terms.sell_premium_paise),
        "minimum": size(terms.minimum_e4),
        "maximum": size(terms.maximum_e4),
        "step": size(terms.step_e4),
    }
