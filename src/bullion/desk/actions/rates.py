"""Rates: those that the desk sets, and the board that orders are priced by."""

import msgspec

from bullion.desk import texts
from bullion.desk.audit_wording.prices import tell_rate, tell_unpin
from bullion.desk.bodies import RateBody
from bullion.desk.conversion import require_code
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.metals.scaled import plain
from bullion.orders.instant import instant_text
from bullion.rates.freshness import AHEAD_US_MAX
from bullion.rates.tick import PLACES, Tick
from bullion.records.market import BoardTick
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable

_FUTURE_US_MAX = 5_000_000
_US_PER_S = 1_000_000
_PIN_US_MAX = 7 * 86_400 * _US_PER_S
_SET_AGAIN = "It cannot be put back: set the current rate instead."


async def _undo(records: Records, broker: str, instrument: str, earlier: View) -> ChangeResult:
    """Put back an earlier rate and its pin, with the time of the current one: older ones are ignored."""
    current, now_us = await records.tick(broker, instrument), await records.now_us()
    if earlier["source"] == "feed" and current is not None and current.tick.pinned_until_us is not None:
        return await _unpin(records, broker, current, now_us)
    if earlier["source"] != "desk" or current is None:
        raise RefusalError(CONFLICT, f"The rate of {instrument} before came from the feed. {_SET_AGAIN}")
    bid_e6, ask_e6, at_us = texts.rate(earlier["bid"]), texts.rate(earlier["ask"]), current.tick.at_us
    pinned_us = None if earlier["pinned_until"] is None else texts.instant_us(earlier["pinned_until"])
    old_s = (now_us - max(texts.instant_us(earlier["at"]), pinned_us or 0)) // _US_PER_S
    for symbol in await records.all_symbols(broker):
        if isinstance(symbol, Unreadable) or instrument not in symbol.pricing.instruments:
            continue
        if symbol.rate_age_s_max is not None and old_s > symbol.rate_age_s_max:
            raise RefusalError(
                CONFLICT,
                f"The rate of {instrument} before is {old_s} s old, too old for {symbol.code}. {_SET_AGAIN}",
            )
    await records.put_tick(broker, Tick(instrument, bid_e6, ask_e6, at_us, at_us, pinned_us))
    restored = await records.tick(broker, instrument)
    if restored is None:
        raise LookupError("a tick that was put is not there")
    return ChangeResult(_kept(current), _kept(restored), view(restored, now_us))


async def _unpin(records: Records, broker: str, current: BoardTick, now_us: int) -> ChangeResult:
    await records.put_tick(broker, msgspec.structs.replace(current.tick, pinned_until_us=None))
    after = await records.tick(broker, current.tick.instrument)
    if after is None:
        raise LookupError("a tick that was put is not there")
    return ChangeResult(_kept(current), _kept(after), view(after, now_us))


@action(
    "PUT /rates/{instrument}",
    Role.DEALER,
    audit_text="set a rate",
    tell=tell_rate,
    command="rates put",
    moves_prices=True,
    undo=_undo,
)
async def put_rate(desk: Desk, actor: Actor, instrument: str, body: RateBody) -> View:
    """Set the rate of INSTRUMENT.

    A rate that is older than the current one is ignored. The next rate of a feed replaces it, unless it is
    pinned: then it holds until that time, and does not grow old. A rate that the simulated feed supplies
    has to be pinned.

    \b
    Examples:
      bullion desk rates put GOLD --bid 150463 --ask 150480.50
      bullion desk rates put USDINR --bid 92.0008 --ask 92.0032
    """
    require_code("instrument", instrument)
    bid_e6, ask_e6 = texts.rate(body.bid), texts.rate(body.ask)
    if ask_e6 < bid_e6:
        raise invalid_field(("ask",), "is below the bid")
    given_us = None if body.at is None else texts.instant_us(body.at)
    pinned_us = None if body.pin_until is None else texts.instant_us(body.pin_until)
    if pinned_us is None and instrument in desk.fed_instruments:
        raise RefusalError(
            CONFLICT,
            f"The simulated feed of this deployment supplies {', '.join(sorted(desk.fed_instruments))}. "
            "Pin the rate to hold it against the feed, or start the service with BULLION_FEED=desk.",
        )

    async def work(records: Records) -> ChangeResult:
        now_us = await records.now_us()
        at_us = now_us if given_us is None else given_us
        if at_us > now_us + _FUTURE_US_MAX:
            raise invalid_field(("at",), "is more than 5 seconds in the future by the store's clock")
        if pinned_us is not None and not now_us < pinned_us <= now_us + _PIN_US_MAX:
            raise invalid_field(("pin_until",), "must be in the future, and at most 7 days from now")
        before = await read_or_unreadable(records.tick(actor.broker, instrument))
        known = None if before is None or isinstance(before, Unreadable) else before
        if pinned_us is not None and known is not None and not known.own:
            known = None  # A pin holds against rates of the feed, however new.
        if known is not None and known.own and known.tick.at_us > now_us + AHEAD_US_MAX:
            known = None  # It is from before the clock was set back.
        taken = known is None or at_us >= known.tick.at_us
        if taken:
            await records.put_tick(actor.broker, Tick(instrument, bid_e6, ask_e6, at_us, at_us, pinned_us))
        after = await records.tick(actor.broker, instrument)
        if after is None:
            raise LookupError("a tick that was put is not there")
        answer = {**view(after, now_us), "taken": taken}
        return ChangeResult(None if before is None else view_of(before, _kept), _kept(after), answer)

    return await desk.change(actor, instrument, work)


@action(
    "POST /rates/{instrument}/unpin",
    Role.DEALER,
    audit_text="ended the pin of a rate",
    tell=tell_unpin,
    command="rates unpin",
    moves_prices=True,
)
async def unpin_rate(desk: Desk, actor: Actor, instrument: str, *, only_if: OnlyIf | None = None) -> View:
    """End the pin of the rate of INSTRUMENT: rates of the feed replace it again.

    \b
    Example:
      bullion desk rates unpin GOLD
    """
    require_code("instrument", instrument)

    async def work(records: Records) -> ChangeResult:
        now_us, current = await records.now_us(), await records.tick(actor.broker, instrument)
        if current is None or not _is_pinned(current, now_us):
            raise RefusalError(CONFLICT, f"The rate of {instrument} is not pinned.")
        return await _unpin(records, actor.broker, current, now_us)

    return await desk.change(actor, instrument, work, only_if=only_if)


def _is_pinned(held: BoardTick, now_us: int) -> bool:
    return held.own and held.tick.holds_until_us > max(now_us, held.tick.at_us)


@action(
    "GET /rates", command="rates list", columns="instrument bid ask source age_s at moved_at pinned_until"
)
async def list_rates(desk: Desk, actor: Actor) -> list[View]:
    """List the rates that orders are priced by."""

    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        ticks = await records.ticks(actor.broker)
        return [view_of(each, lambda held: view(held, now_us)) for each in ticks]

    return await desk.read(actor, "rates", work)


def _kept(held: BoardTick) -> View:
    tick = held.tick
    return {
        "instrument": tick.instrument,
        "bid": plain(tick.bid_e6, PLACES),
        "ask": plain(tick.ask_e6, PLACES),
        "at": instant_text(tick.at_us),
        "moved_at": instant_text(tick.moved_at_us),
        "source": "desk" if held.own else "feed",
        "pinned_until": None if tick.pinned_until_us is None else instant_text(tick.pinned_until_us),
    }


def view(held: BoardTick, now_us: int) -> View:
    """With the age in whole seconds, as in the symbols' limits; 0 for a time in the future."""
    return {**_kept(held), "age_s": max(0, now_us - held.tick.at_us) // _US_PER_S}
