"""Plans the covers of a book.

A plan is made from one snapshot. It brings the need (residual, waiting orders and covers under way together)
towards zero and never past it, whatever becomes of the covers under way.
"""

from collections.abc import Collection, Mapping, Sequence
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
    open_since_us: Mapping[str, int] = {}
    """By the name of a rule of age: since when the residual is at least the smallest lot of its contracts."""
    session_ends_us: int | None = None


class PlanBasis(msgspec.Struct, frozen=True):
    """What a plan was made from. Each of its covers keeps it, so that the plan can be checked later."""

    ordinal: int
    """The book's last entry."""
    at_us: int
    waiting_mg: int
    working_e8: Mapping[str, int]
    """What was left of each cover under way, above 0 for a buy, by the cover's id."""
    planner: str = ""
    """The node that planned. Empty: a dealer asked for the plan."""
    until_us: int = 0
    """No other node may plan until then."""
    taken: tuple[str, ...] = ()
    """Suggestions among `working_e8` that a dealer worked on: those that were not sent may be gone later."""


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


def plan_covers(snapshot: Snapshot, asked: Collection[str] = ()) -> tuple[PlannedCover, ...]:
    """The covers to suggest or send now. They replace all earlier suggestions that were not sent.

    `asked` are the names of rules that a dealer called by hand: they are applied although they do not fire,
    and then make suggestions.
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
        situation = _situation(snapshot, rule, need_mg)
        if not fires(rule, situation, asked):
            continue
        auto = rule.mode == AUTO and fires(rule, situation)
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
                mode = AUTO if auto and contract.mode == AUTO else SUGGEST
                planned.append(PlannedCover(contract, quantity_e8, rule.name, mode))
    return tuple(planned)


def _situation(snapshot: Snapshot, rule: Rule, need_mg: int) -> Situation:
    # Orders that wait may turn the need to the other side. What is needed for them has no age.
    aged = (need_mg > 0) == (snapshot.position.residual_mg > 0)
    return Situation(
        need_mg=need_mg,
        now_us=snapshot.now_us,
        mark=snapshot.mark,
        volatility_e6=snapshot.volatility_e6,
        open_since_us=snapshot.open_since_us.get(rule.name) if aged else None,
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
