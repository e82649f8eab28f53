"""The position: clients, covers, what waits, what is under way, and what is left."""

from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.book.events import (
    BookEvent,
    CoverEnds,
    CoverFill,
    CoverSent,
    OrderWaits,
    WaitEnds,
    house_change_mg,
)
from bullion.hedge.book.position import (
    ContradictoryFill,
    Position,
    fill_change_mg,
    fold_position,
)
from bullion.hedge.contract import ONE_E8

from .samples import GC, GOLDM, SEED, XAU, deal, fill


def test_a_client_who_buys_leaves_the_house_short() -> None:
    assert house_change_mg("buy", 5) == -5
    assert house_change_mg("sell", 5) == 5


def test_a_day_of_a_book() -> None:
    events: list[BookEvent] = [deal(-250_000, 0), OrderWaits("w", -80_000), CoverSent("c", GOLDM, 3 * ONE_E8)]
    before = fold_position(events)
    assert (before.client_mg, before.cover_mg, before.residual_mg) == (-250_000, 0, -250_000)
    assert (before.waiting_mg, before.working_mg) == (-80_000, 298_500)
    assert before.need_mg == -31_500

    partly = fold_position([fill(GOLDM, 2, 125_000, cover_id="c")], before)
    assert (partly.cover_mg, partly.working_mg, partly.need_mg) == (199_000, 99_500, -31_500)
    assert partly.held_e8 == {"GOLDM": 2 * ONE_E8}

    ended = fold_position([CoverEnds("c"), WaitEnds("w"), deal(-80_000, 0)], partly)
    assert (ended.residual_mg, ended.waiting_mg, ended.working_mg) == (-131_000, 0, 0)
    assert ended.need_mg == -131_000


def test_a_fill_counts_once_and_with_the_same_contents() -> None:
    once = fill(GOLDM, 1, 125_000)
    again = msgspec.structs.replace(once, reference_e6=1, at_us=5)
    assert fold_position([once, again, once]) == fold_position([once])
    elsewhere = msgspec.structs.replace(once, contract=msgspec.structs.replace(GOLDM, venue="other"))
    assert fold_position([once, elsewhere]).cover_mg == 199_000
    with pytest.raises(ContradictoryFill, match="e1"):
        fold_position([once, msgspec.structs.replace(once, price_e6=1)])


def test_a_late_fill_of_an_ended_cover_still_counts() -> None:
    position = fold_position(
        [CoverSent("c1", GOLDM, ONE_E8), CoverEnds("c1"), fill(GOLDM, 1, 125_000)], Position()
    )
    assert (position.cover_mg, position.working_mg) == (99_500, 0)


def test_a_fill_beyond_its_cover_or_on_the_other_side_leaves_no_negative_rest() -> None:
    sent = CoverSent("c1", GOLDM, ONE_E8)
    assert fold_position([sent, fill(GOLDM, 2, 125_000)]).working_mg == 0
    assert fold_position([sent, fill(GOLDM, -1, 125_000)]).working_mg == 99_500
    sold = CoverSent("c1", GOLDM, -ONE_E8)
    assert fold_position([sold, fill(GOLDM, -2, 125_000)]).working_mg == 0
    assert fold_position([sold, fill(GOLDM, 1, 125_000)]).working_mg == -99_500


def test_the_order_of_fills_changes_nothing() -> None:
    fills = [
        fill(GC, 1, 4_800, execution_id="a"),
        fill(GC, 1, 4_800, execution_id="b"),
        fill(GC, -3, 4_800, execution_id="c"),
        fill(XAU, 7, 4_800, execution_id="d"),
    ]
    found = {fold_position(each).cover_mg for each in permutations(fills)}
    assert found == {GC.fine_mg(-ONE_E8) + XAU.fine_mg(7 * ONE_E8)}


@given(st.sampled_from(sorted(SEED)), st.lists(st.integers(-(10**10), 10**10), max_size=30))
def test_the_weights_of_fills_add_up_to_that_of_their_sum(code: str, quantities_e8: list[int]) -> None:
    contract = SEED[code]
    fills = [
        CoverFill(str(number), "c", contract, quantity_e8, 1, 1, 0, 1, 0)
        for number, quantity_e8 in enumerate(quantities_e8)
    ]
    assert fold_position(fills).cover_mg == contract.fine_mg(sum(quantities_e8))


@given(st.sampled_from(sorted(SEED)), st.integers(-(10**12), 10**12), st.integers(-(10**10), 10**10))
def test_a_fill_never_weighs_more_than_was_counted_for_it(code: str, held_e8: int, quantity_e8: int) -> None:
    contract = SEED[code]
    change_mg = fill_change_mg(contract, held_e8, quantity_e8)
    assert abs(change_mg) <= abs(contract.fine_mg_up(quantity_e8))
    assert change_mg == 0 or (change_mg > 0) == (quantity_e8 > 0)
