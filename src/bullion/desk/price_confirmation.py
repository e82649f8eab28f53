"""The second word: what somebody confirms before prices with problems are made, and how it is asked for."""

import hashlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side
from bullion.refusals.desk import CONFIRMATION_REQUIRED
from bullion.refusals.refusal import RefusalError

from .price_guard import PriceRow, Problem, price_text

ROWS_MAX = 200
"""So many rows are shown or kept. The fingerprint covers all."""


def without_moves(rows: Iterable[PriceRow]) -> list[PriceRow]:
    """For a change that goes back to earlier prices: how far it moves them is no problem."""
    kept = (Problem.CROSSED, Problem.LOSING, Problem.UNPROTECTED)
    return [
        msgspec.structs.replace(row, problems=tuple(each for each in row.problems if each in kept))
        for row in rows
    ]


def fingerprint(broker: str, action: str, sent: str, rows: Iterable[PriceRow]) -> str:
    """What somebody confirms: the change and its problems.

    It holds no prices: these move every second, and a confirmation has to outlast that.
    """
    problems = sorted(
        [row.symbol, row.group or "", row.side or "", row.from_date or "", problem]
        for row in rows
        for problem in row.problems
    )
    return hashlib.sha256(msgspec.json.encode([broker, action, sent, problems])).hexdigest()[:12]


class PricesUnconfirmed(RefusalError):
    """A change of prices has problems that nobody has confirmed."""

    def __init__(self, rows: Sequence[PriceRow], expected: str, *, changed: bool) -> None:
        wrong = [row for row in rows if row.problems]
        begin = "What you confirmed is not what would happen now. " if changed else ""
        more = f" {len(wrong) - 1} more prices have problems." if len(wrong) > 1 else ""
        self.summary = f"{begin}Nothing was changed. {sentence(worst(wrong))}{more}"
        super().__init__(
            CONFIRMATION_REQUIRED,
            f"{self.summary} To do it all the same, send it again with confirm={expected}.",
            fields={"fingerprint": expected, **preview(rows)},
        )


def preview(rows: Sequence[PriceRow], name: str = "preview") -> dict[str, Any]:
    shown: dict[str, Any] = {name: [row.view() for row in rows[:ROWS_MAX]]}
    if len(rows) > ROWS_MAX:
        shown[f"{name}_left_out"] = len(rows) - ROWS_MAX
    return shown


def worst(rows: Iterable[PriceRow]) -> PriceRow:
    """A crossed row if there is one, and of these the one with the largest loss, measured by its price."""
    return max(
        rows,
        key=lambda row: (
            Problem.CROSSED in row.problems,
            Fraction(row.loss_paise, max(row.new_paise or row.old_paise or 1, 1)),
        ),
    )


def sentence(row: PriceRow) -> str:
    """What is wrong with a price, in words."""
    amount = f": {rupees_text(row.loss_paise)} rupees per {row.unit} of {row.symbol}" if row.unit else ""
    if Problem.TOLERANCE in row.problems:
        return f"Orders would be accepted although the price has moved further than your limit{amount}."
    if Problem.LIMIT in row.problems:
        return f"A larger slip would move prices without a question{amount}."
    if Problem.UNPROTECTED in row.problems:
        now = f" now. You lose {amount[2:]} for {row.group}" if amount else ""
        return f"Orders at crossed prices would be accepted: clients could buy and sell at a profit{now}."
    if row.group is None:
        name = "ask" if row.side is Side.BUY else "bid"
        was = "" if row.old_paise is None else f"{price_text(row.old_paise)} → "
        why = "is far above the bid" if Problem.WIDE in row.problems else "moves by more than your limit"
        return f"The {name} of {row.symbol} {why}: {was}{price_text(row.new_paise)}."
    whom = row.group if row.account is None else f"{row.account} in {row.group}"
    name = f"{row.symbol} for {whom}" + (f" from {row.from_date}" if row.from_date else "")
    does = "buys" if row.side is Side.BUY else "sells"
    moves = (
        f" at {price_text(row.old_paise) or 'nothing'} → {price_text(row.new_paise)} rupees per {row.unit}"
    )
    if row.new_paise is None:
        moves = ", as soon as there is a price"
    loss = f"{rupees_text(row.loss_paise)} rupees per {row.unit}"
    if Problem.CROSSED in row.problems:
        why = f"Clients could sell for more than they buy for. You lose {loss}."
    elif Problem.LOSING in row.problems:
        why = f"That is on the losing side of the symbol's own price. You lose {loss}."
    elif row.loss_paise:
        why = f"That is a move above your limit. You lose {loss}."
    else:
        why = "That is a move above your limit."
    return f"{name}: a client {does}{moves}. {why}"
