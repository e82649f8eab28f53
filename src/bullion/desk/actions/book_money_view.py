"""The money of a hedge book as the desk sees it. What needs a fresh rate is null without one."""

from bullion.desk.desk import View
from bullion.hedge.book.marks import BookMark
from bullion.hedge.book.money import BookMoney
from bullion.hedge.book.profit import ProfitBook, paise_of
from bullion.hedge.book.risk import value_at_risk_paise, value_paise
from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import plain
from bullion.orders.instant import instant_text
from bullion.records.hedge_book import BookPosition
from bullion.store.book_profit import BrokenBook

_CENT_PLACES, _RATE_PLACES = 2, 6
_PARTS = ("premium", "duty", "slippage", "realised", "unrealised", "currency", "fees", "total")
NO_MONEY: View = {
    "value": None,
    "value_at_risk": None,
    "average": None,
    "usd_open": "0.00",
    "usd_open_rupees": None,
    "profit": dict.fromkeys(_PARTS),
    "estimated_deals": 0,
    "marked_by": None,
    "marked_at": None,
    "unmarked_because": None,
}
"""Of a book that is not open."""


def money_view(position: BookPosition, money: BookMoney | BrokenBook, found: BookMark) -> View:
    if isinstance(money, BrokenBook):
        return {**NO_MONEY, "unmarked_because": f"{money} Run 'bullion books verify'."}
    if money.ordinal < position.version:
        behind = position.version - money.ordinal
        return {
            **NO_MONEY,
            "unmarked_because": f"The nodes have not counted the last {behind} entries of the book yet.",
        }
    book, mark = money.book, found.mark
    dollars_paise = _dollars_paise(book, found)
    unmarked = found.why_not
    if dollars_paise is None:
        unmarked = f"{unmarked} There is no fresh rate of the dollar.".strip()
    value = risk = None
    if mark is not None:
        value = value_paise(position.residual_mg, mark)
        risk = value_at_risk_paise(position.residual_mg, mark, position.volatility_e4)
    return {
        "value": _rupees(value),
        "value_at_risk": _rupees(risk),
        "average": None if book.average_e6 is None else plain(book.average_e6, _RATE_PLACES),
        "usd_open": plain(book.usd_open_cents, _CENT_PLACES),
        "usd_open_rupees": _rupees(dollars_paise),
        "profit": _profit(book, found, dollars_paise),
        "estimated_deals": money.estimated,
        "marked_by": found.instrument or None,
        "marked_at": instant_text(found.at_us) if mark is not None else None,
        "unmarked_because": unmarked or None,
    }


def _dollars_paise(book: ProfitBook, found: BookMark) -> int | None:
    """What the open dollars are worth. Without any, no rate is needed."""
    cents = book.usd_open_cents
    if cents == 0:
        return 0
    return None if found.dollar is None else paise_of(cents, found.dollar.to_close(cents))


def _profit(book: ProfitBook, found: BookMark, dollars_paise: int | None) -> View:
    metal_paise: int | None = 0
    if book.metal.amount:
        metal_paise = None if found.mark is None else found.mark.metal_paise(book.metal.amount)
    unrealised = None if metal_paise is None else metal_paise - book.metal.basis_paise
    currency = None
    if dollars_paise is not None:
        currency = book.currency_realised_paise + dollars_paise - book.dollars.basis_paise
    parts = {
        "premium": book.premium_paise,
        "duty": book.duty_paise,
        "slippage": book.slippage_paise,
        "realised": book.realised_paise,
        "unrealised": unrealised,
        "currency": currency,
        "fees": book.fees_paise,
    }
    known = [each for each in parts.values() if each is not None]
    total = sum(known) if len(known) == len(parts) else None
    return {name: _rupees(value) for name, value in {**parts, "total": total}.items()}


def _rupees(paise: int | None) -> str | None:
    return None if paise is None else rupees_text(paise)
