"""Orders at the venue that are not ours: what is executed for them is listed, each part once.

Trades and totals tell of the same, as for our orders. Venues promise ids that are unique within a day, so a
trade is known by its ExecID, its day, its side and its quantity.
"""

import msgspec

from .codec import Message
from .line_breaks import break_of, changed_trade, total_break
from .order_effects import BreakReason, LineBreak, Seen
from .order_messages import CANCELLED_TRADE, CHANGED_TRADES, NO_ORDER_ID, Report, executed_at

_REMEMBERED = 5_000
_TEXT = "The report names an order that was not sent."


class ForeignOrders:
    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._seen

    def clear(self) -> None:
        self._seen.clear()

    def restore(self, seen: Seen) -> None:
        """What was stored of an order, before its next report."""
        if len(self._seen) >= _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._seen[seen.name] = seen

    def report(self, name: str, report: Report) -> LineBreak | None:
        """`name`: the `foreign_name` of the report."""
        seen = self._seen.setdefault(name, Seen(name)) if name else Seen("")
        made = _changed(seen, report) if report.kind in CHANGED_TRADES else _executed(seen, report)
        return msgspec.structs.replace(made, seen=seen) if made is not None and name else made


def foreign_name(message: Message) -> str:
    """The ids under which is kept what was seen of an order that is not ours; if it has none, the day of the
    trade. Empty: that is not known, either."""
    get = message.first().get
    ids = [get(11, ""), get(37, "")]
    if ids[1] in NO_ORDER_ID:
        ids[1] = "" if ids[0] else executed_at(message)[:8]
    return " ".join(ids) if any(ids) else ""


def _executed(seen: Seen, report: Report) -> LineBreak | None:
    made, named = break_of(BreakReason.FOREIGN_ID, report, None, _TEXT), report.venue_order_id
    is_new = False
    if report.is_fill:
        trade = _trade(seen, report, report.last_e8)
        is_new = trade not in seen.trades
        if is_new:
            seen.trades[trade] = report.last_e8
            seen.beyond_e8 += report.last_e8
    elif not (named or report.client_order_id):
        return made if made.quantity_e8 else None
    total_e8 = seen.beyond_e8
    if named or report.client_order_id:
        total_e8 = max(total_e8, report.filled_e8)
    new_e8 = total_e8 - seen.excess_e8
    if new_e8 <= 0:
        return None
    seen.excess_e8 = total_e8
    if not is_new:
        return total_break(made, named or report.client_order_id, total_e8, new_e8)
    return msgspec.structs.replace(made, quantity_e8=new_e8)


def _changed(seen: Seen, report: Report) -> LineBreak | None:
    """A trade was cancelled or corrected."""
    begin = f"{report.execution_ref} "
    changed = next((each for each in reversed(seen.trades) if each.startswith(begin)), "")
    before_e8 = seen.trades.get(changed)
    if before_e8 is None:  # It may have been told by a total alone.
        told_e8 = max(seen.excess_e8 - seen.beyond_e8, 0)
        before_e8 = report.last_e8 if report.kind == CANCELLED_TRADE else min(report.last_e8, told_e8)
    after_e8 = 0 if report.kind == CANCELLED_TRADE else report.last_e8 or before_e8
    trade = _trade(seen, report, after_e8)
    if trade in seen.trades:
        return None
    if changed:
        seen.trades[changed] = after_e8
    seen.trades[trade] = after_e8
    if after_e8 > before_e8:
        seen.beyond_e8 += after_e8 - before_e8
        seen.excess_e8 += after_e8 - before_e8
    return changed_trade(None, report, report.last_price_e6, before_e8, after_e8)


def _trade(seen: Seen, report: Report, quantity_e8: int) -> str:
    """The name of a trade: the one that is known, if a report that is sent again does not tell the day."""
    begin, end = f"{report.execution_id} ", f" {report.side} {quantity_e8}"
    if report.day:
        return f"{begin}{report.day}{end}"
    return next((each for each in seen.trades if each.startswith(begin) and each.endswith(end)), begin + end)
