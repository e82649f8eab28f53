"""The rules of a book: when something is covered, in which contracts, and who sends it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from enum import StrEnum

import msgspec

from bullion.hedge.contract import AUTO, SUGGEST, Contract, Problem
from bullion.metals.scaled import plain
from bullion.metals.symbol import Side

from .profit import Mark
from .risk import value_at_risk_paise, value_paise

EXPIRY_ALARM_DAYS = 5
_US_PER_S = 1_000_000


class RuleKind(StrEnum):
    OVER = "over"
    """The weight to cover is at least `threshold` milligrams."""
    AGE = "age"
    """The residual has been a lot or more for `threshold` seconds."""
    VALUE = "value"
    """The weight to cover is worth at least `threshold` paise."""
    RISK = "risk"
    """Its value at risk is at least `threshold` paise."""
    CLOSE = "close"
    """The session ends within `threshold` seconds."""
    BY_HAND = "by_hand"
    """Only when a dealer asks for it."""


class Rule(msgspec.Struct, frozen=True):
    name: str
    kind: RuleKind
    threshold: int
    contracts: tuple[str, ...]
    """The codes of the contracts it may use."""
    side: str = ""
    """`buy` or `sell`: it makes covers of this side only. Empty: both."""
    mode: str = SUGGEST
    """Covers are sent without a dealer only if the rule and the contract both say `auto`."""

    def allows(self, need_mg: int) -> bool:
        """Whether its side is the one that brings the need towards zero."""
        return self.side in ("", Side.BUY if need_mg < 0 else Side.SELL)


class Situation(msgspec.Struct, frozen=True):
    """What the rules are judged by, at one moment."""

    need_mg: int
    """Residual, waiting orders and covers under way together."""
    now_us: int
    mark: Mark | None = None
    """None: there is no fresh price, so the rules of value and risk do not fire."""
    volatility_e6: int = 0
    open_since_us: int | None = None
    """Since when the residual is at least a lot of the rule; None: it is not."""
    session_ends_us: int | None = None


def fires(rule: Rule, situation: Situation, asked: Collection[str] = ()) -> bool:
    """Whether the rule wants a cover now. `asked` are the names of rules that a dealer called by hand."""
    if situation.need_mg == 0 or not rule.allows(situation.need_mg):
        return False
    return rule.name in asked or _reached(rule, situation)


def _reached(rule: Rule, situation: Situation) -> bool:
    match rule.kind:
        case RuleKind.OVER:
            return abs(situation.need_mg) >= rule.threshold
        case RuleKind.AGE:
            since_us = situation.open_since_us
            return since_us is not None and situation.now_us - since_us >= rule.threshold * _US_PER_S
        case RuleKind.VALUE:
            mark = situation.mark
            return mark is not None and value_paise(situation.need_mg, mark) >= rule.threshold
        case RuleKind.RISK:
            mark = situation.mark
            return mark is not None and (
                value_at_risk_paise(situation.need_mg, mark, situation.volatility_e6) >= rule.threshold
            )
        case RuleKind.CLOSE:
            ends_us = situation.session_ends_us
            return ends_us is not None and 0 < ends_us - situation.now_us <= rule.threshold * _US_PER_S
        case RuleKind.BY_HAND:
            return False


def rule_problems(
    rules: Sequence[Rule], contracts: Mapping[str, Contract], metal: str, limit_mg: int
) -> tuple[Problem, ...]:
    """Everything that is wrong with a book's rules and limit. Each names the rule, or `limit_mg`.

    With none of them, every order that the limit holds back can be covered and then confirmed.
    """
    names = [rule.name for rule in rules]
    doubled = sorted({name for name in names if names.count(name) > 1})
    return (
        *((name, "is the name of two rules") for name in doubled),
        *(
            (rule.name, f"{field} {message}")
            for rule in rules
            for field, message in rule_field_problems(rule, contracts, metal)
        ),
        *(("limit_mg", message) for message in limit_problems(rules, contracts, limit_mg)),
    )


def rule_field_problems(rule: Rule, contracts: Mapping[str, Contract], metal: str) -> Iterator[Problem]:
    """What is wrong with one rule. `contracts` are those that may be used, by code."""
    if not rule.name:
        yield "name", "must not be empty"
    if rule.side not in ("", Side.BUY, Side.SELL):
        yield "side", f"must be buy, sell or empty for both, not {rule.side!r}"
    if rule.mode not in (SUGGEST, AUTO):
        yield "mode", f"must be {SUGGEST} or {AUTO}, not {rule.mode!r}"
    if rule.threshold <= 0 and rule.kind is not RuleKind.BY_HAND:
        yield "threshold", "must be above 0"
    if not rule.contracts:
        yield "contracts", "must name at least one contract"
    for code in rule.contracts:
        contract = contracts.get(code)
        if contract is None:
            yield "contracts", f"must be active contracts; there is none called {code}"
        elif contract.metal != metal:
            yield "contracts", f"must be of {metal}; {code} is {contract.metal}"


def limit_problems(rules: Sequence[Rule], contracts: Mapping[str, Contract], limit_mg: int) -> Iterator[str]:
    """Why orders beyond the limit may wait for ever. Each is what the limit must do, or lacks."""
    if limit_mg <= 0:
        yield "must be above 0"
        return
    for side in Side:
        over = [rule for rule in rules if rule.kind is RuleKind.OVER and rule.side in ("", side)]
        if not over:
            yield f"needs a rule over a weight that may {side}, or orders beyond it wait for ever"
            continue
        in_time = [rule for rule in over if rule.threshold <= limit_mg]
        if not in_time:
            yield f"is below {_grams(min(rule.threshold for rule in over))}, from which the rules {side}"
            continue
        smallest_mg = smallest_cover_mg(in_time, contracts)
        if smallest_mg is None:
            yield f"needs a rule over a weight with an active contract to {side}"
        elif smallest_mg >= limit_mg:
            yield f"must exceed {_grams(smallest_mg)}, the smallest cover that may {side}"


def _grams(weight_mg: int) -> str:
    return f"{plain(weight_mg, 3)} g"


def smallest_cover_mg(rules: Sequence[Rule], contracts: Mapping[str, Contract]) -> int | None:
    """The fine weight of the smallest lot in use, rounded up; None without a contract."""
    steps = [contracts[code].step_mg for rule in rules for code in rule.contracts if code in contracts]
    return min(steps, default=None)


def may_be_used(contract: Contract, today: date) -> bool:
    """Whether a cover may be planned in it: not after the last day to hold it."""
    last = last_day(contract)
    return last is None or today <= last


def last_day(contract: Contract) -> date | None:
    """The last day to hold it."""
    text = contract.hold_until or contract.expires_on
    return date.fromisoformat(text) if text else None


class ExpiryAlarm(msgspec.Struct, frozen=True):
    """A contract that is held and must be given up soon, or should have been."""

    contract: Contract
    last: date
    passed: bool

    @property
    def text(self) -> str:
        code, last = self.contract.code, self.last.isoformat()
        if self.passed:
            return f"{code} is still held, and its last day to hold was {last}."
        return f"{code} is held. Move the position to a later contract until {last}."


def expiry_alarms(
    contracts: Mapping[str, Contract], held_e8: Mapping[str, int], today: date
) -> list[ExpiryAlarm]:
    """In the order of the codes."""
    found = []
    for code, quantity_e8 in sorted(held_e8.items()):
        contract = contracts.get(code)
        last = None if contract is None else last_day(contract)
        if contract is None or last is None or not quantity_e8:
            continue
        if today >= last - timedelta(days=EXPIRY_ALARM_DAYS):
            found.append(ExpiryAlarm(contract, last, passed=today > last))
    return found
