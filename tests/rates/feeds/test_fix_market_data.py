"""Market data over FIX: subscriptions, snapshots, changes, and what is done when they do not fit."""

from collections.abc import Sequence

import pytest

from bullion.hedge.fix.codec import Pair
from bullion.rates.feeds.quote import Item, Quote, Unreadable
from bullion.rates.feeds.source_settings import SourceInstrument

from .fix_talk import GOLD, NOW_US, S, Talk, prices

SILVER = SourceInstrument(instrument="SILVER", symbol="XAG/USD")
NEW_BID: list[Pair] = [(279, "0"), (269, "0"), (278, "c"), (270, "98")]


def is_emptied(talk: Talk, items: Sequence[Item], instrument: str = "GOLD") -> bool:
    """Whether nothing stands, and the instrument is subscribed anew after a pause, and not before."""
    assert list(items) == [Unreadable("venue", instrument, talk.now_us)]
    before = talk.sent[-1].request_id
    if talk.step(0.9):
        return False
    *_, asked = talk.step(0.2)
    return asked.request_id != before and not asked.ends


def started(*instruments: SourceInstrument, **settings: bool) -> Talk:
    talk = Talk(*instruments, **settings)
    talk.step()
    assert prices(talk.snapshot()) == (1000 * S, 1010 * S)
    return talk


# --- What goes out ------------------------------------------------------------------------------------


def test_each_instrument_is_subscribed_once_by_its_symbol() -> None:
    talk = Talk(GOLD, SILVER)
    gold, silver = talk.step()
    assert gold.pairs == [
        (35, "V"), (262, gold.request_id), (263, "1"), (264, 1), (265, 1), (267, 2), (269, "0"), (269, "1"),
        (146, 1), (55, "XAU/USD"),
    ]  # fmt: skip
    assert silver.pairs[-1] == (55, "XAG/USD")
    assert gold.request_id != silver.request_id
    assert len(gold.request_id) <= 16
    assert talk.step(5) == []


def test_security_ids_and_full_updates_are_asked_for_where_the_settings_say_so() -> None:
    (request,) = Talk(by_id=True, full_updates=True).step()
    assert request.pairs[-3:] == [(55, "[N/A]"), (48, "XAU/USD"), (22, "8")]
    assert (265, 0) in request.pairs


def test_a_subscription_without_an_answer_is_ended_and_asked_again() -> None:
    talk = Talk()
    (first,) = talk.step()
    assert talk.step(10) == []
    ended, again = talk.step(1)
    assert (ended.request_id, ended.ends, (263, "2") in ended.pairs) == (first.request_id, True, True)
    assert (263, "1") in again.pairs
    assert talk.data.troubles == [("GOLD", "the subscription was not answered")]


# --- Snapshots and changes ----------------------------------------------------------------------------


def test_a_snapshot_is_a_quote_in_our_measure_with_its_time() -> None:
    talk = Talk()
    talk.step()
    (quote,) = talk.snapshot("4000.12345678", "4000.12345678")
    assert quote == Quote("venue", "GOLD", 40001234567, 40001234568, NOW_US, NOW_US, in_order=True)


@pytest.mark.parametrize("entries", [[], [(269, "0"), (270, "100")], [(269, "2"), (270, "100")]])
def test_a_snapshot_without_a_side_is_no_quote_with_two(entries: list[Pair]) -> None:
    talk = Talk()
    talk.step()
    count = len(entries) // 2
    items = talk.tell("W", (262, talk.sent[-1].request_id), (55, "XAU/USD"), (268, count), *entries)
    assert None in prices(items)


@pytest.mark.parametrize("price", ["NaN", "", "1e99", "100,5", "Infinity"])
def test_a_price_that_is_no_number_is_no_quote(price: str) -> None:
    talk = started()
    entry: list[Pair] = [(279, "1"), (269, "0"), (278, "b"), (270, price)] if price else [
        (279, "0"), (269, "0"), (278, "b"), (271, "5")
    ]  # fmt: skip
    assert talk.change(entry) == [Unreadable("venue", "GOLD", NOW_US)]
    ask_only = [(279, "1"), (269, "1"), (278, "a"), (270, "102")]
    assert talk.change(ask_only) == [Unreadable("venue", "GOLD", NOW_US)], "the bid is still unreadable"
    assert prices(talk.change([(279, "1"), (269, "0"), (278, "b"), (270, "101")])) == (1010 * S, 1020 * S)


ENTRY_CASES: list[tuple[str, tuple[str, str], list[list[Pair]], tuple[int | None, int | None]]] = [
    ("change", ("b", "a"), [[(279, "1"), (278, "b"), (270, "99")]], (99, 101)),
    ("a change of the size alone", ("b", "a"), [[(279, "1"), (278, "b"), (271, "7")]], (100, 101)),
    ("delete", ("b", "a"), [[(279, "2"), (278, "b")]], (None, 101)),
    ("delete and new", ("b", "a"), [[(279, "2"), (278, "b")], NEW_BID], (98, 101)),
    ("new and delete", ("b", "a"), [NEW_BID, [(279, "2"), (278, "b")]], (98, 101)),
    ("new beside the old one", ("b", "a"), [NEW_BID], (None, 101)),
    ("new without ids", ("", ""), [[(279, "0"), (269, "1"), (270, "103")]], (100, 103)),
    ("change without ids", ("", ""), [[(279, "1"), (269, "1"), (270, "103")]], (100, 103)),
    ("delete without ids", ("", ""), [[(279, "2"), (269, "1")]], (100, None)),
    ("an id for what the snapshot left unnamed", ("", ""), [[(279, "1"), (269, "0"), (278, "z"), (270, "99")],
     [(279, "1"), (278, "z"), (270, "98")]], (98, 101)),
    ("a new id for what the snapshot left unnamed", ("", ""), [NEW_BID], (98, 101)),
    ("trades besides", ("b", "a"), [[(279, "0"), (269, "2"), (270, "55")],
     [(279, "1"), (278, "a"), (270, "102")]], (100, 102)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ids", "entries", "expected"), [case[1:] for case in ENTRY_CASES], ids=[case[0] for case in ENTRY_CASES]
)
def test_changes(
    ids: tuple[str, str], entries: list[list[Pair]], expected: tuple[int | None, int | None]
) -> None:
    talk = Talk()
    talk.step()
    talk.snapshot(ids=ids)
    found = prices(talk.change(*entries))
    assert found == tuple(None if each is None else each * 10 * S for each in expected)


DISORDER: list[tuple[str, list[Pair]]] = [
    ("change of an unknown id", [(279, "1"), (269, "0"), (278, "zz"), (270, "99")]),
    ("deletion of an unknown id", [(279, "2"), (278, "zz")]),
    ("change of an id on the other side", [(279, "1"), (269, "1"), (278, "b"), (270, "99")]),
    ("new with the id of the other side", [(279, "0"), (269, "1"), (278, "b"), (270, "99")]),
    ("new without a side", [(279, "0"), (278, "zz"), (270, "99")]),
    ("unknown action", [(279, "5"), (269, "0"), (278, "b"), (270, "99")]),
    ("another instrument", [(279, "1"), (278, "b"), (55, "XPT/USD"), (270, "99")]),
]


@pytest.mark.parametrize("entry", [case[1] for case in DISORDER], ids=[case[0] for case in DISORDER])
def test_a_change_that_fits_to_nothing_empties_the_instrument(entry: list[Pair]) -> None:
    talk = started()
    old = talk.sent[-1].request_id
    assert is_emptied(talk, talk.change(entry))
    assert [each.request_id for each in talk.sent if each.ends] == [old]
    late = talk.tell("X", (262, old), (268, 1), (279, "1"), (278, "b"), (270, "99"))
    assert late == [], "the old subscription says nothing any more"
    assert talk.change([(279, "1"), (278, "b"), (270, "99")]) == [], "its snapshot is still to come"
    assert prices(talk.snapshot()) == (1000 * S, 1010 * S)


@pytest.mark.parametrize(
    "group", [[(268, 2), (269, "0"), (270, "1")], [(268, "x"), (269, "0")], [(268, 1)], [(269, "0")]]
)
def test_a_snapshot_that_cannot_be_taken_apart_empties_the_instrument(group: list[Pair]) -> None:
    talk = started()
    assert is_emptied(talk, talk.tell("W", (262, talk.sent[-1].request_id), *group))


def test_messages_without_a_request_are_told_apart_by_their_symbols() -> None:
    talk = Talk(GOLD, SILVER)
    talk.step()
    group: list[Pair] = [(268, 2), (269, "0"), (278, "b"), (270, "30"), (269, "1"), (278, "a"), (270, "31")]
    assert prices(talk.tell("W", (55, "XAG/USD"), *group)) == (30 * S, 31 * S)
    assert talk.tell("W", (55, "XPT/USD"), *group) == []
    change: list[Pair] = [(268, 2), (279, "1"), (55, "XPT/USD"), (278, "q"), (270, "5")]
    change += [(279, "1"), (55, "XAG/USD"), (278, "b"), (270, "30.5")]
    assert prices(talk.tell("X", *change)) == (30_500_000, 31 * S)
    nameless = talk.tell("X", (268, 1), (279, "1"), (278, "b"), (270, "30.5"))
    assert {type(each) for each in nameless} == {Unreadable}
    assert len(nameless) == 2, "which instrument it was about is not known"


def test_a_source_by_security_id() -> None:
    talk = Talk(by_id=True)
    talk.step()
    request: Pair = (262, talk.sent[-1].request_id)
    group: list[Pair] = [(268, 2), (269, "0"), (270, "30"), (269, "1"), (270, "31")]
    assert prices(talk.tell("W", request, (48, "XAU/USD"), (22, "8"), *group)) == (300 * S, 310 * S)
    assert is_emptied(talk, talk.tell("W", request, (48, "other"), (22, "8"), *group))


# --- Times --------------------------------------------------------------------------------------------


def time_of(talk: Talk, *fields: Pair) -> int | None:
    (item,) = talk.change([(279, "1"), (278, "b"), (270, "100"), *fields])
    assert isinstance(item, Quote)
    return item.at_us


def test_the_time_of_a_quote_is_that_of_its_newest_entry() -> None:
    talk = started()
    assert time_of(talk) == NOW_US
    assert time_of(talk, (272, "20250102"), (273, "10:00:00.5")) == 1_735_812_000_500_000
    (item,) = talk.change(
        [(279, "1"), (278, "b"), (270, "1"), (272, "20250102"), (273, "10:00:00")],
        [(279, "1"), (278, "a"), (270, "1"), (272, "20250102"), (273, "10:00:01")],
    )
    assert isinstance(item, Quote)
    assert item.at_us == 1_735_812_001_000_000
    assert time_of(started(entry_times=False), (272, "20250102"), (273, "10:00:00")) == NOW_US


@pytest.mark.parametrize(("ahead_s", "clock"), [(0, "23:59:59"), (2, "00:00:01")])
def test_a_time_without_its_day_is_the_nearest_one(ahead_s: int, clock: str) -> None:
    talk = started()
    midnight_us = NOW_US // (86_400 * S) * 86_400 * S
    talk.now_us = midnight_us - S + (2 - ahead_s) * S
    expected_us = midnight_us + (-S if clock.startswith("23") else S)
    assert time_of(talk, (273, clock)) == expected_us


def test_a_time_that_is_none_is_no_quote() -> None:
    talk = started()
    entry: list[Pair] = [(279, "1"), (278, "b"), (270, "100"), (272, "20259999"), (273, "10:00:00")]
    assert talk.change(entry) == [Unreadable("venue", "GOLD", NOW_US)]


# --- Gaps and refusals --------------------------------------------------------------------------------


def test_a_gap_empties_all_and_only_once() -> None:
    talk = Talk(GOLD, SILVER)
    talk.step()
    found = talk.data.gap(talk.now_us)
    assert found == [Unreadable("venue", each, NOW_US) for each in ("GOLD", "SILVER")]
    assert talk.data.gap(talk.now_us) == []
    assert [each.ends for each in talk.step(1)] == [True, False, True, False]


def test_a_message_that_is_sent_again_is_not_believed() -> None:
    talk = started()
    again = talk.tell(
        "X", (43, "Y"), (262, talk.sent[-1].request_id), (268, 1), (279, "1"), (278, "b"), (270, "9")
    )
    assert is_emptied(talk, again)
    assert talk.tell("X", (43, "Y"), (262, "other"), (268, 1), (279, "1"), (278, "b"), (270, "9")) == []


def refusals(talk: Talk) -> list[tuple[str, list[Pair]]]:
    request_id, number = talk.sent[-1].request_id, 2
    return [
        ("Y", [(262, request_id), (281, "0"), (58, "No such symbol")]),
        ("3", [(45, number), (372, "V"), (373, "5"), (58, "No such symbol")]),
        ("j", [(45, number), (372, "V"), (380, "3"), (58, "No such symbol")]),
        ("j", [(372, "V"), (379, request_id), (380, "3"), (58, "No such symbol")]),
    ]


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("standing", [False, True])
def test_a_refusal_empties_the_instrument_and_it_is_asked_for_again(which: int, *, standing: bool) -> None:
    talk = started() if standing else Talk()
    talk.step()
    kind, pairs = refusals(talk)[which]
    assert is_emptied(talk, talk.tell(kind, *pairs))
    assert not any(each.ends for each in talk.sent), "the source has nothing to end"
    assert talk.data.troubles == [("GOLD", "the source refused it: No such symbol")]


def test_refusals_of_something_else_change_nothing() -> None:
    talk = started()
    for kind, pairs in (
        ("Y", [(262, "other"), (281, "0")]),
        ("3", [(45, 77), (372, "V"), (373, "5")]),
        ("j", [(45, 2), (372, "D"), (380, "3")]),
        ("8", [(37, "X")]),
    ):
        assert talk.tell(kind, *pairs) == []
    assert prices(talk.change([(279, "1"), (278, "b"), (270, "99")])) == (990 * S, 1010 * S)


def test_pauses_grow_while_it_is_refused_and_begin_anew_after_a_while() -> None:
    talk = Talk()
    talk.step()
    pauses = []
    for _ in range(9):
        talk.tell("Y", (262, talk.sent[-1].request_id), (281, "0"))
        waited = 0
        while not talk.step(1):
            waited += 1
        pauses.append(waited + 1)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    talk.snapshot()
    talk.now_us += 30 * S
    assert is_emptied(talk, talk.data.gap(talk.now_us))


def test_a_source_that_leaves_ever_more_entries_is_subscribed_anew() -> None:
    talk = started()
    found = [talk.change([(279, "0"), (269, "0"), (278, f"n{number}"), (270, "98")]) for number in range(40)]
    assert Unreadable("venue", "GOLD", talk.now_us) in [item for items in found for item in items]
    assert talk.data.troubles[0] == ("GOLD", "the source leaves more than 10 prices on a side")
