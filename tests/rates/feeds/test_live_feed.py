"""The live feed as a whole, without lines: standing quotes, failover, held quotes, and what is published."""

from decimal import Decimal
from random import Random

import msgspec
import pytest

from bullion.rates.feeds.live_feed import LiveFeed
from bullion.rates.feeds.parity import off_parity
from bullion.rates.feeds.quote import Alive, Quote, Unreadable
from bullion.rates.feeds.source_settings import (
    FeedSettings,
    GuardNumbers,
    Parity,
    SourceInstrument,
    SourceSettings,
)
from bullion.rates.feeds.status import InstrumentStatus
from bullion.rates.tick import Tick
from tests.support.scale import SCALE

from .feed_settings import GOLD, T0, S, feed_settings, quote, source

STEP_US = 250_000
KNOWN = Tick("XAUUSD", 4_799 * S, 4_801 * S, T0 - S, T0 - S)


def feed(*sources: SourceSettings) -> LiveFeed:
    """It continues from a tick at 4800."""
    found = LiveFeed(feed_settings(*sources))
    found.resume([KNOWN])
    for each in found.settings.sources:
        found.connected(each.name, T0)
    return found


def of(live: LiveFeed, now_us: int) -> InstrumentStatus:
    return next(each for each in live.status("me", now_us).instruments if each.instrument == "XAUUSD")


def steps(live: LiveFeed, from_us: int, seconds: int, *alive: str) -> list[Tick]:
    """The ticks of so many seconds in which these sources say that they are alive, and nothing else."""
    found: list[Tick] = []
    for at_us in range(from_us, from_us + seconds * S, STEP_US):
        for name in alive:
            live.take(Alive(name, at_us))
        found += live.step(at_us)
    return found


def test_a_quiet_market_is_stamped_anew_while_the_line_is_alive() -> None:
    live = feed()
    live.take(quote(4_800, T0))
    ticks = steps(live, T0, 60, "one")
    assert [tick.at_us for tick in ticks] == list(range(T0, T0 + 60 * S, STEP_US))
    assert {(tick.bid_e6, tick.ask_e6) for tick in ticks} == {(4_799_520_000, 4_800_480_000)}


def test_a_dead_line_is_not_stamped_anew() -> None:
    live = feed()
    live.take(quote(4_800, T0))
    last = steps(live, T0, 60)[-1]
    assert last.at_us == T0 + 12 * S  # `alive_s`
    live = feed()
    live.take(quote(4_800, T0))
    assert len(live.step(T0)) == 1
    live.lost("one", T0 + S)
    assert steps(live, T0 + S, 60) == []


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_what_was_heard_before_the_clock_was_set_back_keeps_no_line_alive(kind: str) -> None:
    live = feed(source("one", kind=kind))
    live.take(quote(4_800, T0))
    assert live.step(T0)
    back_us = T0 - 3600 * S
    assert steps(live, back_us, 60) == []
    live.take(quote(4_801, back_us + 60 * S))
    assert [tick.at_us for tick in live.step(back_us + 60 * S)] == [back_us + 60 * S]


def test_a_bad_quote_ends_the_stamps_until_a_good_one_comes() -> None:
    live = feed()
    live.take(quote(4_800, T0))
    assert live.step(T0)
    live.take(Unreadable("one", "XAUUSD", T0 + S))
    assert steps(live, T0 + S, 2, "one") == []
    live.take(quote(4_800, T0 + 3 * S))
    assert live.step(T0 + 3 * S)
    assert live.drops == {("one", "unreadable"): 1}


def test_a_polled_source_is_never_stamped_anew() -> None:
    live = feed(source("one", kind="http"))
    live.take(quote(4_800, T0 + S, own_us=T0))
    assert [tick.at_us for tick in steps(live, T0 + S, 60)] == [T0]
    # The same answer again, as of a hung source, changes nothing. A newer time does.
    live.take(quote(4_800, T0 + 4 * S, own_us=T0))
    assert live.step(T0 + 4 * S) == []
    live.take(quote(4_800, T0 + 5 * S, own_us=T0 + 5 * S))
    assert [tick.at_us for tick in live.step(T0 + 5 * S)] == [T0 + 5 * S]


def test_a_polled_quote_that_was_not_published_is_returned_again() -> None:
    live = feed(source("one", kind="http"))
    live.take(quote(4_800, T0 + S, own_us=T0))
    ticks = live.step(T0 + S)
    live.forget(ticks)
    assert live.step(T0 + S + STEP_US) == ticks != []
    assert live.step(T0 + S + 2 * STEP_US) == []


def test_a_time_ahead_of_ours_is_not_published() -> None:
    live = feed(source("one", kind="http"))
    live.take(quote(4_800, T0, own_us=T0 + 2 * S))
    assert [tick.at_us for tick in live.step(T0)] == [T0]


def test_only_great_moves_are_urgent() -> None:
    live = feed()
    assert not live.take(quote(4_801, T0))  # Nothing was chosen yet.
    live.step(T0)
    assert not live.take(quote(4_803, T0 + 1))
    assert live.take(quote(4_804, T0 + 2))


def test_failover_and_return_never_mix_two_sources() -> None:
    live = feed(source("one"), source("two"))
    chance, seen = Random(5), set()  # noqa: S311 - a repeatable test
    published: list[tuple[int, Tick]] = []
    given: dict[tuple[int, int], str] = {}
    for at_us in range(T0, T0 + 120 * S, STEP_US):
        away = T0 + 20 * S <= at_us < T0 + 60 * S
        for name in ("one", "two"):
            if name == "one" and away:
                continue
            middle_e6 = 4_800 * S + chance.randrange(-S, S)
            said = quote(str(middle_e6), at_us, name, spread_bps=chance.randrange(1, 10))
            assert said.bid_e6 is not None
            assert said.ask_e6 is not None
            given[said.bid_e6, said.ask_e6] = name
            live.take(said)
        if at_us == T0 + 20 * S:
            live.lost("one", at_us)
        for tick in live.step(at_us):
            published.append((at_us, tick))
            seen.add(given[tick.bid_e6, tick.ask_e6])  # KeyError: sides of two sources.
    assert seen == {"one", "two"}
    sources = [(at_us, given[tick.bid_e6, tick.ask_e6]) for at_us, tick in published]
    assert {name for at_us, name in sources if at_us < T0 + 20 * S} == {"one"}
    assert min(at_us for at_us, name in sources if name == "two") == T0 + 23 * S  # `failover_s`
    assert max(at_us for at_us, name in sources if name == "two") < T0 + 90 * S  # `return_s`
    assert {name for at_us, name in sources if at_us >= T0 + 90 * S} == {"one"}
    assert live.switches == 2


def test_sources_that_differ_at_the_switch_wait_for_the_desk() -> None:
    live = feed(source("one"), source("two"))
    live.take(quote(4_800, T0, "one"))
    live.take(quote(4_830, T0, "two"))  # 62 bps: within the guard, beyond `switch_bps`.
    live.step(T0)
    assert of(live, T0).disputed_by == "two"
    live.lost("one", T0 + S)
    assert steps(live, T0 + S, 60, "two") == []
    status = of(live, T0 + 60 * S)
    assert (status.source, status.publishes, status.differs_from) == ("one", False, "two")
    live.prefer("XAUUSD", "two", T0 + 61 * S, at_once=True)
    assert [tick.ask_e6 for tick in live.step(T0 + 61 * S)] == [4_830_483_000]
    assert of(live, T0 + 61 * S).preferred == "two"


def test_sources_that_differ_wait_for_the_desk_however_long() -> None:
    live = feed(source("one"), source("two"))
    live.take(quote(4_800, T0, "one"))
    live.take(quote(4_830, T0, "two"))
    live.step(T0)
    live.lost("one", T0 + S)
    assert steps(live, T0 + S, 1800, "two") == []
    live.take(Unreadable("two", "XAUUSD", T0 + 1801 * S))
    assert steps(live, T0 + 1801 * S, 1800, "two") == []
    live.take(quote(4_830, T0 + 3601 * S, "two"))
    assert steps(live, T0 + 3601 * S, 60, "two") == []
    assert of(live, T0 + 3660 * S).differs_from == "two"


def test_another_node_takes_over_with_the_source_chosen_last() -> None:
    settings = (source("one"), source("two"))
    left, live = feed(*settings), LiveFeed(feed_settings(*settings))
    left.take(quote(4_800, T0, "two"))
    left.step(T0)
    live.resume([KNOWN], left.status("a node", T0))
    live.take(quote(4_820, T0 + S, "one"))  # It differs by less than `switch_bps`.
    assert live.step(T0 + S) == []
    live.take(quote(4_801, T0 + 2 * S, "two"))
    assert [tick.bid_e6 for tick in live.step(T0 + 2 * S)] == [4_800_519_900]
    assert {tick.bid_e6 for tick in steps(live, T0 + 3 * S, 28, "one", "two")} == {4_800_519_900}
    assert {tick.bid_e6 for tick in steps(live, T0 + 31 * S, 1, "one", "two")} == {4_819_518_000}
    assert live.switches == 1


def test_a_node_that_takes_over_does_not_settle_which_source_is_right() -> None:
    settings = (source("one"), source("two"))
    left = feed(*settings)
    left.take(quote(4_800, T0, "one"))
    left.take(quote(4_830, T0, "two"))
    left.step(T0)
    left.lost("one", T0)
    steps(left, T0, 10, "two")
    later_us = T0 + 7200 * S
    live = LiveFeed(feed_settings(*settings))
    live.resume([KNOWN], left.status("a node", T0 + 10 * S))
    live.take(quote(4_830, later_us, "two"))
    assert steps(live, later_us, 60, "two") == []
    assert of(live, later_us).differs_from == "two"


def test_a_source_that_was_chosen_last_may_be_gone() -> None:
    left, live = feed(source("gone"), source("one")), LiveFeed(feed_settings())
    left.take(quote(4_800, T0, "gone"))
    left.step(T0)
    live.resume([KNOWN], left.status("a node", T0))
    live.take(quote(4_800, T0 + S))
    assert live.step(T0 + S)


def test_a_held_quote_is_released_by_the_desk_that_saw_it() -> None:
    live = feed(source("one", msgspec.structs.replace(GOLD, lowest=None, highest=None)))
    live.take(quote(4_800, T0))
    live.step(T0)
    for second in range(1, 30):
        live.take(quote(5_500, T0 + second * S))
        assert live.step(T0 + second * S) == []
    held = of(live, T0 + 30 * S).quotes[0].held
    assert held is not None
    assert (held.since_us, held.count, held.bid_e6) == (T0 + S, 29, 5_499_450_000)
    assert not live.release("one", "XAUUSD", 2 * 5_600 * S)  # Not what is held now.
    assert not live.release("two", "XAUUSD", 2 * 5_500 * S)
    assert live.release("one", "XAUUSD", 2 * 5_500 * S)
    assert [tick.bid_e6 for tick in live.step(T0 + 30 * S)] == [5_499_450_000]
    live.take(quote(5_501, T0 + 31 * S))
    assert live.step(T0 + 31 * S)


def test_two_sources_confirm_each_other_s_jump() -> None:
    live = feed(source("one"), source("two"))
    for name in ("one", "two"):
        live.take(quote(4_800, T0, name))
    live.step(T0)
    live.take(quote(5_300, T0 + S, "one"))
    assert live.step(T0 + S) == []
    live.take(quote(5_305, T0 + S + 1, "two"))
    assert [tick.bid_e6 for tick in live.step(T0 + S + 1)] == [5_299_470_000]


def test_a_quote_from_before_a_held_one_is_not_published() -> None:
    live = feed()
    live.take(quote(4_800, T0))
    assert live.step(T0)
    live.take(quote(4_900, T0 + 2 * S))
    live.take(quote(4_801, T0 + 3 * S, own_us=T0 + S))
    assert live.step(T0 + 3 * S) == []
    assert live.drops == {("one", "spike"): 1, ("one", "late"): 1}


def test_a_source_that_lies_within_its_bounds_is_disputed_by_another() -> None:
    """It drifts by 20 bps a quote, which the guard lets pass: the alarm comes from the other source."""
    live = feed(source("one"), source("two"))
    disputed_at = None
    for step in range(10):
        at_us = T0 + step * S
        live.take(quote(str(4_800 * S * (10_000 + 20 * step) // 10_000), at_us, "one"))
        live.take(quote(4_800, at_us, "two"))
        live.step(at_us)
        if of(live, at_us).disputed_by == "two" and disputed_at is None:
            disputed_at = step
    assert disputed_at == 3


class Weekdays:
    """Open for the first 5 of every 7 days from T0 on."""

    def is_open(self, at_us: int) -> bool:
        return (at_us - T0) // (86_400 * S) % 7 < 5


def test_a_weekend_and_the_first_tick_after_it() -> None:
    live = feed(source("one", hours=Weekdays()))
    friday_us, monday_us = T0 + 5 * 86_400 * S - S, T0 + 7 * 86_400 * S
    live.resume([Tick("XAUUSD", 4_799 * S, 4_801 * S, friday_us - S, friday_us - S)])
    live.take(quote(4_800, friday_us))
    assert live.step(friday_us)
    for hour in range(1, 47):
        at_us = friday_us + hour * 3600 * S
        live.take(quote(4_500, at_us))
        assert live.step(at_us) == []
    assert live.drops == {("one", "hours"): 46}
    live.take(quote(4_990, monday_us))  # 396 bps above Friday.
    assert [tick.at_us for tick in live.step(monday_us)] == [monday_us]


def test_a_price_from_before_the_weekend_does_not_stand_after_it() -> None:
    """The line stays up, and the source says nothing until its first quote on Monday."""
    live = feed(source("one", hours=Weekdays()))
    friday_us, monday_us = T0 + 5 * 86_400 * S - S, T0 + 7 * 86_400 * S
    live.resume([Tick("XAUUSD", 4_799 * S, 4_801 * S, friday_us - S, friday_us - S)])
    live.take(quote(4_800, friday_us))
    assert live.step(friday_us)
    assert steps(live, friday_us + 2 * S, 5, "one") == []
    assert steps(live, monday_us, 5, "one") == []
    live.take(quote(4_850, monday_us + 5 * S))
    assert [tick.bid_e6 for tick in live.step(monday_us + 5 * S)] == [4_849_515_000]


def test_one_quote_that_is_polled_again_and_again_does_not_confirm_itself() -> None:
    live = feed(source("one", kind="http"))
    live.take(quote(4_800, T0))
    assert live.step(T0)
    for second in range(1, 5):
        live.take(quote(4_900, T0 + second * S, own_us=T0 + S))
        assert live.step(T0 + second * S) == []
    assert live.drops == {("one", "spike"): 1}


@pytest.mark.parametrize(
    "after",
    [Unreadable("one", "XAUUSD", T0 + 2 * S), Quote("one", "XAUUSD", None, 5_500 * S, None, T0 + 2 * S)],
)
def test_a_held_quote_that_its_source_has_taken_back_is_not_believed(after: Quote | Unreadable) -> None:
    live = feed(source("one"), source("two"))
    for name in ("one", "two"):
        live.take(quote(4_800, T0, name))
    live.step(T0)
    live.take(quote(5_500, T0 + S, "one"))
    live.take(after)
    assert not live.release("one", "XAUUSD", 2 * 5_500 * S)
    live.take(quote(5_500, T0 + 3 * S, "two"))  # Only the second source says so now.
    live.step(T0 + 3 * S)
    assert [each.good for each in of(live, T0 + 3 * S).quotes] == [False, False]
    live.take(quote(5_501, T0 + 4 * S, "one"))
    live.step(T0 + 4 * S)
    assert [each.good for each in of(live, T0 + 4 * S).quotes] == [True, True]


@pytest.mark.parametrize(("back_s", "ended"), [(2, True), (2, False), (4, True), (4, False)])
def test_a_source_that_is_preferred_while_it_is_away_is_compared_when_it_is_back(
    back_s: int, ended: bool
) -> None:
    live = feed(source("one"), source("two"))
    live.take(quote(4_800, T0, "one"))
    live.step(T0)
    live.lost("two", T0)
    live.prefer("XAUUSD", "two", T0, at_once=True)
    assert live.step(T0 + S)
    if ended:
        live.prefer("XAUUSD", None, T0 + S, at_once=False)
    back_us = T0 + back_s * S
    live.take(quote(4_830, back_us, "two"))  # Beyond `switch_bps`.
    live.step(back_us)
    assert of(live, back_us).source == ("two" if back_s < 3 and not ended else "one")


def test_guard_numbers_change_while_it_runs() -> None:
    live = feed()
    live.take(quote(4_800, T0))
    live.set_guards({"XAUUSD": GuardNumbers(spike_bps=10)})
    live.take(quote(4_810, T0 + 1))
    assert live.drops == {("one", "spike"): 1}
    live.set_guards({})
    live.take(quote(4_811, T0 + 2))
    assert live.drops == {("one", "spike"): 1}


@pytest.mark.parametrize(
    ("contract", "off"), [(150_000, False), (146_400, False), (155_500, True), (145_000, True)]
)
def test_parity(contract: int, off: bool) -> None:
    """4800 dollars an ounce at 92 rupees, 10 grams, and 8 877 rupees duty are 150 855."""
    parity = Parity(
        instrument="GOLD", spot="XAUUSD", currency="USDINR", factor=str(Decimal("0.321507466")), plus="8877"
    )
    assert list(parity.problems()) == []

    def tick(name: str, price: int, at_us: int = T0) -> Tick:
        return Tick(name, price * S, price * S, at_us, at_us)

    ticks = {"XAUUSD": tick("XAUUSD", 4_800), "USDINR": tick("USDINR", 92), "GOLD": tick("GOLD", contract)}
    assert off_parity([parity], ticks, T0) == (frozenset({"GOLD"}) if off else frozenset())
    old = {**ticks, "USDINR": tick("USDINR", 92, T0 - 60 * S)}
    assert off_parity([parity], old, T0) == frozenset()


@pytest.mark.parametrize("seed", range(2 * SCALE))
def test_random_hours_with_two_sources(seed: int) -> None:
    """Whatever happens to the lines, only what a source said last, and rightly, is published."""
    chance = Random(seed)  # noqa: S311 - a repeatable test
    live = feed(source("one"), source("two"))
    said: dict[str, Quote | None] = {"one": None, "two": None}
    silent_until_us = {"one": 0, "two": 0}
    middle_e6, number = 4_800 * S, 0
    for at_us in range(T0, T0 + 1500 * S, STEP_US):
        middle_e6 += middle_e6 * chance.randrange(-4, 5) // 100_000
        for name in said:
            if at_us < silent_until_us[name]:
                continue
            match chance.randrange(60):
                case 0:
                    live.lost(name, at_us)
                    said[name] = None
                    silent_until_us[name] = at_us + chance.randrange(10 * S)
                case 1:
                    live.take(quote(str(middle_e6 * 1000), at_us, name))
                    said[name] = None
                case 2:
                    live.take(Unreadable(name, "XAUUSD", at_us))
                    said[name] = None
                case 3 | 4 | 5:
                    live.take(Alive(name, at_us))
                case each if each < 30:
                    said[name] = quote(str(middle_e6 + chance.randrange(S)), at_us, name)
                    assert said[name] is not None
                    live.take(said[name])  # type: ignore[arg-type]
        for tick in live.step(at_us):
            sides = (tick.bid_e6, tick.ask_e6)
            assert sides in [(each.bid_e6, each.ask_e6) for each in said.values() if each is not None]
            assert tick.at_us == at_us
            number += 1
    assert number > 1500
    assert live.switches > 0


def test_settings_with_mistakes_name_them_all() -> None:
    wrong = FeedSettings(
        sources=(
            SourceSettings(name="One", kind="http", url="http://vendor.example", instruments=()),
            SourceSettings(
                name="two",
                kind="websocket",
                url="wss://vendor.example?key={secret}",
                instruments=(SourceInstrument(instrument="GOLD", symbol="", scale="1e5"),) * 2,
                ping_s=12,
            ),
            SourceSettings(name="two", kind="fix", instruments=(GOLD,), url="wss://a.example", alive_s=0),
        ),
        guards={"PLATINUM": GuardNumbers(width_bps=0)},
        failover_s=0,
    )
    found = list(wrong.problems())
    for part in (
        "source two occurs 2 times",
        "source One: name is 'One'",
        "source One: instruments is empty",
        "source One: url must begin with https://",
        "source One: fields.time is missing",
        "source two: instrument GOLD occurs 2 times",
        "source two: GOLD: symbol is empty",
        "source two: GOLD: scale is '1e5'",
        "source two: secret_env and {secret} belong together",
        "source two: ping_s must be",
        "source two: url is not for a source over FIX",
        "source two: alive_s must be from 1 to 120",
        "guard of PLATINUM: width_bps is 0",
        "guard of PLATINUM: no source has this instrument",
        "failover_s is 0",
    ):
        assert any(each.startswith(part) for each in found), part
