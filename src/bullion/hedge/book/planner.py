"""Plans the covers of a book, and says which of its waiting orders may be confirmed.

A plan is made from one snapshot. It brings the need (residual, waiting orders and covers under way together)
towards zero and never past it, whatever becomes of the covers under way.
"""

from collections.abc import Mapping, Sequence
from datetime import date

import msgspec

from bullion.hedge.contract import AUTO, SUGGEST, Contract

from .position import Position
from .profit import Mark
from .rules import Rule, Situation, fires, may_be_used


class Snapshot(msgspec.Struct, frozen=True):
    """Everything that a plan is made from, read at one moment."""

    position: Position
    rules: tuple[Rule, ...]
    contracts: Mapping[str, Contract]
    """The broker's contracts of this metal, by code."""
    today: date
    now_us: int
    unavailable: frozenset[str] = frozenset()
    """Codes of contracts that cannot be dealt now: their line is down, or they rest after a refusal."""
    mark: Mark | None = None
    volatility_e6: int = 0
    residual_since_us: int | None = None
    session_ends_us: int | None = None


class PlannedCover(msgspec.Struct, frozen=True):
    contract: Contract
    quantity_e8: int
    """Above 0: a buy."""
    rule: str
    mode: str
    """`suggest`: a dealer sends it. `auto`: it is sent at once."""

    @property
    def fine_mg(self) -> int:
        return self.contract.fine_mg(self.quantity_e8)


def plan_covers(snapshot: Snapshot, asked: str = "") -> tuple[PlannedCover, ...]:
    """The covers to suggest or send now. They replace all earlier suggestions that were not sent.

    `asked` is the name of a rule that a dealer calls by hand: it is applied although it does not fire.
    """
    need_mg = snapshot.position.need_mg
    working = snapshot.position.working.values()
    if any((cover.left_e8 > 0) == (need_mg > 0) for cover in working if cover.left_e8):
        # A plan against a cover under way would enlarge the residual if the venue then declines that cover.
        return ()
    busy = {cover.contract.code for cover in working}
    planned: list[PlannedCover] = []
    used: set[str] = set()
    for rule in snapshot.rules:
        if not fires(rule, _situation(snapshot, need_mg), asked):
            continue
        for contract in _largest_first(snapshot, rule):
            if contract.code in used:
                continue
            quantity_e8 = -contract.quantity_within_e8(need_mg)
            if not quantity_e8:
                continue
            # A contract with a cover under way keeps its share: smaller lots must not replace larger ones.
            need_mg += contract.fine_mg_up(quantity_e8)
            used.add(contract.code)
            if contract.code not in busy:
                mode = AUTO if rule.mode == contract.mode == AUTO else SUGGEST
                planned.append(PlannedCover(contract, quantity_e8, rule.name, mode))
    return tuple(planned)


def confirms_at_once(residual_mg: int, limit_mg: int, change_mg: int, *, others_wait: bool) -> bool:
    """Whether the book confirms a new order of this weight without a wait."""
    after_mg = abs(residual_mg + change_mg)
    return after_mg < abs(residual_mg) or (after_mg <= limit_mg and not others_wait)


def confirmable(residual_mg: int, limit_mg: int, waiting: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """The waiting orders that may be confirmed now, oldest first, in groups.

    An order that reduces the residual is confirmed at once. The others are confirmed in the order of their
    arrival: as many of the oldest together as stay within the limit. A group must be confirmed in one
    transaction: one order of it alone may exceed the limit, such as a purchase of 5 kg before a sale of 4 kg.
    """
    left = dict(waiting)
    groups: list[tuple[str, ...]] = []
    while left:
        group = _reducing(residual_mg, left) or _oldest_within(residual_mg, limit_mg, left)
        if not group:
            break
        residual_mg += sum(left.pop(order_id) for order_id in group)
        groups.append(group)
    return tuple(groups)


def _situation(snapshot: Snapshot, need_mg: int) -> Situation:
    return Situation(
        need_mg=need_mg,
        now_us=snapshot.now_us,
        mark=snapshot.mark,
        volatility_e6=snapshot.volatility_e6,
        residual_since_us=snapshot.residual_since_us,
        session_ends_us=snapshot.session_ends_us,
    )


def _largest_first(snapshot: Snapshot, rule: Rule) -> Sequence[Contract]:
    usable = [
        contract
        for code in rule.contracts
        if (contract := snapshot.contracts.get(code)) is not None
        and code not in snapshot.unavailable
        and may_be_used(contract, snapshot.today)
    ]
    return sorted(usable, key=lambda contract: contract.step_mg, reverse=True)


def _reducing(residual_mg: int, left: Mapping[str, int]) -> tuple[str, ...]:
    for order_id, change_mg in left.items():
        if abs(residual_mg + change_mg) < abs(residual_mg):
            return (order_id,)
    return ()


def _oldest_within(residual_mg: int, limit_mg: int, left: Mapping[str, int]) -> tuple[str, ...]:
    within = 0
    for number, change_mg in enumerate(left.values(), 1):
        residual_mg += change_mg
        if abs(residual_mg) <= limit_mg:
            within = number
    return tuple(left)[:within]
