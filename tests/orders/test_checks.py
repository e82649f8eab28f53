"""Each check of the market alone, and which of two answers."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, TypeVar

import msgspec
import pytest

from bullion.accounts.group import Group, Terms
from bullion.accounts.switches import Switches
from bullion.hedge.venue import Tradeability
from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Fixed
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.orders.checks import check, check_all
from bullion.orders.offer import make_offer
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Priced, Refusal, Verdict
from bullion.rates.tick import Tick
from bullion.refusals.catalogue import CATALOGUE

from .market_place import GROUP, LANDED, NOW_US, SWITCHES, SYMBOL, TICK, S, asked

T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """An order and the market it meets."""

    asked: PlaceOrder = field(default_factory=asked)
    known: bool = True
    symbol: Symbol = SYMBOL
    group: Group = GROUP
    switches: Switches = SWITCHES
    ticks: tuple[Tick, ...] = (TICK,)
    rates_ready: bool = True
    market_open: bool = True
    tradeability: Tradeability | None = None
    """The venue's word; None in the test environment."""

    def verdict(self) -> Verdict:
        return self._checked_by(check)

    def all_codes(self) -> list[str]:
        """Every refusal, in order."""
        found = self._checked_by(check_all)
        return [each.refusal.code for each in found] if isinstance(found, list) else ["priced"]

    def _checked_by(self, checked_by: Callable[..., T]) -> T:
        by_name = {tick.instrument: tick for tick in self.ticks}
        offer = make_offer(self.symbol, self.group, self.switches, by_name.get, lambda _: None, NOW_US)
        return checked_by(
            self.asked,
            offer if self.known else None,
            NOW_US,
            rates_ready=self.rates_ready,
            market_open=self.market_open,
            tradeability=self.tradeability,
        )

    def code(self) -> str:
        verdict = self.verdict()
        return verdict.refusal.code if isinstance(verdict, Refusal) else "priced"


def of_symbol(case: Case, **fields: Any) -> Case:
    return replace(case, symbol=replace(case.symbol, **fields))


def of_group(case: Case, **fields: Any) -> Case:
    return replace(case, group=replace(case.group, **fields))


def of_terms(case: Case, **fields: Any) -> Case:
    terms = case.group.terms_for("GOLD") or Terms(0, 0)
    return of_group(case, terms={"GOLD": replace(terms, **fields)})


def of_ticks(case: Case, **fields: Any) -> Case:
    return replace(case, ticks=tuple(msgspec.structs.replace(tick, **fields) for tick in case.ticks))


def wanting(case: Case, **fields: Any) -> Case:
    return replace(case, asked=msgspec.structs.replace(case.asked, **fields))


Fault = Callable[[Case], Case]

FAULTS: dict[str, Fault] = {
    "unknown_symbol": lambda it: replace(it, known=False),
    "symbol_not_trading": lambda it: of_symbol(it, trading=False),
    "invalid_side": lambda it: wanting(it, trade_type="hold"),
    "side_not_offered": lambda it: of_symbol(it, sides=frozenset({Side.SELL})),
    "rates_not_ready": lambda it: replace(it, rates_ready=False),
    "no_live_price": lambda it: replace(it, ticks=()),
    "unpriced": lambda it: of_symbol(it, pricing=replace(LANDED, spot="GOLD")),
    "stale_rate": lambda it: of_ticks(it, at_us=NOW_US - 31 * S),
    "trading_halted": lambda it: replace(it, switches=replace(it.switches, halted=True)),
    "symbol_frozen": lambda it: of_symbol(it, frozen=True),
    "quantity_rule": lambda it: of_symbol(it, size=SizeRule(30_000, 30_000, 30_000)),
    "tradeability_unverified": lambda it: replace(it, tradeability=Tradeability.UNKNOWN),
    "symbol_unavailable": lambda it: replace(it, tradeability=Tradeability.SUSPENDED),
    "group_trading_disabled": lambda it: of_group(it, trading=False),
    "group_quantity_rule": lambda it: of_terms(it, minimum_e4=None, maximum_e4=1, step_e4=None),
    "pricing_unavailable": lambda it: of_terms(it, buy_premium_paise=-(10**10)),
}
CODES = list(FAULTS)


def test_nothing_is_wrong() -> None:
    verdict = Case().verdict()
    assert isinstance(verdict, Priced)
    # The ask of 70,010.00 and a premium of 100.00, for 10 g quoted per 10 g.
    assert (verdict.price_paise, verdict.total_paise) == (7_011_000, 7_011_000)
    assert (verdict.metal, verdict.tolerance_percent_e4) == (Metal.GOLD, 2_500)
    assert verdict.rate_at_us == TICK.at_us


def test_a_sell_is_at_the_bid_and_the_groups_own_premium() -> None:
    verdict = wanting(Case(), trade_type="sell", quantity_e4=30_000).verdict()
    assert isinstance(verdict, Priced)
    assert (verdict.price_paise, verdict.total_paise) == (6_995_000, 2_098_500)


def test_the_faults_are_in_the_order_of_the_refusal_table() -> None:
    assert [row.code for row in CATALOGUE if row.code in FAULTS] == CODES


@pytest.mark.parametrize("code", CODES)
def test_each_alone(code: str) -> None:
    assert FAULTS[code](Case()).code() == code


PAIRS = [pair for pair in combinations(CODES, 2) if pair != ("tradeability_unverified", "symbol_unavailable")]
"""But for the two that are one word of the venue."""


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_the_higher_answers(first: str, second: str) -> None:
    assert FAULTS[second](FAULTS[first](Case())).code() == first


ALONE = ("unknown_symbol", "invalid_side")
"""After these two, nothing more can be said of an order."""
WITHOUT_A_PRICE = {
    "side_not_offered": {"pricing_unavailable"},
    "no_live_price": {"unpriced", "stale_rate", "pricing_unavailable"},
    "unpriced": {"stale_rate", "pricing_unavailable"},
}
"""What is not checked because there is no price."""


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_both_are_listed(first: str, second: str) -> None:
    """Unless the first leaves nothing to check; the order path answers with the first of the list."""
    case = FAULTS[second](FAULTS[first](Case()))
    listed = case.all_codes()
    assert listed[0] == case.code() == first
    if first in ALONE:
        assert listed == [first]
    else:
        assert (second in listed) == (second not in WITHOUT_A_PRICE.get(first, ()))


@pytest.mark.parametrize("start", range(len(CODES)))
def test_of_all_the_highest_answers(start: int) -> None:
    case = Case()
    for code in reversed(CODES[start:]):
        case = FAULTS[code](case)
    assert case.code() == CODES[start]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        # Sides: of the symbol, of a fixed price, of the group's terms.
        (lambda it: wanting(it, trade_type="Buy"), "invalid_side"),
        (lambda it: wanting(it, trade_type=""), "invalid_side"),
        (lambda it: wanting(it, trade_type="sell"), "priced"),
        (lambda it: of_terms(it, buy_premium_paise=None), "side_not_offered"),
        (lambda it: of_terms(wanting(it, trade_type="sell"), buy_premium_paise=None), "priced"),
        (lambda it: of_terms(wanting(it, trade_type="sell"), sell_premium_paise=None), "side_not_offered"),
        (lambda it: of_symbol(it, pricing=Fixed(None, 1)), "side_not_offered"),
        (lambda it: of_symbol(it, pricing=Fixed(7_000_000, None)), "priced"),
        (
            lambda it: of_symbol(wanting(it, trade_type="sell"), pricing=Fixed(7_000_000, None)),
            "side_not_offered",
        ),
        # Age: at exactly the limit it stands; a limit of None, or a price without ticks, does not age.
        (lambda it: of_ticks(it, at_us=NOW_US - 30 * S, moved_at_us=NOW_US - 30 * S), "priced"),
        (lambda it: of_ticks(it, at_us=NOW_US - 30 * S - 1), "stale_rate"),
        (lambda it: of_symbol(of_ticks(it, at_us=0, moved_at_us=0), rate_age_s_max=None), "priced"),
        (lambda it: of_symbol(it, pricing=Fixed(7_000_000, 1), rate_age_s_max=1), "priced"),
        # From before the clock was set back: its time is ahead, so nobody knows how old it is.
        (lambda it: of_ticks(it, at_us=NOW_US + 6 * S), "priced"),
        (lambda it: of_ticks(it, at_us=NOW_US + 6 * S + 1), "stale_rate"),
        (lambda it: of_ticks(it, at_us=NOW_US + S, pinned_until_us=NOW_US + 3600 * S), "priced"),
        (lambda it: of_symbol(of_ticks(it, at_us=NOW_US + 7 * S), rate_age_s_max=None), "priced"),
        # Freeze: between ticks, from exactly the freeze time on.
        (lambda it: of_ticks(it, at_us=NOW_US, moved_at_us=NOW_US - 300 * S), "symbol_frozen"),
        (lambda it: of_ticks(it, at_us=NOW_US, moved_at_us=NOW_US - 300 * S + 1), "priced"),
        (lambda it: of_symbol(of_ticks(it, moved_at_us=0), freeze_after_s=None), "priced"),
        # Hours.
        (lambda it: replace(it, market_open=False), "trading_halted"),
        # Sizes of the symbol: minimum 1, maximum 1000, step 0.5; of the group: 2, 500, 1.
        (lambda it: wanting(it, quantity_e4=9_999), "quantity_rule"),
        (lambda it: wanting(it, quantity_e4=5_000), "quantity_rule"),
        (lambda it: wanting(it, quantity_e4=22_500), "quantity_rule"),
        (lambda it: wanting(it, quantity_e4=10_000_001), "quantity_rule"),
        (lambda it: wanting(it, quantity_e4=10_005_000), "quantity_rule"),
        (lambda it: wanting(it, quantity_e4=10_000), "group_quantity_rule"),
        (lambda it: wanting(it, quantity_e4=25_000), "group_quantity_rule"),
        (lambda it: wanting(it, quantity_e4=5_010_000), "group_quantity_rule"),
        (lambda it: wanting(it, quantity_e4=20_000), "priced"),
        (lambda it: wanting(it, quantity_e4=5_000_000), "priced"),
        # The account's price: terms missing, or a price that is none.
        (lambda it: of_group(it, terms={}), "pricing_unavailable"),
        (lambda it: of_group(it, terms={}, default_terms=Terms(0, 0)), "priced"),
        (lambda it: of_terms(it, buy_premium_paise=-7_001_000), "pricing_unavailable"),
        (lambda it: of_terms(it, buy_premium_paise=-7_000_999, sell_premium_paise=None), "priced"),
        # Crossed: clients could sell for more than they buy for, by a paisa. Only if both sides are offered.
        (lambda it: of_terms(it, buy_premium_paise=0, sell_premium_paise=1_000), "priced"),
        (lambda it: of_terms(it, buy_premium_paise=0, sell_premium_paise=1_001), "pricing_unavailable"),
        (lambda it: of_terms(it, buy_premium_paise=-1_001, sell_premium_paise=0), "pricing_unavailable"),
        (
            lambda it: of_symbol(
                of_terms(it, buy_premium_paise=-1_001, sell_premium_paise=0), sides=frozenset({Side.BUY})
            ),
            "priced",
        ),
        (
            lambda it: replace(
                of_terms(it, buy_premium_paise=-1_001, sell_premium_paise=0),
                switches=replace(it.switches, refuse_crossed=False),
            ),
            "priced",
        ),
        # Instruments and rates.
        (lambda it: of_symbol(it, pricing=Direct("OTHER")), "no_live_price"),
        (lambda it: of_symbol(it, pricing=LANDED), "no_live_price"),
        (lambda it: of_symbol(replace(it, rates_ready=False), pricing=Fixed(1, 1)), "rates_not_ready"),
    ],
)
def test_the_edges(change: Fault, code: str) -> None:
    assert change(Case()).code() == code


def test_a_total_that_no_store_can_keep_is_no_price() -> None:
    huge = of_symbol(Case(), quoted_weight_e4=1, pricing=Fixed(10**14, 10**14))
    assert wanting(huge, quantity_e4=90_000).code() == "priced"
    assert wanting(huge, quantity_e4=100_000).code() == "unpriced"


def too_large(case: Case) -> Case:
    """A price that no store can keep, whatever the quantity."""
    return of_ticks(of_symbol(case, quoted_weight_e4=10**13), bid_e6=10**23, ask_e6=10**23)


@pytest.mark.parametrize("code", ["priced", *CODES])
def test_a_price_that_no_store_can_keep_is_unpriced_at_its_place_in_the_table(code: str) -> None:
    faulty = too_large(Case())
    if code in FAULTS:
        faulty = FAULTS[code](faulty)
    higher = CODES[: CODES.index("unpriced")]
    assert faulty.code() == (code if code in higher else "unpriced")


def test_refusals_say_what_the_sizes_are() -> None:
    of_the_symbol = wanting(Case(), quantity_e4=9_999).verdict()
    assert isinstance(of_the_symbol, Refusal)
    assert of_the_symbol.message == "This symbol takes from 1.0000 to 1000.0000 g in steps of 0.5000 g."
    of_the_group = wanting(Case(), quantity_e4=10_000).verdict()
    assert isinstance(of_the_group, Refusal)
    assert (
        of_the_group.message == "This account's group takes from 2.0000 to 500.0000 g in steps of 1.0000 g."
    )
    silver = of_symbol(wanting(Case(), quantity_e4=1), metal=Metal.SILVER).verdict()
    assert isinstance(silver, Refusal)
    assert silver.message is not None
    assert silver.message.endswith("in steps of 0.5000 kg.")


def test_hours_and_halt_are_told_apart_for_people() -> None:
    closed, halted = replace(Case(), market_open=False).verdict(), FAULTS["trading_halted"](Case()).verdict()
    assert isinstance(closed, Refusal)
    assert isinstance(halted, Refusal)
    assert closed.message != halted.message
    assert closed.refusal is halted.refusal


@pytest.mark.parametrize(
    ("price_paise", "quantity_e4", "quoted_weight_e4", "total_paise"),
    [
        (1, 50_000, 100_000, 1),
        (1, 49_000, 100_000, 0),
        (3, 50_000, 100_000, 2),
        (7_000_001, 5_000, 100_000, 350_000),
        (7_000_010, 5_000, 100_000, 350_001),
        (99_999_999, 10_000, 10_000, 99_999_999),
    ],
)
def test_totals_are_rounded_half_up(
    price_paise: int, quantity_e4: int, quoted_weight_e4: int, total_paise: int
) -> None:
    case = of_symbol(
        Case(),
        pricing=Fixed(price_paise, None),
        quoted_weight_e4=quoted_weight_e4,
        size=SizeRule(1, 10**9, 1),
    )
    verdict = of_group(wanting(case, quantity_e4=quantity_e4), terms={}, default_terms=Terms(0, 0)).verdict()
    assert isinstance(verdict, Priced)
    assert verdict.total_paise == total_paise


@pytest.mark.parametrize(
    ("case", "compared"),
    [
        (replace(Case(), ticks=()), {"pricing": "direct", "missing": ["a rate of GOLD"]}),
        (
            of_symbol(replace(Case(), ticks=()), pricing=LANDED),
            {
                "pricing": "landed",
                "missing": ["a rate of XAUUSD", "a rate of USDINR", "a duty gold in force"],
            },
        ),
        (
            of_symbol(Case(), pricing=replace(LANDED, spot="GOLD", currency="GOLD")),
            {"pricing": "landed", "missing": ["a duty gold in force"]},
        ),
        (of_ticks(Case(), bid_e6=-1), {"pricing": "direct", "result": "not above 0"}),
        (
            of_ticks(Case(), at_us=NOW_US - 31 * S),
            {"oldest": "GOLD", "rate_at_us": NOW_US - 31 * S, "rate_age_s_max": 30},
        ),
    ],
)
def test_the_desk_reads_what_a_price_was_missing(case: Case, compared: dict[str, Any]) -> None:
    verdict = case.verdict()
    assert isinstance(verdict, Refusal)
    assert verdict.compared == compared


# --- The venue's word ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pricing", "instrument"), [(Direct("GOLD"), "GOLD"), (Fixed(7_000_000, 1), "GOLD"), (LANDED, "XAUUSD")]
)
def test_an_order_is_hedged_in_the_instrument_behind_its_price(pricing: Any, instrument: str) -> None:
    assert of_symbol(Case(), pricing=pricing).symbol.hedged_in == instrument


@pytest.mark.parametrize("stock_kept", [True, False])
@pytest.mark.parametrize("tradeability", [None, Tradeability.TRADABLE])
def test_what_is_hedged_says_in_what_and_whether_it_takes_from_a_stock(
    tradeability: Tradeability | None, stock_kept: bool
) -> None:
    case = of_symbol(replace(Case(), tradeability=tradeability), stock_kept=stock_kept)
    verdict = case.verdict()
    assert isinstance(verdict, Priced)
    hedged = tradeability is not None
    assert verdict.instrument == ("GOLD" if hedged else None)
    assert verdict.stock_kept is (hedged and stock_kept)


def test_the_desk_reads_what_the_venue_said() -> None:
    for word in (Tradeability.UNKNOWN, Tradeability.SUSPENDED):
        verdict = replace(Case(), tradeability=word).verdict()
        assert isinstance(verdict, Refusal)
        assert verdict.compared == {"instrument": "GOLD", "venue_says": word.value}
