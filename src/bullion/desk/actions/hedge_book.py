"""The hedge book: what clients hold and what covers it, per metal, with the broker's policy and limit."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from bullion.booking.house_book import EACH
from bullion.desk import texts
from bullion.desk.audit_wording.hedging import tell_hedge_book
from bullion.desk.bodies import HedgeBookBody
from bullion.desk.conversion import Changes
from bullion.desk.cover_rules import contracts_of, expiring, require_limit, rule_view, waits_for_ever
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.registry import action
from bullion.hedge.book.marks import BookMark
from bullion.hedge.book.money import BookMoney
from bullion.hedge.book.rules import ExpiryAlarm
from bullion.hedge.contracts_seed import seed_contracts
from bullion.metals.metal import Metal
from bullion.metals.scaled import plain
from bullion.orders.instant import instant_text
from bullion.records.hedge_book import BookPosition, StoredContract
from bullion.records.token import Actor, Role
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.book_profit import BrokenBook, book_mark
from bullion.store.records import Records
from bullion.unreadable import Unreadable

from .book_money_view import NO_MONEY, money_view

_US_PER_S = 1_000_000
_MG_PLACES = 3
_PERCENT = 100


@action(
    "GET /hedge/book",
    command="hedge book",
    columns="metal open policy limit client cover working residual limit_used_percent waiting waiting_orders "
    "age_s value value_at_risk average usd_open profit.total unmarked_because",
)
async def get_book(desk: Desk, actor: Actor) -> list[View]:
    """Show the hedge book of each metal: what clients hold, what covers it, and what is left.

    Weights are grams of fine metal, seen from the broker: below zero is metal that the broker owes. Money is
    in rupees, and the average in rupees for a gram. What needs a fresh rate is null without one.
    """

    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        positions = await records.book_positions(actor.broker)
        waiting = await records.held_weights(actor.broker, now_us)
        working = await records.working_mg(actor.broker)
        alarms = await expiring(records, actor.broker, now_us)
        marks = await _marks(records, actor.broker, positions, now_us)
        return [
            {
                **_view(positions.get(metal), metal, waiting.get(metal, (0, 0)), now_us),
                **await _rules(records, actor.broker, metal, positions.get(metal), alarms),
                "working": grams(working.get(metal, 0)),
                **await _money(records, positions.get(metal), marks.get(metal)),
            }
            for metal in Metal
        ]

    return await desk.read(actor, "hedge_book", work)


@action(
    "PATCH /hedge/book/{metal}",
    Role.ADMIN,
    audit_text="changed the hedge book",
    tell=tell_hedge_book,
    command="hedge book-set",
)
async def patch_book(
    desk: Desk, actor: Actor, metal: str, changes: Changes[HedgeBookBody], *, only_if: OnlyIf | None = None
) -> View:
    """Change the policy or the limit of a metal's hedge book. The first change opens the book.

    Opening adds the usual contracts of the metal that are not there yet. An admin activates those in use.
    With the policy each, the venue confirms every order. With the policy book, the house's book confirms an
    order at once if the book stays within the limit; beyond the limit the order waits until there is room.
    The limit is a weight in grams of fine metal.

    \b
    Examples:
      bullion desk hedge book-set gold policy=book limit=5000
      bullion desk hedge book-set silver volatility_percent=1.8
    """
    of = metal_of(metal)

    async def work(records: Records) -> ChangeResult:
        found = await records.lock_book_position(actor.broker, of)
        before = found or BookPosition(actor.broker, of, EACH, 0, 0)
        body = changes.applied_to(_terms(before))
        after = msgspec.structs.replace(
            before,
            policy=body.policy,
            limit_mg=texts.milligrams(body.limit),
            volatility_e4=texts.percent(body.volatility_percent),
        )
        await require_limit(records, found, after)
        if found is None:
            await records.open_book(after)
            for contract in seed_contracts():
                if contract.metal == of:
                    await records.add_contract(actor.broker, StoredContract(contract, active=False))
        else:
            await records.set_book_terms(after)
        return ChangeResult(None if found is None else _terms(before), _terms(after))

    return await desk.change(actor, of.value, work, only_if=only_if)


async def _marks(
    records: Records, broker: str, metals: Iterable[Metal], now_us: int
) -> Mapping[Metal, BookMark]:
    """What values the books of these metals now."""
    wanted = list(metals)
    if not wanted:
        return {}
    contracts = [each.contract for each in await records.contracts(broker) if each.active]
    ticks = [each.tick for each in await records.ticks(broker) if not isinstance(each, Unreadable)]
    symbols = [each for each in await records.all_symbols(broker) if not isinstance(each, Unreadable)]
    return {metal: book_mark(metal, contracts, ticks, symbols, now_us) for metal in wanted}


async def _money(records: Records, position: BookPosition | None, mark: BookMark | None) -> View:
    if position is None or mark is None:
        return NO_MONEY
    try:
        money: BookMoney | BrokenBook = await records.book_money(position.broker, position.metal)
    except BrokenBook as broken:
        money = broken
    return money_view(position, money, mark)


def metal_of(name: str) -> Metal:
    try:
        return Metal(name)
    except ValueError:
        raise RefusalError(NOT_FOUND, f"There is no metal {name}: it is gold or silver.") from None


def _terms(position: BookPosition) -> View:
    return {
        "policy": position.policy,
        "limit": grams(position.limit_mg),
        "volatility_percent": plain(position.volatility_e4, 4),
    }


def _view(position: BookPosition | None, metal: Metal, waiting: tuple[int, int], now_us: int) -> View:
    """`waiting`: the weight and the number of the orders that the limit holds back."""
    found = position or BookPosition("", metal, EACH, 0, 0)
    since_us = found.open_since_us
    waiting_mg, waiting_orders = waiting
    return {
        "metal": metal.value,
        "open": position is not None,
        **_terms(found),
        "client": grams(found.client_mg),
        "cover": grams(found.cover_mg),
        "residual": grams(found.residual_mg),
        "limit_used_percent": None
        if not found.limit_mg
        else plain(abs(found.residual_mg) * _PERCENT * 10 // found.limit_mg, 1),
        "waiting": grams(waiting_mg),
        "waiting_orders": waiting_orders,
        "since": None if since_us is None else instant_text(since_us),
        "age_s": None if since_us is None else max(0, now_us - since_us) // _US_PER_S,
    }


async def _rules(
    records: Records,
    broker: str,
    metal: Metal,
    position: BookPosition | None,
    alarms: Sequence[ExpiryAlarm],
) -> View:
    rules = await records.book_rules(broker, metal)
    contracts = await contracts_of(records, broker, metal)
    return {
        "rules": [rule_view(each) for each in rules],
        "warnings": [
            *waits_for_ever(position, rules, contracts),
            *(each.text for each in alarms if each.contract.metal == metal),
        ],
    }


def grams(weight_mg: int) -> str:
    return plain(weight_mg, _MG_PLACES)
