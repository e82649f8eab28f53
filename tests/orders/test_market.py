"""The market from a node's memory: offers are kept while nothing changed, and never a moment longer."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import msgspec
import pytest

from bullion.accounts.group import Terms
from bullion.accounts.trading_hours import Opening, TradingHours
from bullion.hedge.venue import Tradeability
from bullion.metals.pricing import Fixed
from bullion.metals.symbol import Side
from bullion.orders import market as market_module
from bullion.orders.market import Market
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Priced, Refusal
from bullion.rates.board import MARKET, Board
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.tick import Tick

from .market_place import ACCOUNT, GROUP, LANDED, NOW_US, SWITCHES, SYMBOL, TICK, Memory, S, asked


def us(*moment: int) -> int:
    return int(datetime(*moment, tzinfo=UTC).timestamp()) * S  # type: ignore[misc,arg-type]


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def board() -> Board:
    board = Board()
    board.apply([(MARKET, TICK)], 1)
    return board


@pytest.fixture
def market(memory: Memory, board: Board) -> Market:
    return Market(memory, board)


def judged(market: Market, order: PlaceOrder | None = None) -> str | int:
    """The price in paise, or the code of the refusal."""
    verdict = market.check(ACCOUNT, order or asked())
    return verdict.price_paise if isinstance(verdict, Priced) else verdict.refusal.code


def test_an_offer_is_kept_for_as_long_as_nothing_changed(
    market: Market, memory: Memory, board: Board
) -> None:
    first = market.offer(ACCOUNT, "GOLD", memory.now_us())
    memory.clock.now_us += 20 * S
    assert market.offer(ACCOUNT, "GOLD", memory.now_us()) is first
    board.apply([], 2)
    board.apply([(MARKET, TICK)], 3)
    assert market.offer(ACCOUNT, "GOLD", memory.now_us()) is first


def test_a_new_tick_makes_a_new_offer(market: Market, memory: Memory, board: Board) -> None:
    assert judged(market) == 7_011_000
    board.apply([(MARKET, Tick("GOLD", 70_000_000_000, 70_020_000_000, NOW_US, NOW_US))], 2)
    assert judged(market) == 7_012_000


@pytest.mark.parametrize("what", ["symbol", "group", "switches"])
def test_a_new_catalogue_makes_a_new_offer(market: Market, memory: Memory, what: str) -> None:
    assert judged(market) == 7_011_000
    match what:
        case "symbol":
            memory.change(SYMBOL, pricing=Fixed(100, 100))
            assert judged(market) == 100 + 10_000
        case "group":
            memory.change(GROUP, terms={"GOLD": Terms(1, 1)})
            assert judged(market) == 7_001_001
        case "switches":
            memory.change(SWITCHES, price_tolerance_percent_e4=7)
            verdict = market.check(ACCOUNT, asked())
            assert isinstance(verdict, Priced)
            assert verdict.tolerance_percent_e4 == 7


def test_groups_and_brokers_do_not_share_offers(market: Market, memory: Memory) -> None:
    memory.put(replace(GROUP, code="other", terms={"GOLD": Terms(0, 0)}))
    other = msgspec.structs.replace(ACCOUNT, group="other")
    assert judged(market) == 7_011_000
    verdict = market.check(other, asked())
    assert isinstance(verdict, Priced)
    assert verdict.price_paise == 7_001_000
    stranger = market.check(msgspec.structs.replace(ACCOUNT, broker="elsewhere"), asked())
    assert isinstance(stranger, Refusal)
    assert stranger.refusal.code == "unknown_symbol"


def test_ages_are_judged_with_every_order_although_the_offer_is_kept(market: Market, memory: Memory) -> None:
    assert judged(market) == 7_011_000
    memory.clock.now_us = TICK.at_us + 30 * S
    assert judged(market) == 7_011_000
    memory.clock.now_us += 1
    assert judged(market) == "stale_rate"


def test_a_rate_from_before_the_clock_was_set_back_prices_nothing(market: Market, memory: Memory) -> None:
    assert judged(market) == 7_011_000
    memory.clock.now_us = TICK.at_us - 3600 * S
    assert judged(market) == "stale_rate"


def landed_market(memory: Memory, board: Board, *duties: Duty) -> Market:
    memory.put(
        replace(SYMBOL, pricing=LANDED, rate_age_s_max=None, freeze_after_s=None),
        DutyTable("main", "gold", duties),
    )
    board.apply(
        [
            (MARKET, Tick("XAUUSD", 4_800_000_000, 4_800_000_000, NOW_US, NOW_US)),
            (MARKET, Tick("USDINR", 92_000_000, 92_000_000, NOW_US, NOW_US)),
        ],
        2,
    )
    return Market(memory, board)


def test_a_new_duty_is_in_force_from_midnight_in_india(memory: Memory, board: Board) -> None:
    market = landed_market(memory, board, Duty(date(2026, 6, 1), 100_000), Duty(date(2026, 6, 11), 250_000))
    before = judged(market)
    assert isinstance(before, int)
    midnight_us = us(2026, 6, 10, 18, 30)
    memory.clock.now_us = midnight_us - 1
    assert judged(market) == before
    memory.clock.now_us = midnight_us
    assert judged(market) == before + 150_000
    memory.clock.now_us = midnight_us + 400 * 86_400 * S
    assert judged(market) == before + 150_000


def test_a_price_that_was_missing_its_duty_is_there_at_midnight(memory: Memory, board: Board) -> None:
    market = landed_market(memory, board, Duty(date(2026, 6, 11), 250_000))
    assert judged(market) == "unpriced"
    memory.clock.now_us = us(2026, 6, 10, 18, 30)
    assert isinstance(judged(market), int)


def test_a_broker_without_rates_is_told_so_until_they_come(memory: Memory) -> None:
    board = Board()
    market = Market(memory, board)
    assert judged(market) == "rates_not_ready"
    board.apply([], 1)
    assert judged(market) == "no_live_price"
    board.apply([("elsewhere", TICK)], 2)
    assert judged(market) == "no_live_price"
    board.apply([("main", TICK)], 3)
    assert judged(market) == 7_011_000


def test_what_is_not_there_now_may_be_there_next(market: Market, memory: Memory) -> None:
    order = asked(symbol_code="NEW")
    assert judged(market, order) == "unknown_symbol"
    memory.put(replace(SYMBOL, code="NEW"), replace(GROUP, default_terms=Terms(0, 0)))
    assert judged(market, order) == 7_001_000


HOURS = TradingHours(
    ZoneInfo("Asia/Kolkata"),
    tuple((Opening(time(9), time(23, 30)),) for _ in range(7)),
    frozenset({date(2026, 6, 12)}),
)


@pytest.mark.parametrize(
    ("now_us", "is_open"),
    [
        (us(2026, 6, 10, 3, 30), True),
        (us(2026, 6, 10, 3, 30) - 1, False),
        (us(2026, 6, 10, 18, 0) - 1, True),
        (us(2026, 6, 10, 18, 0), False),
        (us(2026, 6, 12, 6, 0), False),
    ],
)
def test_trading_hours(memory: Memory, board: Board, now_us: int, is_open: bool) -> None:
    memory.put(replace(SYMBOL, pricing=Fixed(1_000_000, 1_000_000)), replace(SWITCHES, trading_hours=HOURS))
    memory.clock.now_us = now_us
    assert judged(Market(memory, board)) == (1_010_000 if is_open else "trading_halted")


def test_the_hours_open_and_close_on_time_and_with_the_switches(memory: Memory, board: Board) -> None:
    memory.put(replace(SYMBOL, pricing=Fixed(1_000_000, 1_000_000)), replace(SWITCHES, trading_hours=HOURS))
    market = Market(memory, board)
    memory.clock.now_us = us(2026, 6, 10, 18, 0) - 1
    assert judged(market) == 1_010_000
    memory.clock.now_us += 1
    assert judged(market) == "trading_halted"
    memory.put(replace(SWITCHES, trading_hours=None))
    assert judged(market) == 1_010_000
    memory.put(replace(SWITCHES, trading_hours=HOURS))
    assert judged(market) == "trading_halted"
    memory.clock.now_us = us(2026, 6, 11, 3, 30)
    assert judged(market) == 1_010_000


def test_no_more_offers_are_kept_than_allowed(
    market: Market, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(market_module, "_KEPT_MAX", 5)
    memory.put(*(replace(SYMBOL, code=f"G{number}") for number in range(50)))
    memory.put(replace(GROUP, terms={}, default_terms=Terms(0, 0)))
    for number in range(50):
        assert judged(market, asked(symbol_code=f"G{number}")) == 7_001_000
        assert len(market._offers) <= 6


@pytest.mark.parametrize("side", list(Side))
def test_the_reason_against_is_what_the_smallest_order_would_meet(
    market: Market, memory: Memory, side: Side
) -> None:
    offer = market.offer(ACCOUNT, "GOLD", memory.now_us())
    assert offer is not None
    assert market.refusal_of_smallest_order(ACCOUNT, offer, side) is None
    memory.change(SWITCHES, halted=True)
    reason = market.refusal_of_smallest_order(ACCOUNT, offer, side)
    assert reason is not None
    assert reason.code == "trading_halted"


def test_the_venues_word_on_the_brokers_instrument_is_asked_for_each_order(
    memory: Memory, board: Board
) -> None:
    words = {("main", "GOLD"): Tradeability.TRADABLE}
    asked_of: list[tuple[str, str]] = []

    def word(broker: str, instrument: str) -> Tradeability:
        asked_of.append((broker, instrument))
        return words[broker, instrument]

    market = Market(memory, board, word)
    assert judged(market) == 7_011_000
    assert judged(market, asked(symbol_code="NONE")) == "unknown_symbol"
    words["main", "GOLD"] = Tradeability.SUSPENDED
    assert judged(market) == "symbol_unavailable"
    words["main", "GOLD"] = Tradeability.UNKNOWN
    assert judged(market) == "tradeability_unverified"
    assert set(asked_of) == {("main", "GOLD")}
