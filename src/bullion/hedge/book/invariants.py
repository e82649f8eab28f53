"""What must be true of every hedge book, for the checker. Each function returns what is wrong."""

from collections.abc import Iterable, Mapping, Sequence

from bullion.hedge.contract import Contract

from .events import CoverFill
from .planner import PlanBasis, PlannedCover
from .position import Position
from .profit import Mark, ProfitBook


def fill_problems(
    fills: Iterable[CoverFill], contracts: Mapping[str, Contract], held_e8: Mapping[str, int], cover_mg: int
) -> list[str]:
    """H1: an execution id counts once, and the cover is the sum of the fills."""
    found = []
    sums_e8: dict[str, int] = {}
    seen = set()
    for fill in fills:
        if fill.key in seen:
            found.append(f"H1: execution {fill.execution_id} of {fill.contract.venue} counts twice")
        seen.add(fill.key)
        sums_e8[fill.contract.code] = sums_e8.get(fill.contract.code, 0) + fill.quantity_e8
    found += [
        f"H1: {held_e8.get(code, 0)} of {code} are held, the fills are {sums_e8.get(code, 0)}"
        for code in sorted({*sums_e8, *held_e8})
        if sums_e8.get(code, 0) != held_e8.get(code, 0)
    ]
    weight_mg = sum(contracts[code].fine_mg(quantity_e8) for code, quantity_e8 in sums_e8.items())
    if weight_mg != cover_mg:
        found.append(f"H1: the cover is {cover_mg} mg, the fills weigh {weight_mg} mg")
    return found


def plan_problems(position: Position, planned: Sequence[PlannedCover]) -> list[str]:
    """H3: no planned cover crosses zero or exceeds the need, with all that is under way counted in full.

    Nor is one planned in a contract of a cover under way. Dealers may send several covers of one contract.
    """
    found = []
    need_mg = position.need_mg
    total_mg = sum(cover.contract.fine_mg_up(cover.quantity_e8) for cover in planned)
    if any((cover.quantity_e8 > 0) == (need_mg > 0) for cover in planned):
        found.append(f"H3: a planned cover enlarges the need of {need_mg} mg")
    if abs(total_mg) > abs(need_mg):
        found.append(f"H3: {total_mg} mg are planned for a need of {need_mg} mg")
    codes = [cover.contract.code for cover in planned]
    busy = {cover.contract.code for cover in position.working.values()}
    doubled = sorted({code for code in codes if code in busy or codes.count(code) > 1})
    return [*found, *(f"H3: two covers of {code} are under way" for code in doubled)]


def planner_problems(before: PlanBasis, after: PlanBasis) -> list[str]:
    """H4: one node at a time plans for a broker, until its lease ends. Of two plans, one after the other."""
    if before.planner and after.planner not in ("", before.planner) and after.at_us <= before.until_us:
        return [f"H4: {after.planner} planned during the lease of {before.planner}"]
    return []


def profit_problems(book: ProfitBook, mark: Mark, shown_paise: int, residual_mg: int) -> list[str]:
    """H5: the profit shown is the cash and the residual at the mark."""
    found = []
    if book.metal.amount != residual_mg:
        found.append(f"H5: the profit is of {book.metal.amount} mg, the residual is {residual_mg} mg")
    if book.cash_cents != book.dollars.amount:
        found.append(f"H5: {book.dollars.amount} cents are open, the cash is {book.cash_cents} cents")
    expected = book.cash_paise + mark.metal_paise(residual_mg) + mark.dollars_paise(book.cash_cents)
    if shown_paise != expected:
        found.append(f"H5: the profit shown is {shown_paise} paise, cash and mark are {expected} paise")
    return found


def limit_problems(before_mg: int, after_mg: int, limit_mg: int) -> list[str]:
    """H7: a confirmation that enlarges the residual leaves it within the limit."""
    if abs(after_mg) > abs(before_mg) and abs(after_mg) > limit_mg:
        return [
            f"H7: a confirmation took the residual from {before_mg} to {after_mg} mg, above {limit_mg} mg"
        ]
    return []
