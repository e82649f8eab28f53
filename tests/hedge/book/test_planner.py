"""The planner: largest lots first, towards zero, never past it; and the orders that wait for room."""

from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.book.events import CoverSent
from bullion.hedge.book.invariants import limit_problems, plan_problems
from bullion.hedge.book.planner import PlannedCover, Snapshot, plan_covers
from bullion.hedge.book.position import Position, fold_position
from bullion.hedge.book.rules import Rule, RuleKind
from bullion.hedge.contract import ONE_E8

from .samples import AUTO, GC, SEED

RULE = Rule("net", RuleKind.OVER, 1_000, ("GOLDPETAL", "GOLD", "GOLDM"), mode="auto")


def snapshot(position: Position, **change: Any) -> Snapshot:
    rules = change.pop("rules", (RULE,))
    return Snapshot(position, rules, change.pop("contracts", AUTO), date(2026, 11, 17), 0, **change)


def lots(planned: tuple[PlannedCover, ...]) -> list[tuple[str, int]]:
    return [(cover.contract.code, cover.quantity_e8 // ONE_E8) for cover in planned]


@pytest.mark.parametrize(
    ("residual_mg", "found"),
    [
        (-2_300_000, [("GOLD", 2), ("GOLDM", 3), ("GOLDPETAL", 11)]),
        (2_300_000, [("GOLD", -2), ("GOLDM", -3), ("GOLDPETAL", -11)]),
        (-995_000, [("GOLD", 1)]),
        (-994_999, [("GOLDM", 9), ("GOLDPETAL", 99)]),
        (-1_000, [("GOLDPETAL", 1)]),
        (-999, []),  # below the rule
        (0, []),
    ],
)
def test_largest_lots_first(residual_mg: int, found: list[tuple[str, int]]) -> None:
    assert lots(plan_covers(snapshot(Position(client_mg=residual_mg)))) == found


def test_waiting_orders_and_covers_under_way_count_in_full() -> None:
    position = fold_position(
        [CoverSent("c", SEED["GOLD"], ONE_E8)], Position(client_mg=-900_000, waiting={"w": -200_000})
    )
    assert position.need_mg == -105_000
    assert lots(plan_covers(snapshot(position))) == [("GOLDM", 1), ("GOLDPETAL", 5)]


def test_a_contract_with_a_cover_under_way_keeps_its_share() -> None:
    position = fold_position([CoverSent("c", SEED["GOLD"], ONE_E8)], Position(client_mg=-3_100_000))
    assert lots(plan_covers(snapshot(position))) == [("GOLDM", 1), ("GOLDPETAL", 15)]


def test_nothing_is_planned_against_a_cover_under_way() -> None:
    position = fold_position([CoverSent("c", SEED["GOLD"], ONE_E8)], Position(client_mg=-500_000))
    assert position.need_mg == 495_000
    assert plan_covers(snapshot(position)) == ()


def test_contracts_that_cannot_be_dealt_are_left_out() -> None:
    position = Position(client_mg=-2_300_000)
    without = snapshot(position, unavailable=frozenset({"GOLD"}))
    assert lots(plan_covers(without))[0] == ("GOLDM", 23)
    ended = msgspec.structs.replace(AUTO["GOLD"], expires_on="2026-11-16")
    over = snapshot(position, contracts={**AUTO, "GOLD": ended})
    assert lots(plan_covers(over))[0] == ("GOLDM", 23)


def test_a_cover_is_sent_without_a_dealer_only_if_rule_and_contract_say_so() -> None:
    position = Position(client_mg=-995_000)
    suggests = (msgspec.structs.replace(RULE, mode="suggest"),)
    assert [cover.mode for cover in plan_covers(snapshot(position))] == ["auto"]
    assert [cover.mode for cover in plan_covers(snapshot(position, contracts=SEED))] == ["suggest"]
    assert [cover.mode for cover in plan_covers(snapshot(position, rules=suggests))] == ["suggest"]


def test_rules_share_one_need() -> None:
    large = Rule("large", RuleKind.OVER, 900_000, ("GOLD",), mode="auto")
    small = Rule("small", RuleKind.OVER, 100_000, ("GOLDM", "GOLD"))
    planned = plan_covers(snapshot(Position(client_mg=-1_200_000), rules=(large, small)))
    assert [(each.rule, each.mode) for each in planned] == [("large", "auto"), ("small", "suggest")]
    assert lots(planned) == [("GOLD", 1), ("GOLDM", 2)]


def test_the_age_of_the_residual_is_not_that_of_orders_that_wait() -> None:
    rules = (msgspec.structs.replace(RULE, kind=RuleKind.AGE, threshold=60),)
    long_ago = {"rules": rules, "open_since_us": {"net": -(10**9)}}
    assert lots(plan_covers(snapshot(Position(client_mg=-10_000), **long_ago))) == [("GOLDPETAL", 10)]
    # A sale of 30 g waits. The house would be long by then, since no time at all.
    turned = Position(client_mg=-10_000, waiting={"w": 30_000})
    assert plan_covers(snapshot(turned, **long_ago)) == ()


def test_a_dealer_asks_for_a_plan() -> None:
    by_hand = (msgspec.structs.replace(RULE, kind=RuleKind.BY_HAND),)
    asked = snapshot(Position(client_mg=-1_000), rules=by_hand)
    assert plan_covers(asked) == ()
    planned = plan_covers(asked, ("net",))
    assert lots(planned) == [("GOLDPETAL", 1)]
    assert planned[0].mode == "suggest"  # Although rule and contract are auto.


WEIGHTS = st.integers(-(10**8), 10**8)


@given(
    WEIGHTS,
    st.lists(WEIGHTS, max_size=5),
    st.dictionaries(st.sampled_from(["GOLD", "GOLDM", "GC", "XAU"]), st.integers(-9, 9), max_size=3),
    st.integers(1, 10**6),
)
def test_a_plan_never_crosses_zero(
    client_mg: int, waiting: list[int], working: dict[str, int], threshold: int
) -> None:
    position = fold_position(
        [CoverSent(code, SEED[code], quantity * ONE_E8) for code, quantity in working.items()],
        Position(client_mg=client_mg, waiting={str(no): each for no, each in enumerate(waiting)}),
    )
    rule = Rule("net", RuleKind.OVER, threshold, ("GOLD", "GOLDM", "GOLDPETAL", "GC", "XAU"))
    planned = plan_covers(snapshot(position, rules=(rule,)))
    assert plan_problems(position, planned) == []


def test_the_checker_finds_bad_plans() -> None:
    position = fold_position([CoverSent("c", GC, ONE_E8)], Position(client_mg=-4_000_000))

    def problem(code: str, quantity: int) -> str:
        return " ".join(plan_problems(position, [PlannedCover(SEED[code], quantity * ONE_E8, "net", "auto")]))

    assert problem("GOLDM", 8) == ""
    assert "are planned for a need" in problem("GOLDM", 9)
    assert "enlarges" in problem("GOLDM", -1)
    assert "two covers of GC" in problem("GC", 1)
    # Two that dealers sent are no plan's fault, and all of them count in the need.
    position = fold_position(
        [CoverSent("d", GC, ONE_E8)], Position(client_mg=-8_000_000, working=position.working)
    )
    assert problem("GOLDM", 17) == ""
    assert "two covers of GC" in problem("GC", 1)


def test_the_checker_finds_a_limit_that_was_exceeded() -> None:
    assert limit_problems(0, -1_000, 1_000) == []
    assert limit_problems(-5_000, 4_999, 1_000) == []
    assert "H7" in limit_problems(0, -1_001, 1_000)[0]
