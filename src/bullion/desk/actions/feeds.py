"""The live feed: its sources, the quotes that are held, and the numbers of its guard."""

import msgspec

from bullion.desk import texts
from bullion.desk.audit_wording.prices import tell_feed_guard, tell_preference, tell_release
from bullion.desk.bodies import FeedGuardBody, PreferBody, ReleaseBody
from bullion.desk.conversion import Changes, require_code
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.metals.scaled import plain
from bullion.orders.instant import instant_text
from bullion.rates.feeds.source_settings import GuardNumbers
from bullion.rates.feeds.status import FeedStatus, HeldStatus, InstrumentStatus, QuoteStatus, SourceStatus
from bullion.rates.tick import PLACES
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

FRESH_US = 6_000_000
"""A status that is older than this is of a node that no longer runs."""
_US_PER_S = 1_000_000
GOOD, HELD, BAD, AWAY, CLOSED, UNKNOWN = "good", "held", "bad", "away", "closed", "unknown"


@action(
    "GET /feeds",
    command="feeds list",
    columns="instrument source chosen state bid ask age_s held dropped error",
)
async def list_feeds(desk: Desk, actor: Actor) -> list[View]:
    """List the instruments of the live feed, each with its sources.

    Of each source: the last good quote, a quote that is held, and how many were dropped for which reason.
    """

    async def work(records: Records) -> list[View]:
        status, now_us = await records.feed_status(), await records.now_us()
        return [] if status is None else views(status, now_us)

    return await desk.read(actor, "feeds", work)


@action(
    "POST /feeds/{source}/prefer",
    Role.DEALER,
    audit_text="preferred a source of rates",
    tell=tell_preference,
    command="feeds prefer",
)
async def prefer_source(desk: Desk, actor: Actor, source: str, body: PreferBody) -> View:
    """Take the rate of an instrument from SOURCE, at once if it has a good quote.

    This also decides between two sources whose prices differ. It is for all brokers of the deployment.

    \b
    Examples:
      bullion desk feeds prefer vendor-b --instrument GOLD
      bullion desk feeds prefer vendor-b --instrument GOLD --end
    """

    async def work(records: Records) -> ChangeResult:
        instrument, _ = await _find(records, source, body.instrument)
        now_us, wanted = await records.now_us(), None if body.end else source
        # Not what the node told last: it may not have heard of it yet.
        before = await records.preferred_source(body.instrument)
        others = {each.source for each in instrument.quotes} - {source}
        if body.end and before in others:
            raise RefusalError(
                CONFLICT, f"{body.instrument} prefers {before} now, not {source}. Nothing was changed."
            )
        await records.prefer_source(body.instrument, wanted, now_us)
        return ChangeResult(
            {"instrument": body.instrument, "preferred": before},
            {"instrument": body.instrument, "preferred": wanted},
        )

    # With the catalogue's lock, or of two that change it at once the second would undo the first.
    return await desk.change(actor, body.instrument, work)


@action(
    "POST /feeds/{source}/release",
    Role.DEALER,
    audit_text="released a held quote",
    tell=tell_release,
    command="feeds release",
)
async def release_quote(desk: Desk, actor: Actor, source: str, body: ReleaseBody) -> View:
    """Believe a quote of SOURCE that is held because it is far from the last good one.

    Name the bid and the ask that you saw: if the source has moved on, it stays held. It is for all brokers of
    the deployment.

    \b
    Example:
      bullion desk feeds release vendor-a --instrument GOLD --bid 158000 --ask 158020
    """
    bid_e6, ask_e6 = texts.rate(body.bid), texts.rate(body.ask)
    if ask_e6 < bid_e6:
        raise invalid_field(("ask",), "is below the bid")

    async def work(records: Records) -> ChangeResult:
        _, quote = await _find(records, source, body.instrument)
        if quote.held is None:
            raise RefusalError(CONFLICT, f"No quote of {body.instrument} from {source} is held.")
        await records.release_quote(source, body.instrument, bid_e6 + ask_e6, await records.now_us())
        seen = {"bid": plain(bid_e6, PLACES), "ask": plain(ask_e6, PLACES)}
        return ChangeResult(None, {"instrument": body.instrument, "source": source, **seen})

    return await desk.change(actor, body.instrument, work, catalogue=False)


@action(
    "PATCH /feeds/guards/{instrument}",
    Role.ADMIN,
    audit_text="changed the guard of a rate",
    tell=tell_feed_guard,
    command="feeds guard",
)
async def patch_feed_guard(
    desk: Desk, actor: Actor, instrument: str, changes: Changes[FeedGuardBody]
) -> View:
    """Change the numbers by which quotes of INSTRUMENT are believed.

    \b
    Example:
      bullion desk feeds guard GOLD spike_bps=120
    """
    require_code("instrument", instrument)

    async def work(records: Records) -> ChangeResult:
        before = (await records.feed_guards()).get(instrument) or await _file_guard(records, instrument)
        after = msgspec.structs.replace(before, **changes.fields)
        await records.put_feed_guard(instrument, after)
        return ChangeResult(msgspec.structs.asdict(before), msgspec.structs.asdict(after))

    # With the catalogue's lock, or of two that change it at once the second would undo the first.
    return await desk.change(actor, instrument, work)


async def _file_guard(records: Records, instrument: str) -> GuardNumbers:
    """Those of the market file, as the node that runs the feed told them last."""
    status = await records.feed_status()
    known = () if status is None else status.instruments
    return next((each.guard for each in known if each.instrument == instrument), GuardNumbers())


async def _find(records: Records, source: str, instrument: str) -> tuple[InstrumentStatus, QuoteStatus]:
    status, now_us = await records.feed_status(), await records.now_us()
    if status is None or now_us - status.at_us > FRESH_US:
        raise RefusalError(CONFLICT, "No node runs a live feed now.")
    for each in status.instruments:
        for quote in each.quotes:
            if (each.instrument, quote.source) == (instrument, source):
                return each, quote
    raise RefusalError(NOT_FOUND, f"The live feed has no source {source} of {instrument}.")


def views(status: FeedStatus, now_us: int) -> list[View]:
    sources = {each.name: each for each in status.sources}
    fresh = now_us - status.at_us <= FRESH_US
    return [
        _view(instrument, quote, sources[quote.source], now_us, fresh=fresh)
        for instrument in status.instruments
        for quote in instrument.quotes
    ]


def _view(
    instrument: InstrumentStatus, quote: QuoteStatus, source: SourceStatus, now_us: int, *, fresh: bool
) -> View:
    return {
        "instrument": instrument.instrument,
        "source": quote.source,
        "chosen": instrument.source == quote.source,
        "published": fresh and instrument.source == quote.source and instrument.publishes,
        "preferred": instrument.preferred == quote.source,
        "state": _state(quote, source) if fresh else UNKNOWN,
        "bid": None if quote.bid_e6 is None else plain(quote.bid_e6, PLACES),
        "ask": None if quote.ask_e6 is None else plain(quote.ask_e6, PLACES),
        "at": None if quote.at_us is None else instant_text(quote.at_us),
        "age_s": None if quote.received_us is None else max(0, now_us - quote.received_us) // _US_PER_S,
        "held": None if quote.held is None else _held(quote.held),
        "dropped": sum(quote.drops.values()),
        "drops": quote.drops,
        "differs_from": instrument.differs_from,
        "disputed_by": instrument.disputed_by,
        "off_parity": instrument.off_parity,
        "kind": source.kind,
        "away_since": None if source.away_since_us is None else instant_text(source.away_since_us),
        "error": source.error,
    }


def _held(held: HeldStatus) -> View:
    return {
        "bid": plain(held.bid_e6, PLACES),
        "ask": plain(held.ask_e6, PLACES),
        "since": instant_text(held.since_us),
        "count": held.count,
    }


def _state(quote: QuoteStatus, source: SourceStatus) -> str:
    if not source.is_open:
        return CLOSED
    if not source.connected:
        return AWAY
    if quote.held is not None:
        return HELD
    return GOOD if quote.good else BAD
