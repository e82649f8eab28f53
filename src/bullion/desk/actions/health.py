"""Health: each part that orders need, what its trouble means for clients, and what to do about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bullion.desk.cover_rules import expiring
from bullion.desk.desk import Desk, View
from bullion.desk.registry import action
from bullion.hedge.book.rules import ExpiryAlarm
from bullion.hedge.fix.session_effects import LineState
from bullion.metals.grouping import grouped
from bullion.metals.scaled import plain
from bullion.metals.symbol import Symbol
from bullion.orders.instant import instant_text, read_instant_us
from bullion.rates.feeds.status import FeedStatus
from bullion.rates.freshness import AHEAD_US_MAX, US_PER_S
from bullion.rates.tick import PLACES
from bullion.records.market import BoardTick
from bullion.records.node_report import FORGOTTEN_US, NodeReport
from bullion.records.token import Actor
from bullion.store.records import Records
from bullion.store.webhooks import StoppedWebhook
from bullion.unreadable import Unreadable

from . import lines
from .feeds import FRESH_US
from .switches import find_switches

VENUE, FEED, STORE, LIMITER, SCHEMA, WORKERS = "venue", "feed", "store", "limiter", "schema", "workers"
INSTRUMENT, LINE, CONTRACT, WEBHOOK = "instrument", "line", "contract", "webhook"
OK, LOOK_SOON, ACT_NOW, UNKNOWN, OFF = "ok", "warn", "bad", "unknown", "off"
NOTHING_COVERED = "SIMULATED: nothing is covered"
_SOON = 2 / 3
"""A rate that has reached this part of its greatest age is told before clients are refused."""
_NAMED = 3
"""So many accounts are named."""
_HELD_US = 5_000_000
"""Most held quotes are confirmed or withdrawn within a second or two."""
_STOPPED_US = 7 * 86_400 * US_PER_S
"""A webhook that was switched off is told for a week."""
_NO_REPORT = "No node has reported for a while: see workers."


@dataclass(frozen=True, slots=True)
class _Light:
    part: str
    name: str
    state: str
    text: str
    clients: str
    remedy: str = "Nothing to do."
    since_us: int | None = None
    simulated: bool = False

    @property
    def view(self) -> View:
        return {
            "part": self.part,
            "name": self.name,
            "state": self.state,
            "since": None if self.since_us is None else instant_text(self.since_us),
            "text": self.text,
            "clients": self.clients,
            "remedy": self.remedy,
            "simulated": self.simulated,
        }


@action("GET /health", command="health", columns="name state since text clients remedy")
async def get_health(desk: Desk, actor: Actor) -> list[View]:
    """Show whether the venue, the feed, the store, the limiter, the schema and the workers are well.

    Of each: since when something is wrong, what it means for clients now, and what to do.
    """

    can_write = await desk.store.can_write()

    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        reports = await records.node_reports()
        fresh = [each for each in reports if each.is_fresh(now_us)]
        switches, _ = await find_switches(records, actor.broker)
        hours = switches.trading_hours
        is_open = hours is None or hours.is_open(now_us)
        symbols = [
            each
            for each in await records.all_symbols(actor.broker)
            if not isinstance(each, Unreadable) and each.trading
        ]
        ticks = [each for each in await records.ticks(actor.broker) if not isinstance(each, Unreadable)]
        lights = [
            _venue(desk, actor.broker, fresh),
            *_instruments(actor.broker, fresh),
            *_feeds(desk, symbols, ticks, now_us, is_open=is_open),
            *_sources(await records.feed_status(), now_us),
            *_lines([lines.view(each, now_us) for each in await records.lines(actor.broker)]),
            *map(_contract, await expiring(records, actor.broker, now_us)),
            *_webhooks(await records.stopped_webhooks(actor.broker, now_us - _STOPPED_US)),
            _store(await records.seen_moved_to(actor.broker), can_write=can_write),
            _limiter(fresh),
            _schema(fresh),
            _workers(reports, now_us),
        ]
        return [each.view for each in lights]

    return await desk.read(actor, "health", work)


def _store(moved_to: str | None, *, can_write: bool) -> _Light:
    if not can_write:
        return _Light(
            STORE,
            "Store",
            ACT_NOW,
            "takes no writes: orders are refused",
            "Orders are refused with booking_unavailable. Nodes are not ready.",
            "Look for a full disk, and whether PostgreSQL was made read-only. Nodes recover by themselves.",
        )
    if moved_to is None:
        return _Light(STORE, "Store", OK, "answers", "Orders are recorded.")
    return _Light(
        STORE,
        "Store",
        ACT_NOW,
        f"the broker was moved to {moved_to}",
        "Every call is refused here with service_unavailable or booking_unavailable.",
        "Work at the desk of the deployment that has it now, and send its host names there.",
    )


def _venue(desk: Desk, broker: str, fresh: Sequence[NodeReport]) -> _Light:
    simulated = not desk.venue.covers
    name = "Venue"
    down = [each.venue_down_us[broker] for each in fresh if broker in each.venue_down_us]
    if down:
        return _Light(
            VENUE,
            name,
            ACT_NOW,
            "down: live orders are refused",
            "Live orders are refused with production_prerequisites_unmet. Orders that wait are sent again "
            "when the venue answers. Test orders go on.",
            "It is simulated: set its behaviour under Market, Venue."
            if simulated
            else "Check the connection to the venue, and the log of the nodes.",
            min(down),
            simulated,
        )
    if not fresh:
        return _Light(VENUE, name, UNKNOWN, "unknown", _NO_REPORT, simulated=simulated)
    if simulated:
        return _Light(
            VENUE,
            name,
            OK,
            NOTHING_COVERED,
            "Live orders are confirmed as if they were covered. No metal is bought or sold for them.",
            "Use it for trials. To deal, start the nodes with BULLION_HEDGE=desk and cover by hand.",
            simulated=True,
        )
    by_hand = desk.venue.by_hand
    text = "the desk covers by hand" if by_hand else f"{desk.hedge} answers"
    clients = (
        "Each live order waits until the desk confirms or refuses it." if by_hand else "Orders are covered."
    )
    return _Light(VENUE, name, OK, text, clients)


def _instruments(broker: str, fresh: Sequence[NodeReport]) -> list[_Light]:
    """A light for each instrument that the venue does not trade now, although it can be reached."""
    since: dict[str, int] = {}
    for report in fresh:
        for name, at_us in report.not_tradable_us.get(broker, {}).items():
            since[name] = min(at_us, since.get(name, at_us))
    return [
        _Light(
            INSTRUMENT,
            f"{name} at the venue",
            LOOK_SOON,
            "not traded",
            f"Live orders that are covered in {name} are refused until the venue trades it again.",
            "Ask the venue. Its own hours or a halt may be the reason.",
            at_us,
        )
        for name, at_us in sorted(since.items())
    ]


def _feeds(
    desk: Desk, symbols: Sequence[Symbol], ticks: Iterable[BoardTick], now_us: int, *, is_open: bool
) -> list[_Light]:
    """One light for each instrument that a traded symbol is priced by."""
    used: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        for instrument in symbol.pricing.instruments:
            used.setdefault(instrument, []).append(symbol)
    held = {each.tick.instrument: each for each in ticks}
    return [
        _feed(instrument, of, held.get(instrument), now_us, desk, is_open=is_open)
        for instrument, of in sorted(used.items())
    ]


def _feed(
    instrument: str,
    symbols: Sequence[Symbol],
    held: BoardTick | None,
    now_us: int,
    desk: Desk,
    *,
    is_open: bool,
) -> _Light:
    simulated = instrument in desk.fed_instruments and not (held is not None and held.own)
    codes = ", ".join(sorted(each.code for each in symbols))
    if instrument in desk.fed_instruments:
        remedy = "Check that a node runs, and its log. With BULLION_FEED=desk the desk sets the rate itself."
    elif held is not None and not held.own:
        remedy = (
            f"See its sources with 'bullion desk feeds list'. Meanwhile you can pin a rate of {instrument}."
        )
    else:
        remedy = f"Set the rate of {instrument} under Market, Rates."
    if held is None:
        return _Light(
            FEED, instrument, ACT_NOW, "no rate yet", f"Nobody can trade {codes}: no_live_price.", remedy
        )
    age_s = max(0, now_us - held.tick.holds_until_us) // US_PER_S
    limits = [each.rate_age_s_max for each in symbols if each.rate_age_s_max is not None]
    limit_s = min(limits, default=None)
    ahead_us = held.tick.at_us - now_us
    if limits and ahead_us > AHEAD_US_MAX:
        codes = ", ".join(sorted(each.code for each in symbols if each.rate_age_s_max is not None))
        text = f"its time is {ahead_us // US_PER_S} s ahead: the clock was set back"
        clients = f"Orders in {codes} are refused with stale_rate."
        return _Light(FEED, instrument, ACT_NOW, text, clients, remedy, simulated=simulated)
    source = "set by the desk" if held.own else "simulated" if simulated else "from the feed"
    if held.own and held.tick.holds_until_us > max(now_us, held.tick.at_us):
        text, clients = "pinned by the desk", f"{codes} can be priced. Rates of the feed are not used."
        return _Light(FEED, instrument, OK, text, clients)
    if limit_s is None or age_s <= limit_s * _SOON:
        text = f"{source}, {age_s} s old"
        return _Light(FEED, instrument, OK, text, f"{codes} can be priced.", simulated=simulated)
    since_us = held.tick.at_us
    if not is_open:
        clients = "The market is closed by its trading hours. Clients need no rate now."
        return _Light(FEED, instrument, OFF, f"{age_s} s old, market closed", clients, simulated=simulated)
    if age_s <= limit_s:
        return _Light(
            FEED,
            instrument,
            LOOK_SOON,
            f"no new rate for {age_s} s",
            f"From {limit_s} s on, orders in {codes} are refused with stale_rate.",
            remedy,
            since_us,
            simulated,
        )
    stale = ", ".join(
        sorted(
            each.code for each in symbols if each.rate_age_s_max is not None and age_s > each.rate_age_s_max
        )
    )
    return _Light(
        FEED,
        instrument,
        ACT_NOW,
        f"no new rate for {age_s} s",
        f"Orders in {stale} are refused with stale_rate.",
        remedy,
        since_us,
        simulated,
    )


def _price(e6: int) -> str:
    return grouped(plain(e6, PLACES).rstrip("0").rstrip("."))


def _sources(status: FeedStatus | None, now_us: int) -> list[_Light]:
    """A light for each trouble of the live feed that somebody has to look at."""
    if status is None or now_us - status.at_us > FRESH_US:
        return []
    away = [
        _Light(
            FEED,
            source.name,
            LOOK_SOON,
            f"source away: {source.error}" if source.error else "source away",
            "Rates come from other sources, or grow old.",
            "Check the line to the source; see 'bullion desk feeds list'.",
            source.away_since_us,
        )
        for source in status.sources
        if source.is_open and not source.connected
    ]
    held = [
        _Light(
            FEED,
            f"{instrument.instrument} at {quote.source}",
            ACT_NOW,
            f"held: {_price(quote.held.bid_e6)} / {_price(quote.held.ask_e6)}",
            "The quote is not published, because it is far from the last good one.",
            "Compare it with another screen. Release it, prefer another source, or pin a rate.",
            quote.held.since_us,
        )
        for instrument in status.instruments
        for quote in instrument.quotes
        if quote.held is not None and now_us - quote.held.since_us > _HELD_US
    ]
    differing = [
        _Light(
            FEED,
            each.instrument,
            ACT_NOW,
            f"{each.source} and {each.differs_from} differ",
            "No rate is published until they agree.",
            "Compare both with another screen, and prefer the right one.",
        )
        for each in status.instruments
        if each.differs_from is not None
    ]
    return [*differing, *held, *away]


def _lines(shown: Sequence[View]) -> list[_Light]:
    """A light for each line that is not up in its hours, or that the desk disconnected."""
    refused = "Live orders are refused with production_prerequisites_unmet until it is up."
    found = []
    for line in shown:
        name, since_us = line["name"], read_instant_us(line["since"])
        if line["wanted"] == lines.DISCONNECTED:
            remedy = f"Connect it with 'bullion desk hedge line-connect {name}'."
            found.append(_Light(LINE, name, LOOK_SOON, "disconnected by the desk", refused, remedy, since_us))
        elif line["expected"] and line["state"] != LineState.UP.value:
            text = f"{line['state'].replace('_', ' ')}. {line['message']}".strip()
            remedy = "Check the way to the venue, and ask it; see 'bullion desk hedge lines'."
            found.append(_Light(LINE, name, ACT_NOW, text, refused, remedy, since_us))
    return found


def _contract(alarm: ExpiryAlarm) -> _Light:
    """A contract that is held, and whose last day to hold is near or has passed."""
    return _Light(
        CONTRACT,
        alarm.contract.code,
        ACT_NOW if alarm.passed else LOOK_SOON,
        alarm.text,
        "Clients notice nothing. The house may have to deliver, or loses its cover.",
        "Deal it back, and as much of a later contract: see 'Roll a contract' in the handbook.",
    )


def _webhooks(stopped: Sequence[StoppedWebhook]) -> list[_Light]:
    """One light for all webhooks that were switched off because deliveries failed."""
    if not stopped:
        return []
    of = [f"{each.login_id} ({each.environment})" for each in stopped]
    more = f" and {len(of) - _NAMED}" if len(of) > _NAMED else ""
    return [
        _Light(
            WEBHOOK,
            "Webhooks",
            LOOK_SOON,
            f"{len(of)} switched off: nothing could be delivered",
            f"No events are sent to {', '.join(of[:_NAMED])}{more}. Orders go on.",
            "Ask the client about the receiver. Then switch the webhook on, or delete it, on the page of the "
            "account.",
            stopped[0].at_us,
        )
    ]


def _limiter(fresh: Sequence[NodeReport]) -> _Light:
    name = "Limiter"
    down = [each.limiter_down_us for each in fresh if each.limiter_down_us is not None]
    if down:
        return _Light(
            LIMITER,
            name,
            ACT_NOW,
            "Redis does not count: orders are refused",
            "Orders are refused with rate_limiter_unavailable, because they cannot be counted. Reads go on, "
            "uncounted.",
            "Start Redis, or correct BULLION_REDIS_URL. If it runs, it may be full: see the log of nodes. "
            "Nodes connect again by themselves.",
            min(down),
        )
    if not fresh:
        return _Light(LIMITER, name, UNKNOWN, "unknown", _NO_REPORT)
    kind = "counts in Redis" if fresh[0].limiter == "redis" else "counts in memory"
    return _Light(LIMITER, name, OK, kind, "Budgets of orders and reads hold.")


def _schema(fresh: Sequence[NodeReport]) -> _Light:
    name = "Schema"
    unfit = [each.schema_unfit_us for each in fresh if each.schema_unfit_us is not None]
    if unfit:
        return _Light(
            SCHEMA,
            name,
            ACT_NOW,
            "does not fit: live orders are refused",
            "Live orders are refused with production_prerequisites_unmet.",
            "Run 'bullion migrate', or start the version that fits the store. The log says which.",
            min(unfit),
        )
    if not fresh:
        return _Light(SCHEMA, name, UNKNOWN, "unknown", _NO_REPORT)
    return _Light(SCHEMA, name, OK, "fits", "Nothing stands in the way of orders.")


def _workers(reports: Sequence[NodeReport], now_us: int) -> _Light:
    name = "Workers"
    known = [each for each in reports if now_us - each.at_us <= FORGOTTEN_US]
    expected: dict[str, int] = {}
    alive: dict[str, int] = {}
    for each in known:
        expected[each.place] = max(expected.get(each.place, 0), each.workers)
        alive[each.place] = alive.get(each.place, 0) + each.is_fresh(now_us)
    number = sum(min(alive[place], most) for place, most in expected.items())
    total = sum(expected.values())
    text = f"{number} of {total}" if total else "none"
    if number == total and total:
        return _Light(WORKERS, name, OK, text, "Calls are answered.")
    silent = [each.at_us for each in known if not each.is_fresh(now_us)]
    since_us = max(silent, default=None)
    remedy = "Look at the nodes that do not answer: is the process there, and can it reach the store?"
    if number:
        return _Light(WORKERS, name, LOOK_SOON, text, "The other workers answer.", remedy, since_us)
    return _Light(
        WORKERS,
        name,
        ACT_NOW,
        "no node reports",
        "Probably nobody can trade: no node answers calls.",
        remedy,
        since_us,
    )
