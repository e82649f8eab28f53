"""The price guard: what a change does to the prices of clients, and what somebody has to confirm first.

Pure functions. Prices are computed as for orders, and compared per weight: a price of 10 g that becomes one
of 1 g is ten times as high.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import gcd
from typing import Any, NamedTuple

import msgspec

from bullion.accounts.group import Terms
from bullion.metals.pricing import Landed
from bullion.metals.rupees import PLACES as RUPEES_PLACES
from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import plain
from bullion.metals.symbol import Side, Symbol
from bullion.metals.weight import weight_text
from bullion.rates.duty import duty_day
from bullion.rates.formula import SymbolPrice, symbol_price
from bullion.rates.quote import account_price_paise
from bullion.rates.tick import PLACES as TICK_PLACES
from bullion.rates.tick import Tick
from bullion.refusals.refusal import RefusalCode

from .price_snapshot import PriceSnapshot

_PERCENT_E4 = 100 * 10_000
_E6_PER_PAISA = 10 ** (TICK_PLACES - RUPEES_PLACES)


class Problem(StrEnum):
    CROSSED = "crossed"
    """Clients could sell for more than they buy for."""
    LOSING = "losing"
    """Clients buy below the symbol's own price, or sell above it."""
    MOVE = "move"
    """The price moves by more than the broker's limit."""
    WIDE = "wide"
    """The ask of a rate is further above its bid than that limit."""
    TOLERANCE = "tolerance"
    """The tolerance of prices is raised above that limit."""
    LIMIT = "limit"
    """That limit itself is raised: larger slips would no longer ask."""
    UNPROTECTED = "unprotected"
    """Orders at crossed prices would no longer be refused."""


class PriceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One price before and after a change, in paise per `unit`. None: it is not offered."""

    symbol: str
    """Or the instrument, for a rate."""
    group: str | None
    """None for a rate, a tolerance or a limit, which are of all groups."""
    side: Side | None
    unit: str
    """The weight that the price is for, such as `10 g`; empty for a rate."""
    old_paise: int | None
    new_paise: int | None
    move_percent_e4: int | None = None
    spread_before_paise: int | None = None
    spread_after_paise: int | None = None
    problems: tuple[Problem, ...] = ()
    loss_paise: int = 0
    """What the broker would lose on each unit."""
    from_date: str | None = None
    """The Indian date from which it applies; None: at once."""
    account: str | None = None
    """The login of the only client that the price is for; None: all clients of the group."""

    def view(self) -> dict[str, Any]:
        shown = {
            "symbol": self.symbol,
            "group": self.group,
            "side": self.side,
            "unit": self.unit,
            "old": price_text(self.old_paise),
            "new": price_text(self.new_paise),
            "move_percent": None if self.move_percent_e4 is None else plain(self.move_percent_e4, 4),
            "spread_before": price_text(self.spread_before_paise),
            "spread_after": price_text(self.spread_after_paise),
            "problems": list(self.problems),
            "loss": rupees_text(self.loss_paise),
            "from": self.from_date,
        }
        return shown if self.account is None else {**shown, "account": self.account}


def moved_prices(before: PriceSnapshot, after: PriceSnapshot) -> list[PriceRow]:
    """Every price of a client that a change moves, those with problems first."""
    limit_e4 = before.switches.price_move_percent_max_e4
    rows = [
        row
        for symbol in after.symbols.values()
        for at_us in _moments(before, after, symbol)
        for row in _rows_of_symbol(before, after, symbol, at_us, limit_e4)
    ]
    rows += _rate_rows(before, after, limit_e4)
    rows += _tolerance_rows(before, after, limit_e4)
    rows += _limit_rows(before, after)
    rows += _unprotected_rows(before, after)
    return sorted(rows, key=_order)


def account_prices(snapshot: PriceSnapshot, login_id: str, old_group: str, new_group: str) -> list[PriceRow]:
    """Every price that moves for an account that goes to another group, those with problems first."""
    limit_e4 = snapshot.switches.price_move_percent_max_e4
    groups = [snapshot.groups.get(code) for code in (old_group, new_group)]
    rows: list[PriceRow] = []
    for symbol in snapshot.symbols.values():
        own = _own_prices(snapshot, symbol, snapshot.now_us)
        old, new = (
            _offer(own, None if group is None else group.terms_for(symbol.code), 1, symbol.sides)
            for group in groups
        )
        place = _Place(symbol.code, _unit_of(symbol), 1, limit_e4, None, login_id)
        rows += _rows_of_offer(place, new_group, old, new)
    return sorted(rows, key=_order)


def _order(row: PriceRow) -> tuple[Any, ...]:
    return not row.problems, row.symbol, row.group or "", row.from_date or "", row.side or ""


def _moments(before: PriceSnapshot, after: PriceSnapshot, symbol: Symbol) -> list[int]:
    """Now, and every later time from which the change gives the symbol another duty."""
    moments = [after.now_us]
    if isinstance(symbol.pricing, Landed):
        table, old_table = (each.duties.get(symbol.pricing.duty) for each in (after, before))
        old_symbol = before.symbols.get(symbol.code)
        linked = old_symbol is None or old_symbol.pricing != symbol.pricing
        starts = {duty.from_us for each in (table, old_table) if each is not None for duty in each.duties}
        for start_us in sorted(starts):
            duties = [None if each is None else each.in_force(start_us) for each in (table, old_table)]
            if start_us > after.now_us and (linked or duties[0] != duties[1]):
                moments.append(start_us)
    return moments


def _rows_of_symbol(
    before: PriceSnapshot, after: PriceSnapshot, symbol: Symbol, at_us: int, limit_e4: int
) -> Iterator[PriceRow]:
    old_symbol = before.symbols.get(symbol.code)
    own = _own_prices(after, symbol, at_us)
    old_own = _NO_PRICES if old_symbol is None else _own_prices(before, old_symbol, at_us)
    weight_e4 = symbol.quoted_weight_e4
    old_weight_e4 = weight_e4 if old_symbol is None else old_symbol.quoted_weight_e4
    same = old_symbol is not None and own == old_own and weight_e4 == old_weight_e4
    shared_e4 = gcd(weight_e4, old_weight_e4)
    # Whole numbers that can be compared: each price times the weight of the other, in lowest terms.
    scale, old_scale = old_weight_e4 // shared_e4, weight_e4 // shared_e4
    place = _Place(symbol.code, _unit_of(symbol), scale, limit_e4, _date_if_later(at_us, after.now_us))
    for code, group in after.groups.items():
        old_group = before.groups.get(code)
        terms = group.terms_for(symbol.code)
        old_terms = None if old_group is None else old_group.terms_for(symbol.code)
        if not same or terms != old_terms:
            old_sides = frozenset() if old_symbol is None else old_symbol.sides
            old = _offer(old_own, old_terms, old_scale, old_sides)
            yield from _rows_of_offer(place, code, old, _offer(own, terms, scale, symbol.sides))


def _date_if_later(at_us: int, now_us: int) -> str | None:
    return None if at_us == now_us else duty_day(at_us).isoformat()


def _price(snapshot: PriceSnapshot, symbol: Symbol, at_us: int) -> SymbolPrice | None:
    found = symbol_price(
        symbol,
        lambda name: held.tick if (held := snapshot.ticks.get(name)) is not None else None,
        snapshot.duties.get,
        at_us,
    )
    return None if isinstance(found, RefusalCode) else found


Pair = tuple[int | None, int | None]
"""Of a client that buys, and of one that sells. None: it cannot."""
_NO_PRICES: Pair = (None, None)
_ORDER = (Side.BUY, Side.SELL)


def _own_prices(snapshot: PriceSnapshot, symbol: Symbol, at_us: int) -> Pair:
    """The symbol's own prices in paise, before any premium, on the sides that it offers."""
    price = _price(snapshot, symbol, at_us)
    if price is None:
        return _NO_PRICES
    buy, sell = (
        account_price_paise(at, 0) if side in symbol.sides and (at := price.on(side)) is not None else None
        for side in _ORDER
    )
    return buy, sell


class _Offer(NamedTuple):
    """To a group: its prices, and how far each is on the losing side of the symbol's own."""

    prices: Pair
    losses: tuple[int, int]
    losses_to_come: tuple[int, int] = (0, 0)
    """On sides that have no price yet: how far it will be on the losing side."""

    @property
    def spread(self) -> int | None:
        buy, sell = self.prices
        return None if buy is None or sell is None else buy - sell


def _offer(own: Pair, terms: Terms | None, scale: int, sides: frozenset[Side] = frozenset()) -> _Offer:
    """Multiplied by `scale`. A price that is not above 0 is none. `sides`: those that the symbol offers."""
    if terms is None:
        return _Offer(_NO_PRICES, (0, 0))
    (own_buy, own_sell), added, lost = own, terms.buy_premium_paise, terms.sell_premium_paise
    buy = None if own_buy is None or added is None or own_buy + added <= 0 else (own_buy + added) * scale
    sell = None if own_sell is None or lost is None or own_sell + lost <= 0 else (own_sell + lost) * scale
    lost_on_buys, lost_on_sells = max(0, -(added or 0)) * scale, max(0, lost or 0) * scale
    losses = (0 if buy is None else lost_on_buys, 0 if sell is None else lost_on_sells)
    losses_to_come = (
        lost_on_buys if own_buy is None and Side.BUY in sides else 0,
        lost_on_sells if own_sell is None and Side.SELL in sides else 0,
    )
    return _Offer((buy, sell), losses, losses_to_come)


class _Place(NamedTuple):
    """What the rows of one symbol have in common."""

    symbol: str
    unit: str
    scale: int
    limit_e4: int
    from_date: str | None
    account: str | None = None

    def paise(self, scaled: int | None) -> int | None:
        return None if scaled is None else _half_up(scaled, self.scale)


def _rows_of_offer(place: _Place, group: str, old: _Offer, new: _Offer) -> Iterator[PriceRow]:
    spread, old_spread = new.spread, old.spread
    cross, old_cross = max(0, -(spread or 0)), max(0, -(old_spread or 0))
    for index, side in enumerate(_ORDER):
        was, now = old.prices[index], new.prices[index]
        losses: dict[Problem, int] = {}
        move_e4 = None
        if was is None and now is None and new.losses_to_come[index] > old.losses_to_come[index]:
            losses[Problem.LOSING] = new.losses_to_come[index]
        elif was == now:
            continue
        if now is not None:
            if cross > old_cross:
                losses[Problem.CROSSED] = cross
            if new.losses[index] > old.losses[index]:
                losses[Problem.LOSING] = new.losses[index]
        if was is not None and now is not None:
            move_e4 = _percent_e4(now - was, was)
            if abs(now - was) * _PERCENT_E4 > was * place.limit_e4:
                losses[Problem.MOVE] = was - now if side is Side.BUY else now - was
        yield PriceRow(
            symbol=place.symbol,
            group=group,
            side=side,
            unit=place.unit,
            old_paise=place.paise(was),
            new_paise=place.paise(now),
            move_percent_e4=move_e4,
            spread_before_paise=place.paise(old_spread),
            spread_after_paise=place.paise(spread),
            problems=tuple(losses),
            loss_paise=_half_up(max(0, *losses.values()), place.scale) if losses else 0,
            from_date=place.from_date,
            account=place.account,
        )


def _percent_e4(move: int, was: int) -> int:
    """Towards 0, so that a move within the limit is not shown as one above it."""
    percent_e4 = abs(move) * _PERCENT_E4 // was
    return percent_e4 if move >= 0 else -percent_e4


def _rate_rows(before: PriceSnapshot, after: PriceSnapshot, limit_e4: int) -> Iterator[PriceRow]:
    """Rates with problems: a digit may be missing. Symbols may come to use them later."""
    for name, held in after.ticks.items():
        was, tick = before.ticks.get(name), held.tick
        if was is held:
            continue
        spread_e6 = tick.ask_e6 - tick.bid_e6
        wider = was is None or spread_e6 > was.tick.ask_e6 - was.tick.bid_e6
        wide = wider and spread_e6 * _PERCENT_E4 > tick.bid_e6 * limit_e4
        for side in _ORDER:
            now_e6 = _quoted_e6(tick, side)
            old_e6 = None if was is None else _quoted_e6(was.tick, side)
            problems = [Problem.WIDE] if wide and side is Side.BUY else []
            if old_e6 is not None and abs(now_e6 - old_e6) * _PERCENT_E4 > old_e6 * limit_e4:
                problems.append(Problem.MOVE)
            if problems:
                yield PriceRow(
                    symbol=name,
                    group=None,
                    side=side,
                    unit="",
                    old_paise=None if old_e6 is None else _half_up(old_e6, _E6_PER_PAISA),
                    new_paise=_half_up(now_e6, _E6_PER_PAISA),
                    move_percent_e4=None if old_e6 is None else _percent_e4(now_e6 - old_e6, old_e6),
                    spread_after_paise=_half_up(spread_e6, _E6_PER_PAISA),
                    problems=tuple(problems),
                )


def _quoted_e6(tick: Tick, side: Side) -> int:
    return tick.ask_e6 if side is Side.BUY else tick.bid_e6


def _tolerance_rows(before: PriceSnapshot, after: PriceSnapshot, limit_e4: int) -> Iterator[PriceRow]:
    """The rupees that a raised tolerance stands for, in each symbol."""
    old_e4, new_e4 = (each.switches.price_tolerance_percent_e4 for each in (before, after))
    if new_e4 > max(old_e4, limit_e4):
        yield from _percent_rows(after, Problem.TOLERANCE, old_e4, new_e4)


def _limit_rows(before: PriceSnapshot, after: PriceSnapshot) -> Iterator[PriceRow]:
    """The rupees of the largest slip that a raised limit lets through, in each symbol."""
    old_e4, new_e4 = (each.switches.price_move_percent_max_e4 for each in (before, after))
    if new_e4 > old_e4:
        yield from _percent_rows(after, Problem.LIMIT, old_e4, new_e4)


def _percent_rows(after: PriceSnapshot, problem: Problem, old_e4: int, new_e4: int) -> Iterator[PriceRow]:
    """What a percentage of each symbol's price is in rupees; without prices, one row that names no symbol."""
    priced = [
        (symbol.code, _unit_of(symbol), paise)
        for symbol in after.symbols.values()
        if (paise := next(filter(None, _own_prices(after, symbol, after.now_us)), None))
    ]
    for code, unit, paise in priced or [("", "", 0)]:
        old, new = (_half_up(paise * each, _PERCENT_E4) for each in (old_e4, new_e4))
        yield PriceRow(
            symbol=code,
            group=None,
            side=None,
            unit=unit,
            old_paise=old,
            new_paise=new,
            problems=(problem,),
            loss_paise=new,
        )


def _unprotected_rows(before: PriceSnapshot, after: PriceSnapshot) -> Iterator[PriceRow]:
    """The offers that are crossed now and would be traded; without any, one row that names no symbol."""
    if after.switches.refuse_crossed or not before.switches.refuse_crossed:
        return
    found = False
    for symbol in after.symbols.values():
        own = _own_prices(after, symbol, after.now_us)
        for code, group in after.groups.items():
            spread = _offer(own, group.terms_for(symbol.code), 1).spread
            if spread is not None and spread < 0:
                found = True
                yield _unprotected_row(symbol.code, code, _unit_of(symbol), spread)
    if not found:
        yield _unprotected_row("", None, "", None)


def _unprotected_row(symbol: str, group: str | None, unit: str, spread: int | None) -> PriceRow:
    return PriceRow(
        symbol=symbol,
        group=group,
        side=None,
        unit=unit,
        old_paise=None,
        new_paise=None,
        spread_after_paise=spread,
        problems=(Problem.UNPROTECTED,),
        loss_paise=-(spread or 0),
    )


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal that is closed at a price."""

    symbol_code: str
    group: str
    closed_by: Side
    """The client's side that closes it."""
    price_paise: int
    quoted_weight_e4: int
    weight_unit: str


def far_closing_price(snapshot: PriceSnapshot, deal: Deal, close_price_paise: int) -> list[PriceRow]:
    """A row if the closing price is further from the client's price now than the broker's limit.

    Without a price now, the deal's own is what it is compared with.
    """
    market = market_paise(snapshot, deal) or deal.price_paise
    move = close_price_paise - market
    if abs(move) * _PERCENT_E4 <= market * snapshot.switches.price_move_percent_max_e4:
        return []
    row = PriceRow(
        symbol=deal.symbol_code,
        group=deal.group,
        side=deal.closed_by,
        unit=_unit(deal.quoted_weight_e4, deal.weight_unit),
        old_paise=market,
        new_paise=close_price_paise,
        move_percent_e4=_percent_e4(move, market),
        problems=(Problem.MOVE,),
        loss_paise=max(0, -move if deal.closed_by is Side.BUY else move),
    )
    return [row]


def market_paise(snapshot: PriceSnapshot, deal: Deal) -> int | None:
    """The client's price now for the side that closes the deal; None while there is none."""
    symbol, group = snapshot.symbols.get(deal.symbol_code), snapshot.groups.get(deal.group)
    if symbol is None or group is None:
        return None
    own = _own_prices(snapshot, symbol, snapshot.now_us)
    offer = _offer(own, group.terms_for(symbol.code), deal.quoted_weight_e4)
    price = offer.prices[_ORDER.index(deal.closed_by)]
    return None if price is None else _half_up(price, symbol.quoted_weight_e4)


def _unit_of(symbol: Symbol) -> str:
    return _unit(symbol.quoted_weight_e4, symbol.unit)


def _unit(quoted_weight_e4: int, unit: str) -> str:
    """The weight that a price is for: `10 g`."""
    return f"{weight_text(quoted_weight_e4).rstrip('0').rstrip('.')} {unit}"


def _half_up(numerator: int, denominator: int) -> int:
    """As prices are rounded."""
    return (2 * numerator + denominator) // (2 * denominator)


def price_text(paise: int | None) -> str | None:
    return None if paise is None else rupees_text(paise)
