"""Dollars that the desk buys or sells against those that covers left open."""

from uuid import uuid4

from bullion.desk import texts
from bullion.desk.audit_wording.hedging import tell_currency_deal
from bullion.desk.bodies import CurrencyBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.hedge.book.money import currency_cash_paise
from bullion.metals.metal import Metal
from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import plain
from bullion.metals.symbol import Side
from bullion.orders.instant import instant_text
from bullion.records.book_money import CurrencyRecord
from bullion.records.page import FIRST_PAGE, Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

_CENT_PLACES, _RATE_PLACES = 2, 6
_COLUMNS = "at metal side dollars rate rupees fee reference made_by"


@action("GET /hedge/currency", command="hedge currency", columns=_COLUMNS)
async def list_currency_deals(desk: Desk, actor: Actor, page: Page = FIRST_PAGE) -> tuple[list[View], int]:
    """List the dollars that were bought and sold for the hedge book, newest first."""

    async def work(records: Records) -> tuple[list[View], int]:
        found, total = await records.currency_deals(actor.broker, page)
        return [_view(each) for each in found], total

    return await desk.read(actor, "currency_deals", work)


@action(
    "POST /hedge/currency",
    Role.DEALER,
    audit_text="recorded a currency deal",
    tell=tell_currency_deal,
    status=201,
    command="hedge currency-deal",
    columns=_COLUMNS,
)
async def create_currency_deal(desk: Desk, actor: Actor, body: CurrencyBody) -> View:
    """Record dollars that were bought or sold for the hedge book.

    They close the dollars that covers left open. A repeated key returns the deal that was recorded with it.
    The metal says whose dollars they are; it may be left out while only one book is open.
    """
    deal_id = str(uuid4())

    async def work(records: Records) -> ChangeResult:
        metal = await _metal(records, actor.broker, body)
        # Locked before the key is looked for: of two that come at once, the second finds the first.
        position = await records.lock_book_position(actor.broker, metal)
        known = await records.currency_deal_of_key(actor.broker, body.idempotency_key)
        wanted = _deal(actor, body, metal, deal_id, await records.now_us())
        if known is not None:
            if _terms(known) != _terms(wanted):
                raise RefusalError(CONFLICT, "This key was used for another currency deal.")
            return ChangeResult(_view(known), _view(known))
        if position is None:
            raise RefusalError(CONFLICT, f"The hedge book of {metal.value} is not open.")
        await records.add_currency_deal(wanted, position.version)
        return ChangeResult(None, _view(wanted))

    return await desk.change(actor, deal_id, work, catalogue=False)


async def _metal(records: Records, broker: str, body: CurrencyBody) -> Metal:
    if body.metal is not None:
        return Metal(body.metal)
    known = await records.currency_deal_of_key(broker, body.idempotency_key)
    if known is not None:
        return known.metal  # Another book may have been opened since.
    opened = list(await records.book_positions(broker))
    if not opened:
        raise RefusalError(CONFLICT, "No hedge book is open.")
    if len(opened) > 1:
        raise invalid_field(("metal",), "must be given, because more than one hedge book is open")
    return opened[0]


def _deal(actor: Actor, body: CurrencyBody, metal: Metal, deal_id: str, at_us: int) -> CurrencyRecord:
    cents, rate_e6 = texts.price(body.dollars), texts.rate(body.rate)
    signed = cents if body.side == "buy" else -cents
    return CurrencyRecord(
        deal_id,
        actor.broker,
        metal,
        signed,
        rate_e6,
        currency_cash_paise(signed, rate_e6),
        texts.rupees(body.fee),
        body.reference,
        actor.name,
        body.idempotency_key,
        at_us,
    )


def _terms(deal: CurrencyRecord) -> tuple[object, ...]:
    return deal.metal, deal.cents, deal.rate_e6, deal.fee_paise, deal.reference


def _view(deal: CurrencyRecord) -> View:
    return {
        "id": deal.id,
        "metal": deal.metal.value,
        "side": Side.BUY.value if deal.cents > 0 else Side.SELL.value,
        "dollars": plain(abs(deal.cents), _CENT_PLACES),
        "rate": plain(deal.rate_e6, _RATE_PLACES),
        "rupees": rupees_text(abs(deal.cash_paise)),
        "fee": rupees_text(deal.fee_paise),
        "reference": deal.reference,
        "made_by": deal.made_by,
        "at": instant_text(deal.at_us),
    }
