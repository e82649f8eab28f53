"""A contract: what the broker trades at a venue to cover a metal, and how it converts to fine weight."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Literal

import msgspec

from bullion.metals.fine_weight import FINENESS_E4_ONE, NG_PER_KG, NG_PER_MG
from bullion.metals.metal import Metal
from bullion.metals.rounding import half_up
from bullion.metals.scaled import plain

ONE_E8 = 100_000_000
E6 = 1_000_000
SUGGEST, AUTO = "suggest", "auto"
DESK = "desk"
"""The venue of contracts that are dealt by telephone."""
RUPEES, DOLLARS = "INR", "USD"
CURRENCIES = (RUPEES, DOLLARS)

_MINOR_PER_UNIT = 100
"""Paise in a rupee, cents in a dollar."""
_NG_PLACES = 9
_CODE = re.compile(r"[A-Z0-9][A-Z0-9._-]{0,39}")
_TEXT = re.compile(r"[ -~]{0,64}")
_LOT_NG_MAX = 1_000 * NG_PER_KG
_NG_PER_UNIT_E4 = {Metal.GOLD: 100_000, Metal.SILVER: 100_000_000}

Problem = tuple[str, str]
"""The name of a field, and what is wrong with it."""


class Contract(msgspec.Struct, frozen=True):
    """Quantities are counted in lots, or in ounces at a spot venue."""

    code: str
    venue: str
    """The name of the line that trades it, or `desk`."""
    venue_symbol: str
    security_id: str
    metal: str
    instrument: str
    """Our instrument whose rate its price follows. The rate is for the same weight, in the same currency."""
    lot_ng: int
    """The gross weight of quantity 1."""
    fineness_e4: int
    step_e8: int
    """The smallest step of a quantity."""
    price_ng: int
    """The gross weight that its price is for."""
    currency: str
    tick_e6: int
    expires_on: str = ""
    """The last day of trading, as `2026-12-04`; empty for a contract that does not expire."""
    hold_until: str = ""
    """The last day on which the broker opens or keeps a position in it. Empty: the last day of trading."""
    mode: Literal["suggest", "auto"] = "suggest"
    """Whether a dealer sends each planned cover, or the planner does."""

    def fine_mg(self, quantity_e8: int) -> int:
        """The fine weight of a quantity, rounded half up."""
        return half_up(quantity_e8 * self._pure_ng, _SCALE * NG_PER_MG)

    def fine_mg_up(self, quantity_e8: int) -> int:
        """The fine weight rounded away from zero: no sum of fills can be heavier than this."""
        weight_mg = -(-abs(quantity_e8) * self._pure_ng // (_SCALE * NG_PER_MG))
        return weight_mg if quantity_e8 >= 0 else -weight_mg

    def quantity_e8(self, fine_mg: int) -> int:
        """The largest quantity in whole steps whose `fine_mg` is not beyond this weight; the sign is kept.

        So `quantity_e8(fine_mg(q))` is q, although `fine_mg` rounds: an adapter that receives the weight of
        two lots of 100 ounces, 6220695.36 mg rounded down, sends two lots and not one.
        """
        # All weights up to half a milligram beyond it round to it. The half itself rounds up, so it belongs
        # to it below zero alone.
        beyond = (2 * abs(fine_mg) + 1) * _SCALE * NG_PER_MG - (fine_mg >= 0)
        quantity_e8 = beyond // (2 * self.step_e8 * self._pure_ng) * self.step_e8
        return quantity_e8 if fine_mg >= 0 else -quantity_e8

    def quantity_within_e8(self, fine_mg: int) -> int:
        """The largest quantity in whole steps that does not weigh more than this, not by half a milligram."""
        steps = abs(fine_mg) * _SCALE * NG_PER_MG // (self.step_e8 * self._pure_ng)
        quantity_e8 = steps * self.step_e8
        return quantity_e8 if fine_mg >= 0 else -quantity_e8

    def gross_e4(self, quantity_e8: int) -> int:
        """The gross weight of a quantity in ten-thousandths of the metal's unit, rounded half up."""
        return half_up(quantity_e8 * self.lot_ng, ONE_E8 * _NG_PER_UNIT_E4[Metal(self.metal)])

    @property
    def step_mg(self) -> int:
        """The fine weight of the smallest quantity, rounded up."""
        return self.fine_mg_up(self.step_e8)

    def value_minor(self, quantity_e8: int, price_e6: int) -> int:
        """What the quantity costs at that price, in paise or cents, rounded half up."""
        return half_up(quantity_e8 * self.lot_ng * price_e6 * _MINOR_PER_UNIT, ONE_E8 * self.price_ng * E6)

    @property
    def _pure_ng(self) -> int:
        """The pure metal of quantity 1, times `FINENESS_E4_ONE`."""
        return self.lot_ng * self.fineness_e4


_SCALE = ONE_E8 * FINENESS_E4_ONE


def contract_problems(contract: Contract) -> tuple[Problem, ...]:
    """Everything that is wrong with the contract's own values; empty if it can be traded."""
    return (*_name_problems(contract), *_weight_problems(contract), *_date_problems(contract))


def rate_problems(contract: Contract, others: Iterable[Contract]) -> tuple[Problem, ...]:
    """Why it cannot follow its instrument, if `others` may be dealt in too: a rate is for one weight."""
    for other in others:
        alike = (other.price_ng, other.currency) == (contract.price_ng, contract.currency)
        if other.code != contract.code and other.instrument == contract.instrument and not alike:
            weight = plain(other.price_ng, _NG_PLACES).rstrip("0").rstrip(".")
            words = f"{other.code} follows {other.instrument} too, and its price is in {other.currency}"
            return (("instrument", f"must be another one: {words} for {weight} g"),)
    return ()


def _name_problems(contract: Contract) -> Iterator[Problem]:
    if not _CODE.fullmatch(contract.code):
        yield "code", "must have 1 to 40 capital letters, digits, dots, dashes or underscores, such as GOLDM"
    if not contract.venue:
        yield "venue", f"must name a line, or be {DESK!r} for a contract that is dealt by telephone"
    if contract.venue != DESK and not contract.venue_symbol and not contract.security_id:
        yield "venue_symbol", "the venue's symbol or its security_id must be given"
    for field in ("venue", "venue_symbol", "security_id", "instrument"):
        if not _TEXT.fullmatch(getattr(contract, field)):
            yield field, "must have at most 64 printable ASCII characters"
    if contract.metal not in list(Metal):
        yield "metal", f"must be gold or silver, not {contract.metal!r}"
    if not contract.instrument:
        yield "instrument", "must name the instrument whose rate the contract follows"
    if contract.currency not in CURRENCIES:
        yield "currency", f"must be {' or '.join(CURRENCIES)}, not {contract.currency!r}"
    if contract.mode not in (SUGGEST, AUTO):
        yield "mode", f"must be {SUGGEST} or {AUTO}, not {contract.mode!r}"


def _weight_problems(contract: Contract) -> Iterator[Problem]:
    if not 0 < contract.lot_ng <= _LOT_NG_MAX:
        yield "lot_ng", "must be above 0, and at most 1000 kg"
    if not 0 < contract.fineness_e4 <= FINENESS_E4_ONE:
        yield "fineness_e4", f"must be from 1 to {FINENESS_E4_ONE}, such as 9990 for 999"
    if not 0 < contract.step_e8 <= 1_000_000 * ONE_E8:
        yield "step_e8", f"must be above 0; {ONE_E8} is one lot or one ounce"
    elif (
        contract.lot_ng > 0
        and contract.fineness_e4 > 0
        and contract.step_e8 * contract.lot_ng * contract.fineness_e4 < _SCALE * NG_PER_MG
    ):
        yield "step_e8", "is too small: a step must weigh at least 1 mg fine"
    if not 0 < contract.price_ng <= _LOT_NG_MAX:
        yield "price_ng", "must be above 0, and at most 1000 kg"
    if contract.tick_e6 <= 0:
        yield "tick_e6", "must be above 0"


def _date_problems(contract: Contract) -> Iterator[Problem]:
    expires = _day(contract.expires_on)
    hold = _day(contract.hold_until)
    if contract.expires_on and expires is None:
        yield "expires_on", f"must be a day such as 2026-12-04, not {contract.expires_on!r}"
    if contract.hold_until and hold is None:
        yield "hold_until", f"must be a day such as 2026-12-04, not {contract.hold_until!r}"
    if hold is not None and not contract.expires_on:
        yield "hold_until", "a contract that does not expire has no last day to hold it"
    if expires is not None and hold is not None and hold > expires:
        yield "hold_until", "must not be after expires_on"


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None
