"""The contracts that a broker begins with: the opening of a hedge book adds those of its metal, not active.

Before an exchange contract is used, the desk enters the venue's symbol of the month, the last day of trading
and the last day to hold it, and activates it.
"""

from bullion.metals.fine_weight import FINENESS_E4_ONE, NG_PER_G, NG_PER_KG, NG_PER_OUNCE
from bullion.metals.metal import Metal

from .contract import DESK, DOLLARS, E6, ONE_E8, RUPEES, Contract


def seed_contracts(mcx: str = DESK, comex: str = DESK, spot: str = DESK) -> tuple[Contract, ...]:
    """The arguments are the names of the lines that trade them; without one they are dealt by telephone."""
    return (
        _rupees(mcx, "GOLD", Metal.GOLD, NG_PER_KG, 9_950, 10 * NG_PER_G),
        _rupees(mcx, "GOLDM", Metal.GOLD, 100 * NG_PER_G, 9_950, 10 * NG_PER_G),
        _rupees(mcx, "GOLDTEN", Metal.GOLD, 10 * NG_PER_G, 9_990, 10 * NG_PER_G),
        _rupees(mcx, "GOLDGUINEA", Metal.GOLD, 8 * NG_PER_G, 9_950, 8 * NG_PER_G),
        _rupees(mcx, "GOLDPETAL", Metal.GOLD, NG_PER_G, 9_990, NG_PER_G),
        _rupees(mcx, "SILVER", Metal.SILVER, 30 * NG_PER_KG, 9_990, NG_PER_KG),
        _rupees(mcx, "SILVERM", Metal.SILVER, 5 * NG_PER_KG, 9_990, NG_PER_KG),
        _rupees(mcx, "SILVERMIC", Metal.SILVER, NG_PER_KG, 9_990, NG_PER_KG),
        _dollars(comex, "GC", Metal.GOLD, 100, 100_000),
        _dollars(comex, "MGC", Metal.GOLD, 10, 100_000),
        _dollars(comex, "SI", Metal.SILVER, 5_000, 5_000),
        _dollars(spot, "XAU", Metal.GOLD, 1, 10_000),
        _dollars(spot, "XAG", Metal.SILVER, 1, 1_000),
    )


def _rupees(venue: str, code: str, metal: Metal, lot_ng: int, fineness_e4: int, price_ng: int) -> Contract:
    """A rate is for one weight, so a contract whose price is for another follows a rate of its own."""
    usual = {Metal.GOLD: ("GOLD", 10 * NG_PER_G), Metal.SILVER: ("SILVER", NG_PER_KG)}
    instrument, quoted_ng = usual[metal]
    return Contract(
        code=code,
        venue=venue,
        venue_symbol=code,
        security_id="",
        metal=metal.value,
        instrument=instrument if price_ng == quoted_ng else code,
        lot_ng=lot_ng,
        fineness_e4=fineness_e4,
        step_e8=ONE_E8,
        price_ng=price_ng,
        currency=RUPEES,
        tick_e6=E6,
    )


def _dollars(venue: str, code: str, metal: Metal, ounces: int, tick_e6: int) -> Contract:
    """Gold is priced by the fine ounce, silver by the ounce of 999 metal."""
    return Contract(
        code=code,
        venue=venue,
        venue_symbol=code,
        security_id="",
        metal=metal.value,
        instrument="XAUUSD" if metal is Metal.GOLD else "XAGUSD",
        lot_ng=ounces * NG_PER_OUNCE,
        fineness_e4=FINENESS_E4_ONE if metal is Metal.GOLD else 9_990,
        step_e8=ONE_E8,
        price_ng=NG_PER_OUNCE,
        currency=DOLLARS,
        tick_e6=tick_e6,
    )
