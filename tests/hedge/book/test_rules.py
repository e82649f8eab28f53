"""The rules: when they fire, what is wrong with them, and the days of contracts."""

from datetime import date
from typing import Any

import msgspec
import pytest

from bullion.hedge.book.risk import value_at_risk_paise, value_paise
from bullion.hedge.book.rules import (
    Rule,
    RuleKind,
    Situation,
    expiry_alarms,
    fires,
    may_be_used,
    rule_problems,
)

from .samples import GOLDM, MARK, SEED

OVER = Rule("net", RuleKind.OVER, 100_000, ("GOLD", "GOLDM"))
NOW = Situation(need_mg=-100_000, now_us=100_000_000, mark=MARK, volatility_e6=12_000)


@pytest.mark.parametrize(
    ("kind", "threshold", "change", "found"),
    [
        (RuleKind.OVER, 100_000, {}, True),
        (RuleKind.OVER, 100_001, {}, False),
        (RuleKind.OVER, 100_000, {"need_mg": 100_000}, True),
        (RuleKind.AGE, 60, {}, False),  # nothing waits for a cover
        (RuleKind.AGE, 60, {"open_since_us": 40_000_000}, True),
        (RuleKind.AGE, 60, {"open_since_us": 40_000_001}, False),
        (RuleKind.VALUE, 125_728_643, {}, True),
        (RuleKind.VALUE, 125_728_644, {}, False),
        (RuleKind.VALUE, 1, {"mark": None}, False),
        (RuleKind.RISK, 3_515_373, {}, True),
        (RuleKind.RISK, 3_515_374, {}, False),
        (RuleKind.RISK, 1, {"mark": None}, False),
        (RuleKind.CLOSE, 600, {}, False),  # no session
        (RuleKind.CLOSE, 600, {"session_ends_us": 700_000_000}, True),
        (RuleKind.CLOSE, 600, {"session_ends_us": 700_000_001}, False),
        (RuleKind.CLOSE, 600, {"session_ends_us": 100_000_000}, False),  # it has ended
        (RuleKind.BY_HAND, 0, {}, False),
        (RuleKind.OVER, 1, {"need_mg": 0}, False),
    ],
)
def test_when_a_rule_fires(kind: RuleKind, threshold: int, change: dict[str, Any], found: bool) -> None:
    rule = msgspec.structs.replace(OVER, kind=kind, threshold=threshold)
    assert fires(rule, msgspec.structs.replace(NOW, **change)) is found


def test_a_rule_of_one_side_makes_covers_of_that_side_only() -> None:
    buys = msgspec.structs.replace(OVER, side="buy")
    sells = msgspec.structs.replace(OVER, side="sell")
    assert fires(buys, NOW)
    assert not fires(sells, NOW)
    long = msgspec.structs.replace(NOW, need_mg=100_000)
    assert not fires(buys, long)
    assert fires(sells, long)


def test_a_dealer_applies_a_rule_by_hand() -> None:
    by_hand = msgspec.structs.replace(OVER, kind=RuleKind.BY_HAND)
    assert fires(by_hand, NOW, ["net"])
    assert not fires(by_hand, NOW, ["other", "net too"])


def test_value_and_value_at_risk() -> None:
    assert value_paise(-99_500, MARK) == 12_51_000_00
    # 1.2 % of ₹12,51,000 times 2.33
    assert value_at_risk_paise(-99_500, MARK, 12_000) == 34_977_96
    assert value_at_risk_paise(0, MARK, 12_000) == 0


@pytest.mark.parametrize(
    ("change", "limit_mg", "name", "words"),
    [
        ({"name": ""}, 10**6, "", "name"),
        ({"side": "long"}, 10**6, "net", "side must be"),
        ({"mode": "soon"}, 10**6, "net", "mode must be"),
        ({"threshold": 0}, 10**6, "net", "above 0"),
        ({"contracts": ()}, 10**6, "net", "at least one contract"),
        ({"contracts": ("GOLDM", "TIN")}, 10**6, "net", "none called TIN"),
        ({"contracts": ("GOLDM", "SILVER")}, 10**8, "net", "must be of gold; SILVER is silver"),
        ({}, 0, "limit_mg", "above 0"),
        ({"contracts": ("GOLD",)}, 995_000, "limit_mg", "exceed 995.000 g"),
        ({}, 99_999, "limit_mg", "below 100.000 g"),
        ({"contracts": ("TIN",)}, 10**6, "limit_mg", "active contract to sell"),
        ({"side": "buy"}, 10**6, "limit_mg", "may sell"),
        ({"kind": RuleKind.AGE}, 10**6, "limit_mg", "wait for ever"),
    ],
)
def test_mistakes_of_rules_and_limits(change: dict[str, Any], limit_mg: int, name: str, words: str) -> None:
    assert not rule_problems([OVER], SEED, "gold", 100_000)
    found = rule_problems([msgspec.structs.replace(OVER, **change)], SEED, "gold", limit_mg)
    assert any(where == name and words in text for where, text in found), found


def test_all_mistakes_are_told_at_once() -> None:
    wrong = [msgspec.structs.replace(OVER, mode="x", contracts=("TIN",))] * 2
    names = [name for name, _ in rule_problems(wrong, SEED, "gold", 10)]
    assert names == ["net", "net", "net", "net", "net", "limit_mg", "limit_mg"]


def test_a_contract_is_used_and_held_until_its_last_day() -> None:
    december = msgspec.structs.replace(GOLDM, expires_on="2026-12-04", hold_until="2026-11-27")
    assert may_be_used(december, date(2026, 11, 27))
    assert not may_be_used(december, date(2026, 11, 28))
    assert not may_be_used(msgspec.structs.replace(december, hold_until=""), date(2026, 12, 5))
    assert may_be_used(GOLDM, date(2030, 1, 1))

    contracts = {"GOLDM": december}
    held = {"GOLDM": 1, "GONE": 1}
    assert expiry_alarms(contracts, held, date(2026, 11, 21)) == []
    assert "until 2026-11-27" in expiry_alarms(contracts, held, date(2026, 11, 22))[0].text
    assert "was 2026-11-27" in expiry_alarms(contracts, held, date(2026, 11, 28))[0].text
    assert expiry_alarms(contracts, {"GOLDM": 0}, date(2026, 11, 28)) == []
