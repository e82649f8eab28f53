"""Contracts, and covers of the hedge book that a dealer makes, sends to the venue or deals by telephone."""

from collections.abc import Sequence
from uuid import uuid4

import msgspec

from bullion.desk import texts
from bullion.desk.audit_wording.hedging import tell_contract, tell_cover
from bullion.desk.bodies import BookCoverBody, ContractBody, CoverFillBody, Option, ReasonBody
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.hedge.book.rules import may_be_used
from bullion.hedge.contract import DOLLARS, Contract, Problem, contract_problems, rate_problems
from bullion.hedge.cover import OPEN, SENT, STATES, SUGGESTED, BookCover
from bullion.hedge.venue import Fill
from bullion.hedge.venues import sendable
from bullion.metals.metal import Metal
from bullion.metals.scaled import plain
from bullion.orders.instant import instant_text
from bullion.rates.duty import duty_day
from bullion.records.hedge_book import CoverDeal, StoredContract
from bullion.records.page import FIRST_PAGE, Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .hedge_book import grams

_NG_PLACES = 9
_QUANTITY_PLACES, _RATE_PLACES, _MINOR_PLACES = 8, 6, 2
BY_HAND = "by_hand"
COVER_COLUMNS = "id contract side quantity fine state rule made_by created_at"


@action(
    "GET /hedge/contracts",
    command="hedge contracts",
    columns="code metal venue lot fineness step currency expires_on mode active",
)
async def list_contracts(desk: Desk, actor: Actor) -> list[View]:
    """List the contracts that the hedge book is covered with."""
    found = await desk.read(actor, "contracts", lambda records: records.contracts(actor.broker))
    return [_contract_view(each) for each in found]


@action(
    "PUT /hedge/contracts/{code}",
    Role.ADMIN,
    audit_text="set a contract",
    tell=tell_contract,
    command="hedge contract-put",
)
async def put_contract(
    desk: Desk, actor: Actor, code: str, body: ContractBody, *, only_if: OnlyIf | None = None
) -> View:
    """Create or replace the contract CODE. One that is not active takes no new covers."""
    stored = StoredContract(_contract(code, body), body.active)
    _require_none(contract_problems(stored.contract))

    async def work(records: Records) -> ChangeResult:
        before = await records.contract(actor.broker, code)
        if stored.active:
            others = [each.contract for each in await records.contracts(actor.broker) if each.active]
            _require_none(rate_problems(stored.contract, others))
        await records.put_contract(actor.broker, stored)
        return ChangeResult(None if before is None else _contract_view(before), _contract_view(stored))

    # With the catalogue's lock, or of two that change it at once the second would undo the first.
    return await desk.change(actor, code, work, only_if=only_if)


def _require_none(problems: Sequence[Problem]) -> None:
    if problems:
        raise invalid_field((problems[0][0],), problems[0][1])


@action(
    "GET /hedge/covers",
    command="hedge covers",
    columns=COVER_COLUMNS,
    query={"state": Option("Only those in this state; open: suggested or sent.", "--state", "STATE")},
)
async def list_covers(
    desk: Desk, actor: Actor, state: str | None = None, page: Page = FIRST_PAGE
) -> tuple[list[View], int]:
    """List the covers of the hedge book, newest first."""
    if state is not None and state not in (OPEN, *STATES):
        raise invalid_field(("state",), f"must be one of {', '.join((OPEN, *STATES))}", within="query")

    async def work(records: Records) -> tuple[list[View], int]:
        found, total = await records.book_covers(actor.broker, page, state)
        deals = await records.cover_deals(found)
        return [cover_view(each, deals.get(each.id, [])) for each in found], total

    return await desk.read(actor, "covers", work)


@action(
    "POST /hedge/covers",
    Role.DEALER,
    audit_text="made a cover",
    tell=tell_cover("made"),
    status=201,
    command="hedge cover",
    columns=COVER_COLUMNS,
)
async def create_cover(desk: Desk, actor: Actor, body: BookCoverBody) -> View:
    """Make a cover of the hedge book by hand. A repeated key returns the cover that was made with it."""
    cover_id = str(uuid4())

    async def work(records: Records) -> ChangeResult:
        # First: the contract may not be active any more.
        known = await records.cover_of_key(actor.broker, body.idempotency_key)
        if known is not None:
            return await _made_before(records, known, body)
        wanted = await _wanted(records, actor, body, cover_id)
        # And again with the lock: of two that come at once, the second finds the first.
        await records.lock_book_position(actor.broker, wanted.metal)
        known = await records.cover_of_key(actor.broker, body.idempotency_key)
        if known is not None:
            return await _made_before(records, known, body)
        await records.insert_book_cover(wanted)
        return ChangeResult(None, cover_view(wanted, []))

    return await desk.change(actor, cover_id, work, catalogue=False)


async def _made_before(records: Records, known: BookCover, body: BookCoverBody) -> ChangeResult:
    same = (known.contract.code, known.side, known.quantity_e8)
    if same != (body.contract, body.side, texts.cover_quantity(body.quantity)):
        raise RefusalError(CONFLICT, "This key was used for another cover.")
    shown = cover_view(known, (await records.cover_deals([known])).get(known.id, []))
    return ChangeResult(shown, shown)


async def preview_cover(desk: Desk, actor: Actor, body: BookCoverBody) -> View:
    """The cover that the body describes. Nothing is stored."""

    async def work(records: Records) -> View:
        return cover_view(await _wanted(records, actor, body, ""), [])

    return await desk.read(actor, "preview_cover", work)


@action(
    "POST /hedge/covers/{id}/send",
    Role.DEALER,
    audit_text="sent a cover",
    tell=tell_cover("sent"),
    command="hedge cover-send",
    columns=COVER_COLUMNS,
)
async def send_cover(desk: Desk, actor: Actor, cover_id: str) -> View:
    """Send a suggested cover to the venue. The list of covers shows what became of it."""

    async def work(records: Records) -> ChangeResult:
        cover = await _locked(records, actor.broker, cover_id)
        at_us = await records.now_us()
        await _require_sendable(desk, records, cover, at_us)
        await records.send_cover(cover, actor.name, at_us)
        sent = msgspec.structs.replace(cover, state=SENT, sent_by=actor.name, sent_at_us=at_us)
        return ChangeResult(cover_view(cover, []), cover_view(sent, []))

    return await desk.change(actor, cover_id, work, catalogue=False)


@action(
    "POST /hedge/covers/{id}/drop",
    Role.DEALER,
    audit_text="dropped a cover",
    tell=tell_cover("dropped"),
    command="hedge cover-drop",
    columns=COVER_COLUMNS,
)
async def drop_cover(desk: Desk, actor: Actor, cover_id: str, body: ReasonBody) -> View:
    """Drop a cover that was not dealt, and that the venue cannot have."""

    async def work(records: Records) -> ChangeResult:
        cover = await _locked(records, actor.broker, cover_id, or_waiting=True)
        at_us = await records.now_us()
        await records.finish_cover(cover, "dropped", None, body.reason, at_us)
        dropped = msgspec.structs.replace(cover, state="dropped", words=body.reason, finished_at_us=at_us)
        return ChangeResult(cover_view(cover, []), cover_view(dropped, []))

    return await desk.change(actor, cover_id, work, catalogue=False)


@action(
    "POST /hedge/covers/{id}/fill",
    Role.DEALER,
    audit_text="dealt a cover",
    tell=tell_cover("dealt"),
    command="hedge cover-fill",
    columns=COVER_COLUMNS,
)
async def fill_cover(desk: Desk, actor: Actor, cover_id: str, body: CoverFillBody) -> View:
    """Record what was dealt for a cover by telephone. The hedge book moves with it.

    A deal of less than the whole quantity ends the cover too: make another for the rest. The reference of the
    counterparty's deal counts once.
    """

    async def work(records: Records) -> ChangeResult:
        cover = await _locked(records, actor.broker, cover_id)
        at_us = await records.now_us()
        deal = _deal(cover, body, at_us)
        if await records.lock_book_position(actor.broker, cover.metal) is None:
            raise RefusalError(CONFLICT, f"The hedge book of {cover.metal.value} is not open.")
        # With the lock: of two covers that are dealt at once, the second finds the reference of the first.
        if await records.cover_fill_known(actor.broker, cover.contract.venue, body.reference):
            raise RefusalError(CONFLICT, f"The deal {body.reference} was recorded before.")
        await records.add_cover_deal(cover, deal, at_us)
        state = "filled" if deal.fill.quantity_e8 == cover.quantity_e8 else "partly"
        await records.finish_cover(cover, state, body.reference, None, at_us)
        dealt = msgspec.structs.replace(cover, state=state, finished_at_us=at_us)
        deals = (await records.cover_deals([cover]))[cover.id]
        return ChangeResult(cover_view(cover, []), cover_view(dealt, deals))

    return await desk.change(actor, cover_id, work, catalogue=False)


async def _locked(records: Records, broker: str, cover_id: str, *, or_waiting: bool = False) -> BookCover:
    """A suggested cover. `or_waiting`: or one that was sent, and that no node has submitted yet."""
    cover = await records.lock_cover(broker, cover_id)
    if cover is None:
        raise RefusalError(NOT_FOUND, f"There is no cover {cover_id}, or a newer plan has replaced it.")
    if cover.state != SUGGESTED and not (or_waiting and cover.state == SENT and cover.reference_e6 is None):
        raise RefusalError(
            CONFLICT, f"Only a cover that is suggested can be changed; this one is {cover.state}."
        )
    return cover


async def _require_sendable(desk: Desk, records: Records, cover: BookCover, at_us: int) -> None:
    code = cover.contract.code
    if not sendable(desk.venue, cover.contract):
        raise RefusalError(
            CONFLICT, f"The venue does not deal {code}: deal it by telephone and record it with fill."
        )
    found = await records.contract(cover.broker, code)
    if found is None or not found.active:
        raise RefusalError(CONFLICT, f"The contract {code} is not active.")
    if not may_be_used(found.contract, duty_day(at_us)):
        raise RefusalError(CONFLICT, f"The last day to hold {code} has passed.")
    if msgspec.structs.replace(found.contract, mode=cover.contract.mode) != cover.contract:
        raise RefusalError(
            CONFLICT, f"The contract {code} was changed since. Drop this cover and make another."
        )
    # Locked: a plan that is made at this moment must count the cover as under way.
    if await records.lock_book_position(cover.broker, cover.metal) is None:
        raise RefusalError(CONFLICT, f"The hedge book of {cover.metal.value} is not open.")


async def _wanted(records: Records, actor: Actor, body: BookCoverBody, cover_id: str) -> BookCover:
    found = await records.contract(actor.broker, body.contract)
    now_us = await records.now_us()
    if found is None or not found.active:
        raise invalid_field(("contract",), f"there is no active contract {body.contract}")
    contract = found.contract
    if not may_be_used(contract, duty_day(now_us)):
        raise invalid_field(("contract",), "its last day to hold has passed")
    quantity_e8 = texts.cover_quantity(body.quantity)
    require_steps(contract, quantity_e8, "quantity")
    if Metal(contract.metal) not in await records.book_positions(actor.broker):
        raise RefusalError(CONFLICT, f"The hedge book of {contract.metal} is not open.")
    return BookCover(
        cover_id,
        actor.broker,
        Metal(contract.metal),
        contract,
        body.side,
        quantity_e8,
        contract.fine_mg(quantity_e8),
        BY_HAND,
        actor.name,
        body.idempotency_key,
        SUGGESTED,
        now_us,
    )


def require_steps(contract: Contract, quantity_e8: int, *field: str) -> None:
    if quantity_e8 % contract.step_e8:
        raise invalid_field(field, f"must be a multiple of {plain(contract.step_e8, _QUANTITY_PLACES)}")


def _deal(cover: BookCover, body: CoverFillBody, at_us: int) -> CoverDeal:
    contract = cover.contract
    quantity_e8 = texts.cover_quantity(body.quantity)
    if quantity_e8 > cover.quantity_e8:
        raise invalid_field(("quantity",), "is more than the cover's")
    require_steps(contract, quantity_e8, "quantity")
    if (contract.currency == DOLLARS) != (body.dollar is not None):
        needs = "must be given" if body.dollar is None else "is only for contracts in dollars"
        raise invalid_field(("dollar",), needs)
    fill = Fill(body.reference, quantity_e8, texts.rate(body.price), at_us)
    dollar_e6 = 0 if body.dollar is None else texts.rate(body.dollar)
    return CoverDeal(fill, texts.rupees(body.fee), dollar_e6)


def _contract(code: str, body: ContractBody) -> Contract:
    return Contract(
        code,
        body.venue,
        body.venue_symbol,
        body.security_id,
        body.metal,
        body.instrument,
        texts.nanograms(body.lot),
        texts.fineness(body.fineness),
        texts.cover_quantity(body.step),
        texts.nanograms(body.price_weight),
        body.currency,
        texts.rate(body.tick),
        body.expires_on or "",
        body.hold_until or "",
        body.mode,
    )


def _contract_view(stored: StoredContract) -> View:
    of = stored.contract
    return {
        "code": of.code,
        "metal": of.metal,
        "venue": of.venue,
        "venue_symbol": of.venue_symbol,
        "security_id": of.security_id,
        "instrument": of.instrument,
        "lot": plain(of.lot_ng, _NG_PLACES),
        "fineness": texts.fineness_text(of.fineness_e4),
        "step": plain(of.step_e8, _QUANTITY_PLACES),
        "price_weight": plain(of.price_ng, _NG_PLACES),
        "currency": of.currency,
        "tick": plain(of.tick_e6, _RATE_PLACES),
        "expires_on": of.expires_on or None,
        "hold_until": of.hold_until or None,
        "mode": of.mode,
        "active": stored.active,
    }


def cover_view(cover: BookCover, deals: list[CoverDeal]) -> View:
    return {
        "id": cover.id,
        "metal": cover.metal.value,
        "contract": cover.contract.code,
        "venue": cover.contract.venue,
        # The terms that it was made with: those of the contract may have changed since.
        "price_weight": plain(cover.contract.price_ng, _NG_PLACES),
        "currency": cover.contract.currency,
        "side": cover.side,
        "quantity": plain(cover.quantity_e8, _QUANTITY_PLACES),
        "fine": grams(cover.fine_mg),
        "state": cover.state,
        "rule": cover.rule,
        "made_by": cover.made_by,
        "created_at": instant_text(cover.created_at_us),
        "sent_by": cover.sent_by,
        "sent_at": None if cover.sent_at_us is None else instant_text(cover.sent_at_us),
        "reference": None if cover.reference_e6 is None else plain(cover.reference_e6, _RATE_PLACES),
        "finished_at": None if cover.finished_at_us is None else instant_text(cover.finished_at_us),
        "words": cover.words,
        "settled_by": cover.settled_by,
        "deals": [
            {
                "reference": each.fill.execution_id,
                "quantity": plain(each.fill.quantity_e8, _QUANTITY_PLACES),
                "price": plain(each.fill.price_e6, _RATE_PLACES),
                "currency": cover.contract.currency,
                "fee": plain(each.fee_minor, _MINOR_PLACES),
                "dollar": plain(each.dollar_e6, _RATE_PLACES) if each.dollar_e6 else None,
                "fine": grams(each.fine_mg),
                "at": instant_text(each.fill.at_us),
            }
            for each in deals
        ],
    }
