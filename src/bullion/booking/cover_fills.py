"""What the venue's answer to a cover means for the book, and when it is a break."""

from collections.abc import Iterable, Sequence

from bullion.hedge.cover import DROPPED, FILLED, PARTLY, SUGGESTED, BookCover
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Fill,
    FinalAnswer,
    ListedExecution,
    PartiallyFilled,
    is_total,
)

from .breaks import Mismatch, UnmatchedExecution, signed_weight, weight_beyond
from .partial_fills import TOLERANCE_E4

_DEALT = frozenset({FILLED, PARTLY})
_NEVER_SENT = frozenset({SUGGESTED, DROPPED})


def counted_fills(cover: BookCover, answer: FinalAnswer, at_us: int) -> tuple[Fill, ...]:
    """The fills of an answer that count in the book: each execution once, and together no more than was sent.

    What the venue filled beyond that is found by the reconciliation, which makes it a break. What it filled
    and told no price for counts at the reference.
    """
    if isinstance(answer, Declined):
        return ()
    reference_e6, left_e8 = cover.reference_e6 or 0, cover.quantity_e8
    found: dict[str, Fill] = {}
    for fill in answer.fills:
        quantity_e8 = min(fill.quantity_e8, left_e8)
        if fill.execution_id not in found and quantity_e8 > 0:
            price_e6 = fill.price_e6 if fill.price_e6 > 0 else reference_e6
            found[fill.execution_id] = Fill(fill.execution_id, quantity_e8, price_e6, fill.at_us or at_us)
            left_e8 -= quantity_e8
    untold_e8 = _untold_e8(cover, answer, left_e8)
    if untold_e8 > 0:
        name = f"rest:{answer.execution_id}" if found else answer.execution_id
        found[name] = Fill(name, untold_e8, reference_e6, at_us)
    return tuple(found.values())


def _untold_e8(cover: BookCover, answer: Confirmed | PartiallyFilled, left_e8: int) -> int:
    """What the answer filled beyond the fills that it lists."""
    if isinstance(answer, Confirmed):
        return left_e8
    if answer.fills:
        return 0
    return min(cover.contract.quantity_e8(cover.fine_mg - answer.fine_mg_left), left_e8)


def has_execution(cover: BookCover, execution_id: str) -> bool:
    """Whether the book counts this execution for the cover."""
    return cover.state in _DEALT and cover.execution_id == execution_id


def cover_mismatch(cover: BookCover) -> Mismatch:
    """Why an execution that the cover does not have is a break."""
    if cover.state == DROPPED and cover.settled_by is not None:
        return Mismatch.DIFFERS
    return Mismatch.UNKNOWN_ORDER if cover.state in _NEVER_SENT else Mismatch.SECOND_EXECUTION


def unmatched_cover(cover: BookCover, answer: Confirmed | PartiallyFilled, at_us: int) -> UnmatchedExecution:
    """An execution that the cover does not account for."""
    execution = _execution(cover, answer, at_us)
    return UnmatchedExecution(execution, cover_mismatch(cover), cover.metal, signed_weight(execution))


def as_settled(
    cover: BookCover, dealt: Sequence[Fill], answer: Confirmed | PartiallyFilled, at_us: int
) -> bool:
    """Whether the venue executed what a dealer recorded by hand: the same executions, at the same prices.

    Of what the venue tells as a total, without an execution, the quantity and the average price are compared.
    """
    priced = {each.execution_id for each in answer.fills if each.price_e6 > 0}
    totals, left = [], {terms_of(each): each for each in dealt}
    for each in counted_fills(cover, answer, at_us):
        if is_total(each) or each.execution_id not in priced:
            totals.append(each)
        elif left.pop(terms_of(each), None) is None:
            return False
    rest = [*left.values()]
    if _quantity_e8(totals) != _quantity_e8(rest):
        return False
    return any(each.execution_id not in priced for each in totals) or _alike(cover, totals, rest)


def terms_of(fill: Fill) -> tuple[str, int, int]:
    """What two records of one execution have in common."""
    return fill.execution_id, fill.quantity_e8, fill.price_e6


def _quantity_e8(fills: Iterable[Fill]) -> int:
    return sum(each.quantity_e8 for each in fills)


def _alike(cover: BookCover, these: Sequence[Fill], those: Sequence[Fill]) -> bool:
    """Whether two lists of the same quantity cost the same, but for a tick."""
    costs = [sum(each.quantity_e8 * each.price_e6 for each in fills) for fills in (these, those)]
    return abs(costs[0] - costs[1]) <= cover.contract.tick_e6 * _quantity_e8(these)


def unlike_settled(
    cover: BookCover, dealt: Sequence[Fill], answer: Confirmed | PartiallyFilled, at_us: int
) -> UnmatchedExecution:
    """The venue executed something else than a dealer recorded by hand."""
    execution = _execution(cover, answer, at_us)
    dealt_e4 = cover.contract.gross_e4(sum(each.quantity_e8 for each in dealt))
    excess_e4 = weight_beyond(cover.side, dealt_e4, execution)
    return UnmatchedExecution(execution, Mismatch.DIFFERS, cover.metal, excess_e4)


def _execution(cover: BookCover, answer: Confirmed | PartiallyFilled, at_us: int) -> ListedExecution:
    fills = counted_fills(cover, answer, at_us)
    return ListedExecution(
        answer.execution_id,
        cover.id,
        cover.contract.instrument,
        cover.side,
        cover.contract.gross_e4(sum(each.quantity_e8 for each in fills)),
        max((each.at_us for each in fills), default=at_us),
        cursor="",
    )


def takes_back(cover: BookCover, answer: FinalAnswer) -> bool:
    """Whether the venue declines a cover that it had filled. One dealt by telephone was never sent."""
    return isinstance(answer, Declined) and cover.state in _DEALT and cover.sent_at_us is not None


def taken_back(cover: BookCover, filled_e8: int, answer: Declined, at_us: int) -> UnmatchedExecution:
    """The book counts fills that the venue no longer has: an execution of nothing."""
    about = (cover.id, cover.contract.instrument, cover.side, 0, at_us)
    execution = ListedExecution(answer.execution_id, *about, cursor="")
    counted_e4 = cover.contract.gross_e4(filled_e8)
    excess_e4 = weight_beyond(cover.side, counted_e4, execution)
    return UnmatchedExecution(execution, Mismatch.DIFFERS, cover.metal, excess_e4)


def cover_weight_beyond(cover: BookCover, filled_e8: int, execution: ListedExecution) -> int:
    """What an execution deals beyond the cover's fills, above zero for a buy; 0 if they agree."""
    excess_e4 = weight_beyond(cover.side, cover.contract.gross_e4(filled_e8), execution)
    is_part = filled_e8 < cover.quantity_e8
    return 0 if abs(excess_e4) <= (TOLERANCE_E4 if is_part else 0) else excess_e4
