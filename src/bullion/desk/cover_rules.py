"""The rules of hedge books at the desk: how they are shown, which limits they allow, and what expires."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from bullion.booking.house_book import IN_BOOK
from bullion.hedge.book.rules import ExpiryAlarm, Rule, RuleKind, expiry_alarms, limit_problems
from bullion.hedge.contract import Contract
from bullion.metals.metal import Metal
from bullion.metals.scaled import plain
from bullion.rates.duty import duty_day
from bullion.records.hedge_book import BookPosition
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.cover_planning import usable_contracts
from bullion.store.records import Records

from . import texts
from .desk import View
from .problems import invalid_field


class Unit(msgspec.Struct, frozen=True):
    """What the threshold of a kind of rule is measured in."""

    name: str
    places: int
    read: Callable[[str], int]

    def text(self, value: int) -> str:
        return plain(value, self.places) if self.places else str(value)


_GRAMS = Unit("g", 3, texts.milligrams)
_SECONDS = Unit("s", 0, texts.seconds)
_RUPEES = Unit("₹", 2, texts.rupees)
_UNITS: Mapping[RuleKind, Unit] = {
    RuleKind.OVER: _GRAMS,
    RuleKind.AGE: _SECONDS,
    RuleKind.CLOSE: _SECONDS,
    RuleKind.VALUE: _RUPEES,
    RuleKind.RISK: _RUPEES,
}
"""A rule that is applied by hand has no threshold."""


def read_threshold(kind: RuleKind, text: str | None) -> int:
    unit = _UNITS.get(kind)
    if unit is None:
        if text is not None:
            raise invalid_field(("threshold",), f"must be left out for {kind.value}")
        return 0
    if text is None:
        raise invalid_field(("threshold",), f"must be given for {kind.value}, in {unit.name}")
    try:
        return unit.read(text)
    except ValueError as error:
        raise invalid_field(("threshold",), str(error)) from None


def rule_view(rule: Rule) -> View:
    unit = _UNITS.get(rule.kind)
    return {
        "name": rule.name,
        "kind": rule.kind.value,
        "threshold": None if unit is None else unit.text(rule.threshold),
        "unit": None if unit is None else unit.name,
        "contracts": list(rule.contracts),
        "side": rule.side or None,
        "mode": rule.mode,
    }


async def contracts_of(records: Records, broker: str, metal: Metal) -> Mapping[str, Contract]:
    """The contracts that new covers may use."""
    return usable_contracts(await records.contracts(broker), metal.value)


async def expiring(records: Records, broker: str, at_us: int) -> list[ExpiryAlarm]:
    """The contracts that are held and must be given up soon, or should have been."""
    held = await records.held_contracts(broker)
    if not held:
        return []
    contracts = {each.contract.code: each.contract for each in await records.contracts(broker)}
    return expiry_alarms(contracts, held, duty_day(at_us))


def waits_for_ever(
    position: BookPosition | None, rules: Sequence[Rule], contracts: Mapping[str, Contract]
) -> list[str]:
    """Why orders beyond the limit may never be confirmed, as sentences."""
    if position is None or position.policy != IN_BOOK:
        return []
    return [f"The limit {each}." for each in limit_problems(rules, contracts, position.limit_mg)]


async def require_limit(records: Records, before: BookPosition | None, after: BookPosition) -> None:
    """Refuse a policy or a limit under which orders would wait for ever, although there are rules.

    A book without rules is covered by hand: its view has the warning. What was wrong before is not refused.
    """
    rules = await records.book_rules(after.broker, after.metal)
    contracts = await contracts_of(records, after.broker, after.metal)
    known = waits_for_ever(before, rules, contracts)
    new = [each for each in waits_for_ever(after, rules, contracts) if each not in known]
    if rules and new:
        raise invalid_field(("limit",), new[0].removeprefix("The limit ").removesuffix("."))


def require_rules(
    position: BookPosition,
    before: Sequence[Rule],
    after: Sequence[Rule],
    contracts: Mapping[str, Contract],
) -> None:
    """Refuse a change of the rules after which orders would wait for ever, and did not before."""
    known = waits_for_ever(position, before, contracts)
    new = [each for each in waits_for_ever(position, after, contracts) if each not in known]
    if new:
        raise RefusalError(
            CONFLICT,
            f"With this change orders could wait for ever. {new[0]} Change the limit or policy first.",
        )
